"""What a line is worth to a digest: the facts that it holds, the matter that it speaks of, and its class.

Theory of operation: facts are told by their letters alone. Keys are identifiers, paths and addresses, which nothing else in
a window can replace; plain facts are numbers, days, names inside a sentence and quoted titles. Matter is every other
subject word, reduced to its stem; what one is worth falls with its commonness among the lines that a digest is offered, so
that no figure of the whole log is needed. A fact or a word that is already shown is worth nothing.

Source: own measurement, bench/digest_quality.py.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple

from everfold.core.digests.forms import QuoteForm, read_form
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.quotes import REMEMBERED_TEXTS
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.signals import cut_pieces, find_hard
from everfold.core.statements.strengths import STRONG, measure_strength
from everfold.core.text.words import read_matter

LineClass = Literal[0, 1, 2, 3]
"""0: what the user bound or asked for; 1: decisions and corrections; 2: errors and end states; 3: the rest."""

_KEY_WEIGHT: Final = 25.0
_FACT_WEIGHT: Final = 8.0
_MATTER_WEIGHT: Final = 3.0
"""Of a word that no other line holds. Whole numbers, and what a word is worth in steps of `_WORTH_STEPS`: so sums of them are
exact, and the same in any order. Source of the three: own measurement, bench/digest_quality.py."""
_WORTH_STEPS: Final = 2.0**40

_TITLE: Final = re.compile(r"[\"\u201c]([A-Z0-9][^\"\u201c\u201d\n:]* [^\"\u201c\u201d\n:]+)[\"\u201d](?!:)")
_ADDRESSED: Final = re.compile(
    r"(?<=[a-z]), [A-Z][a-z]+(?=[.!?]*$|[!?] )"
    r"|^(?:Hey|Hi|Hello|Thanks|Thank you|Thx|Wow|Oh|Aw+|Yeah|Yes|Yep|Yup|No|Nope|Sorry|Congrats|Absolutely|Definitely|Totally|Exactly|Sure|Great|Cool)"
    r"(?: \w+)?,? [A-Z][a-z]+(?=[,!.?])"
)
"""Who is spoken to: a name that says nothing of a thing."""
_HUMP: Final = re.compile(r"[a-z][A-Z]")
_EDGES: Final = ".!?\u2026:-_&+~"
_SENTENCE_ENDS: Final = (".", "!", "?", "\u2026")
_DAYS: Final = list_word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july august september october november"
    " december yesterday today tomorrow tonight"
)
"""Also in lower case or first in a sentence; "may" and "march" are verbs there."""
_MOST_PIECES: Final = 16_384

REST: Final = 3
"""The class of what neither binds nor tells how something ended; what is quoted elsewhere takes no other class's quota."""
_CLASSES: Final[dict[LineKind, LineClass]] = {"decision": 1, "correction": 1, "error": 2, "state": 2}
_FORM_WEIGHTS: Final[dict[QuoteForm, float]] = {
    "said": 1.0,
    "call": 0.6,
    "code": 0.1,
    "listing": 0.0,
    "announcement": 0.3,
    "heading": 0.1,
    "markup": 0.0,
}
"""What is no statement of anybody's is worth the names that it holds, and less for them. Source: own measurement,
bench/worth_summaries.py and bench/digest_quality.py."""
_BINDING: Final[frozenset[LineKind]] = frozenset(("remember", "constraint", "preference"))


_ORIGIN_WEIGHT: Final[dict[Origin, float]] = {
    "user": 1.5,
    "assistant": 1.0,
    "tool": 0.85,
    "system": 0.8,
    "external": 0.6,
}
_STRENGTH_WEIGHTS: Final = (1.0, 2.0, 3.0, 4.0)
"""For a standing line, by its strength."""
_SHARPNESS: Final = 1.5
"""Above 1, one strong line is worth more than several weak ones; own measurement, bench/digest_quality.py."""
_BASES: Final[dict[LineClass, float]] = {0: 30.0, 1: 10.0, 2: 10.0, 3: 0.0}
_ERROR_BASE: Final = 30.0
"""What a line of a class is worth beside the facts and words that it holds."""
_GOAL_AGE: Final = 0.1
_GOAL_WEIGHT: Final = 2.0
"""What a user asks for in the first tenth of a range is most often its goal."""
_FULL_SUBSTANCE: Final = 3
"""From how many telling words on a line counts in full: "Keep it up!" and "Take that one." name nothing that they speak of.
Source: own measurement, bench/digest_quality.py."""
_FULL_STANDING_SUBSTANCE: Final = 2


class LineValue(NamedTuple):
    """What a quote holds, in lower case.

    Attributes:
        keys: Its identifiers, paths and addresses.
        facts: Its numbers, days, names, titles, and the names that code has.
        matter: The stems of the other words that it is about.
    """

    keys: frozenset[str]
    facts: frozenset[str]
    matter: frozenset[str]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def read_value(quote: str) -> LineValue:
    """The facts and the matter of a quote. O(its length)."""
    keys: set[str] = set()
    facts = {title.lower() for title in _TITLE.findall(quote)} if '"' in quote or "\u201c" in quote else set[str]()
    words: list[str] = []
    pieces = cut_pieces(_ADDRESSED.sub(_lower, quote))
    is_first = True
    for at, piece in enumerate(pieces, 1):
        if piece.islower() and piece.isalpha():
            words.append(piece)
            is_first = False
            continue
        told = _tell_piece(piece)
        if told in {"key", "fact"} and pieces[at : at + 1] == [":"]:
            words.append(piece)  # the name of a field says nothing of a thing
        elif told == "key":
            keys.add(piece.strip(_EDGES).lower())
        elif told == "fact" or (told == "name" and not is_first):
            facts.add(piece.strip(_EDGES).lower())
        else:
            words.append(piece)
        is_first = piece.endswith(_SENTENCE_ENDS)
    facts |= _DAYS.intersection(words)
    matter = read_matter(" ".join(words) if quote.isascii() else quote)
    return LineValue(frozenset(keys), frozenset(facts), frozenset(matter.split()))


def _lower(found: re.Match[str]) -> str:
    return found[0].lower()


@lru_cache(maxsize=_MOST_PIECES)
def _tell_piece(piece: str) -> Literal["key", "fact", "name", "word"]:
    """What a piece between blanks that is no plain word looks like; a name is one only inside a sentence."""
    bare = piece.strip(_EDGES)
    kind, _, _ = find_hard([bare])
    if kind in {"identifier", "path"}:
        return "key"
    if kind or _HUMP.search(bare) or "_" in bare or bare[:1].isdecimal() or bare.lower() in _DAYS:
        return "fact"
    return "name" if len(bare) > 1 and bare[0].isupper() else "word"


def classify_line(line: ExtractLine, *, is_rare: bool = False) -> LineClass:
    """The class of a line; only the user's own orders, limits and tasks bind or ask for something.

    Where it `is_rare` that the user says anything, all of it but errors and decisions asks for something.
    """
    if line.origin == "user" and line.kind == "task":
        return 0
    may_bind = line.standing or (line.origin == "user" and line.kind in _BINDING)
    if may_bind and measure_strength(line.kind, line.quote) >= STRONG:
        return 0
    if read_form(line.quote, line.origin) != "said":
        return REST
    return _CLASSES.get(line.kind, 0 if is_rare and line.origin == "user" else REST)


def weigh_words(values: Sequence[LineValue]) -> dict[str, float]:
    """What each word of some lines is worth: 1 where one line holds it, 0 where all do."""
    counts = Counter(chain.from_iterable([value.matter for value in values]))
    full = math.log(len(values) + 1)
    worth = {count: round((1 - math.log(count) / full) * _WORTH_STEPS) / _WORTH_STEPS for count in {*counts.values()}}
    return {word: worth[count] for word, count in counts.items()}


def weigh_value(value: LineValue, worth: Mapping[str, float], seen: Collection[str] = frozenset()) -> float:
    """What the facts and words of a quote that are not `seen` are worth together; `worth` has that of each word."""
    keys, facts, matter = value
    total = _MATTER_WEIGHT * sum([worth[word] for word in matter.difference(seen, facts, keys)])
    if facts:
        total += _FACT_WEIGHT * len(facts.difference(seen, keys))
    if keys:
        total += _KEY_WEIGHT * len(keys.difference(seen))
    return total


def weigh_line(line: ExtractLine, line_class: LineClass, age: float, substance: int) -> float:
    """What the worth of a line is multiplied with, against others of its class.

    Args:
        line: The line.
        line_class: Its class.
        age: 0 for the first of a range, 1 for the last.
        substance: How many words of what is quoted say what it is about.
    """
    weight = _ORIGIN_WEIGHT[line.origin]
    if line_class == 0:
        weight *= math.pow(line.score / 100, _SHARPNESS)
    if line.standing:
        weight *= _STRENGTH_WEIGHTS[measure_strength(line.kind, line.quote)]
    elif line.kind in ("task", "state", "error", "commitment"):
        weight *= 0.8 + 0.4 * age
        if line.origin == "user" and age < _GOAL_AGE:
            weight *= _GOAL_WEIGHT
    full = _FULL_STANDING_SUBSTANCE if line.standing else _FULL_SUBSTANCE
    if substance < full and line.kind != "remember":
        weight *= substance / full
    return weight * _FORM_WEIGHTS[read_form(line.quote, line.origin)]


def read_base(line: ExtractLine, line_class: LineClass) -> float:
    """What a line is worth for its class, beside what it holds."""
    is_said = read_form(line.quote, line.origin) == "said"
    return _ERROR_BASE if line.kind == "error" and is_said else _BASES[line_class]
