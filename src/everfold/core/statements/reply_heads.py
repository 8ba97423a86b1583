"""Reply heads: the line that a mail program sets above the mail that is answered, whatever its language.

Such a line has the day and the time of the mail and who sent it, with the address in angle brackets, and ends in a
colon. Programs wrap a long one before or behind the address. A line that names whom something is for or with
("Report 2026 at 09:30 to Bo <...>:") is the writer's own.

Source: the heads that Gmail, Thunderbird and Outlook write in fifteen languages.
"""

import re
from typing import Final

_ADDRESS: Final = re.compile(r"(?:\n[ \t]*)?<\s*[^\s<>@]+@[^\s<>]+>(?:[ \t]*\n(?=[^\n]{1,40}\Z))?")
_MARK: Final = "<>"
_DAY: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)")
_TIME: Final = re.compile(r"(?<![\d.])\d{1,2}[:.]\d\d(?![\d.])")
_names_other_party: Final = re.compile(
    r"(?<!\w)(?:to|with|for|an|mit|für|à|avec|pour|a|con|para|per|com|aan|met|voor)[ \t]+(?:[^\W\d_][\w.'\u2019-]*[ \t]+){1,3}<>"
).search
"""A name of up to three words behind one that tells whom something is for or with; before a sender none stands."""
_MOST_BEHIND_CHARS: Final = 48
"""How much may stand between the address and the colon: the verb, and the day where it comes last."""


def blank_address(clause: str) -> str:
    """What stands before a colon on its line, with `<>` for each address in angle brackets, wrapped ones too."""
    return _ADDRESS.sub(f" {_MARK} ", clause).rpartition("\n")[2]


def is_dated_head(line: str) -> bool:
    """Whether a line that `blank_address` gave has an address near its end, a day, a time of day, and the name of a sender."""
    _, mark, after = line.rpartition(_MARK)
    is_near = bool(mark) and len(after) <= _MOST_BEHIND_CHARS
    return (
        is_near
        and _names_other_party(line) is None
        and _DAY.search(line) is not None
        and _TIME.search(line) is not None
    )
