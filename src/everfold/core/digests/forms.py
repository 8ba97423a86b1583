"""The form of a quote: said, or a call, code, a listing, markup, a heading, or an announcement, which report nothing.

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

QuoteForm = Literal["said", "call", "code", "listing", "markup", "heading", "announcement"]

_CALL: Final = re.compile(r"[A-Za-z_][\w.-]{0,63} \{\"")
_ESCAPES: Final = re.compile(r"\\[nt\"]")
"""What a quote of the assistant's has where it is a stretch of a call's arguments: their line breaks and quotes are escaped."""
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
_LISTED: Final = re.compile(r"\d{1,6}(?:\u2192|\t)|\d{2,6}-\s|\d{3,6}-(?!\d)")
"""How a line of a file begins that a tool shows with its number."""
_NUMBERED: Final = re.compile(r"\d{1,6}:\s")
"""How such a line or an entry of a list begins."""
_BESIDE: Final = re.compile(r"\S*\w\.\w{1,5}-\d+-")
"""How a line begins that a search through files gives around one that it found: path and number."""
_NEAR: Final = re.compile(r"\d{1,2}-")
"""The same without the path; a day or a count is told by what stands behind it."""
_FOUND: Final = re.compile(r"\S*\w\.\w{1,5}:\d+:\s*(?!\d)")
"""How a line begins that it found. A column behind the number is a compiler's."""
_CODE: Final = re.compile(
    r"[+-]?\s*(?://|/\*|\*/"
    r"|(?:def|class|if|elif|else|for|while|with|try|except)\b.*:$"
    r"|(?:func|return|var|const|type|import|package|export|public|private|static)\b.*[(){}=\[\];\"']"
    r"|.*[{;]$|.* := |.*\) (?:=>|->) )"
)
_CALLED: Final = re.compile(r"(?:[\w.\[\]]+ = (?:new |await )?|[A-Za-z_]\w*\.)[\w.]+\((?:.*[;,()])?$|\W{0,3}\",\"")
"""What only a tool puts out: one call, or a stretch from the middle of an object."""
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
    if _LISTED.match(quote) or _BESIDE.match(quote):
        return "listing"
    return _read_output(quote)


def _read_assistant(quote: str) -> QuoteForm:
    if _CALL.match(quote):
        return "call"
    if _ESCAPES.search(quote) or _CODE.match(quote):
        return "code"
    return "announcement" if _ANNOUNCEMENT.match(quote) else "said"


def _read_output(quote: str) -> QuoteForm:
    """The form of what a program put out: a line that a search found, or one that is shaped as code is."""
    if found := _FOUND.match(quote) or _NEAR.match(quote):
        rest = quote[found.end() :]
        return "listing" if not rest or _CODE.match(rest) or _STATEMENT.match(rest) else "said"
    is_code = _NUMBERED.match(quote) or _CODE.match(quote) or _CALLED.match(quote)
    return "code" if is_code else "said"
