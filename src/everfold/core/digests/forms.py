"""The form of a quote: said, or a call, code, markup, a heading, or an announcement, which report nothing and ask nothing.

A digest takes lines by their words, and code is full of words of failure: a line of a program that could report an error, a
call that runs the tests with a timeout, "let me look at the failing test". None of them says that something failed; and "Is
there anything else?" says nothing.

Source: own reading of windows over logs of coding agents, two passes over 480 lines: most lines that told nothing had one of
these forms.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from everfold.core.primitives.origins import Origin
from everfold.core.statements.quotes import REMEMBERED_TEXTS

QuoteForm = Literal["said", "call", "code", "markup", "heading", "announcement"]

_CALL: Final = re.compile(r"[A-Za-z_][\w.-]{0,63} \{\"")
_ESCAPES: Final = re.compile(r"\\[nt\"]")
_FEWEST_ESCAPES: Final = 2
"""From here on a quote of the assistant's is a stretch of a call's arguments, whose line breaks and quotes are escaped."""
_MARKUP: Final = re.compile(r"(?:\d{1,6}[:\u2192-]?\s)?(?:\s*(?:<!--.*?-->|</?[A-Za-z][^<>]*>))+\s*", re.DOTALL)
"""Tags and comments alone, also behind the number of their line."""
_HEADING: Final = re.compile(r"(?:[#*]+ ?)?[^\W\d][\w'()/-]*(?: [\w'()/-]+){0,3}:\**")
_ANNOUNCEMENT: Final = re.compile(
    r"(?:(?:now|ok|okay|good|great|right|wait|first|next|then|so|and|but|perfect)\b[,.! \u2014-]*)*let me\b(?! know)"
    r"|(?:please )?feel free to\b|(?:please )?let me know if you(?:'d| would)? (?:need|have|want|like|prefer)\b|if you (?:need|have) any"
    r"|(?:is there|do you (?:need|want)|want me to \w+|(?:can|may) i (?:help|assist)(?: you)? with) anything else\b",
    re.IGNORECASE,
)
"""What is about to be done, and the offers that an answer closes with."""
_LISTED: Final = re.compile(r"\d{1,6}(?:\u2192|:\s|\t)|\d{2,6}-\s")
"""How a line of a file begins that a tool shows with its number."""
_FOUND: Final = re.compile(r"\S*\w\.\w{1,5}[:-]\d+[:-]\s*(?!\d)")
"""How a line begins that a search through files gives: path and number. A column behind them is a compiler's."""
_CODE: Final = re.compile(
    r"[+-]?\s*(?://|/\*|\*/"
    r"|(?:def|class|if|elif|else|for|while|with|try|except)\b.*:$"
    r"|(?:func|return|var|const|type|import|package|export|public|private|static)\b.*[(){}=\[\];\"']"
    r"|.*[{;]$|.* := |.*\) (?:=>|->) )"
)
_STATEMENT: Final = re.compile(r"[\w.\[\]]+(?: [:+-]?= |\(.*[,;(){}]$)")
"""An assignment or a call, which only behind the place of a found line is told from what a program prints."""


@lru_cache(maxsize=REMEMBERED_TEXTS)
def read_form(quote: str, origin: Origin) -> QuoteForm:
    """The form of a quote; what a user says is said."""
    if origin == "user":
        return "said"
    if quote[-1:] == ">" and _MARKUP.fullmatch(quote):
        return "markup"
    if quote.endswith((":", ":**")) and _HEADING.fullmatch(quote):
        return "heading"
    if origin == "assistant":
        return _read_assistant(quote)
    return "code" if _is_code(quote) else "said"


def _read_assistant(quote: str) -> QuoteForm:
    if _CALL.match(quote):
        return "call"
    if len(_ESCAPES.findall(quote)) >= _FEWEST_ESCAPES or _CODE.match(quote):
        return "code"
    return "announcement" if _ANNOUNCEMENT.match(quote) else "said"


def _is_code(quote: str) -> bool:
    """Whether it is a line of a file: shown with its number, found by a search, or shaped as code is."""
    if _LISTED.match(quote):
        return True
    if found := _FOUND.match(quote):
        rest = quote[found.end() :]
        return not rest or _CODE.match(rest) is not None or _STATEMENT.match(rest) is not None
    return _CODE.match(quote) is not None
