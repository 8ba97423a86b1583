"""Pages: how the text of a message is read back, a bounded piece at a time.

The pages are those that the visible form of a message names, so their length is fixed. A page that is longer than one
tool result may show in a window is read in parts; otherwise its middle would be left out once more, for ever.
"""

from typing import Final

from everfold.core.log.visible import PAGE_CHARS
from everfold.core.text.tokens import truncate_to_tokens

_CHARS_PER_TOKEN: Final = 16
"""More characters than this a token are not looked at; a part of blanks alone comes out shorter."""


def count_pages(text: str) -> int:
    """How many pages a text has; an empty one has one."""
    return max(-(-len(text) // PAGE_CHARS), 1)


def cut_page(text: str, page: int) -> str:
    """One page of a text, counted from 1; empty behind the last one."""
    return text[(page - 1) * PAGE_CHARS : page * PAGE_CHARS]


def split_page(page: str, cap_tokens: int) -> tuple[str, ...]:
    """The parts of a page, each within the cap, which joined are the page. A single character may pass the cap.

    Ends at a line or between words, where one is near. O(page).
    """
    parts: list[str] = []
    while page:
        head = truncate_to_tokens(page[: cap_tokens * _CHARS_PER_TOKEN], cap_tokens, head_share=1.0).head or page[0]
        parts.append(head)
        page = page[len(head) :]
    return tuple(parts) or ("",)
