"""How a newer statement says that an older one no longer holds, without naming the value that it rejects.

Source: own grammar of English, as in the rules of corrections in `rule_tables`, which tell that such a sentence is a correction.
"""

from functools import lru_cache
from typing import Final

from everfold.core.statements.rules import DATE_WORDS
from everfold.core.text.patterns import compile_pattern

_REMEMBERED_TEXTS: Final = 4096
_SLIP: Final = (
    r"(?:oh|ah|hmm|um|uh|no|,| )*(?:wait|sorry|oops|hang on|hold on),? (?:no|wait|sorry|oops|hang on|hold on|i mean)\b"
)
_EXCESS: Final = (
    r"\b(\d[\w.,]*(?: \w+)??) (?:\w+ )?(?:is|are|was|were|seems?|would be)"
    r" (?:way |far |much |a (?:bit|little) |still )?too (?:much|many|high|low|long|short|few|late|early|big|small|large|little)\b"
)
_MOVED: Final = (
    r"(?:so |and |but |also |the |my |our |your |her |his |their |update: )*(.+?) (?:has been|have been|was|were|is|are|got) (?:now )?"
    r"(?:moved|postponed|rescheduled|pushed back|brought forward|changed) to\b(.*)"
)
_DAY: Final = rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)|\d{{1,2}}[:.]\d\d|\d{{1,2}} ?[ap]m|\d{{4}}-\d\d-\d\d|{'|'.join(DATE_WORDS.split())}|may|march)\b"


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def is_slip(quote: str) -> bool:
    """Whether a sentence takes back the one right before it ("Oh wait, sorry, that's the other one")."""
    return compile_pattern(_SLIP).match(quote.lower()) is not None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def find_excess(quote: str) -> str | None:
    """The value of which a sentence says that it is too much or too little, with the word behind it, in lower case."""
    found = compile_pattern(_EXCESS).search(quote.lower())
    return found[1] if found else None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def find_moved(quote: str) -> str | None:
    """What a sentence says was moved to another day or time, in lower case; None where it moves nothing so."""
    found = compile_pattern(_MOVED).match(quote.lower())
    return found[1].replace("'s", "") if found and compile_pattern(_DAY).search(found[2]) else None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def has_day_or_time(quote: str) -> bool:
    """Whether a sentence names a day or a time."""
    return compile_pattern(_DAY).search(quote.lower()) is not None
