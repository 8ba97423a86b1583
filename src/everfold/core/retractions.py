"""How a newer statement says that an older one no longer holds, without naming the value that it rejects.

Source: own grammar of English, as in `correction_rules`, which tells that such a sentence is a correction.
"""

import re
from functools import lru_cache
from typing import Final

from everfold.core.statement_rules import DATE_WORDS

_REMEMBERED_TEXTS: Final = 4096
_SLIP: Final = re.compile(
    r"(?:oh|ah|hmm|um|uh|no|,| )*(?:wait|sorry|oops|hang on|hold on),? (?:no|wait|sorry|oops|hang on|hold on|i mean)\b"
).match
_EXCESS: Final = re.compile(
    r"\b(\d[\w.,]*(?: \w+)??) (?:\w+ )?(?:is|are|was|were|seems?|would be)"
    r" (?:way |far |much |a (?:bit|little) |still )?too (?:much|many|high|low|long|short|few|late|early|big|small|large|little)\b"
).search
_MOVED: Final = re.compile(
    r"(?:so |and |but |also |the |my |our |your |her |his |their |update: )*(.+?) (?:has been|have been|was|were|is|are|got) (?:now )?"
    r"(?:moved|postponed|rescheduled|pushed back|brought forward|changed) to\b(.*)"
).match
_DAY: Final = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)|\d{{1,2}}[:.]\d\d|\d{{1,2}} ?[ap]m|\d{{4}}-\d\d-\d\d|{'|'.join(DATE_WORDS.split())}|may|march)\b"
).search


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def is_slip(quote: str) -> bool:
    """Whether a sentence takes back the one right before it ("Oh wait, sorry, that's the other one")."""
    return _SLIP(quote.lower()) is not None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def find_excess(quote: str) -> str | None:
    """The value of which a sentence says that it is too much or too little, with the word behind it, in lower case."""
    found = _EXCESS(quote.lower())
    return found[1] if found else None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def find_moved(quote: str) -> str | None:
    """What a sentence says was moved to another day or time, in lower case; None where it moves nothing so."""
    found = _MOVED(quote.lower())
    return found[1].replace("'s", "") if found and _DAY(found[2]) else None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def has_day_or_time(quote: str) -> bool:
    """Whether a sentence names a day or a time."""
    return _DAY(quote.lower()) is not None
