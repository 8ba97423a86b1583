"""How a newer statement says that an older one no longer holds, without naming the value that it rejects.

Source: own grammar of English, as in the rules of corrections in `rule_tables`, which tell that such a sentence is a correction.
"""

from functools import lru_cache
from typing import Final

from everfold.core.text.patterns import compile_pattern

_REMEMBERED_TEXTS: Final = 4096
_SLIP: Final = (
    r"(?:oh|ah|hmm|um|uh|no|,| )*(?:wait|sorry|oops|hang on|hold on),? (?:no|wait|sorry|oops|hang on|hold on|i mean)\b"
)
_EXCESS: Final = (
    r"\b(\d[\w.,]*(?: \w+)??) (?:\w+ )?(?:is|are|was|were|seems?|would be)"
    r" (?:way |far |much |a (?:bit|little) |still )?too (?:much|many|high|low|long|short|few|late|early|big|small|large|little)\b"
)


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def is_slip(quote: str) -> bool:
    """Whether a sentence takes back the one right before it ("Oh wait, sorry, that's the other one")."""
    return compile_pattern(_SLIP).match(quote.lower()) is not None


@lru_cache(maxsize=_REMEMBERED_TEXTS)
def find_excess(quote: str) -> str | None:
    """The value of which a sentence says that it is too much or too little, with the word behind it, in lower case."""
    found = compile_pattern(_EXCESS).search(quote.lower())
    return found[1] if found else None
