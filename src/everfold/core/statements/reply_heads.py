"""Reply heads: the line that a mail program sets above the mail that is answered, whatever its language.

Such a line has the day and the time of the mail and who sent it, with the address in angle brackets, and ends in a
colon. Programs wrap a long one before or behind the address.

Source: the heads that Gmail, Thunderbird and Outlook write in fifteen languages.
"""

import re
from typing import Final

_ADDRESS: Final = re.compile(r"(?:\n[ \t]*)?<\s*[^\s<>@]+@[^\s<>]+>(?:[ \t]*\n(?=[^\n]{1,40}\Z))?")
_MARK: Final = "<>"
_DAY: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)")
_TIME: Final = re.compile(r"(?<![\d.])\d{1,2}[:.]\d\d(?![\d.])")
_MOST_BEHIND_CHARS: Final = 48
"""How much may stand between the address and the colon: the verb, and the day where it comes last."""


def blank_address(clause: str) -> str:
    """What stands before a colon on its line, with `<>` for each address in angle brackets, wrapped ones too."""
    return _ADDRESS.sub(f" {_MARK} ", clause).rpartition("\n")[2]


def is_dated_head(line: str) -> bool:
    """Whether a line that `blank_address` gave has an address near its end, a day and a time of day."""
    _, mark, after = line.rpartition(_MARK)
    is_near = bool(mark) and len(after) <= _MOST_BEHIND_CHARS
    return is_near and _DAY.search(line) is not None and _TIME.search(line) is not None
