"""Answers that tell nothing without their question, and the question's own words that stand with them.

Source: issue of the window's worth, point 2; DESIGN 3.4, a line that says nothing alone stands with what it answers.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from everfold.core.digests.rows import neutralise
from everfold.core.digests.value import LineValue, read_value
from everfold.core.primitives.origins import Origin
from everfold.core.primitives.stepwise import Steps, map_stepwise
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.strengths import measure_strength
from everfold.core.statements.substance import count_words, measure_substance
from everfold.core.text.frames import name_asked

_LINES_PER_STEP: Final = 100
_MOST_WORDS: Final = 8
"""Of an answer; who says more says what it is about."""
_OPENING_CHARS: Final = 24
"""An answer stands at the beginning of its message, behind a greeting or an assent at most."""
_TALK: Final[frozenset[Origin]] = frozenset(("user", "assistant"))
_LEAST_SUBSTANCE: Final = 3
"""From how many telling words on talk without a fact stands alone between calls and results, where most of it is assent; in a
talk without tools one is enough. Source: own measurement, `python -m bench.worth answers rules`: with 1 also beside tools,
digests of 10 % of the tau logs hold .78 of the errors and .24 of the ids, with 3 .89 and .25; with 4 .49 of the rules
instead of .57. With 3 also in talk 38 of 99 answers stand at 20 % instead of 42."""
_POLITE: Final = re.compile(
    r"(?:thank|thanx|thx|hey|hi|hello|wow|oh|great|congrat|sorry|welcome|you're welcome)\w*(?: (?:you|so much|a lot|very much))*",
    re.IGNORECASE,
)
"""What opens an answer to the person rather than to the question, unless a mark and an answer follow."""
_BEHIND_POLITE: Final = re.compile(r"[,.!;:]+ +(?=\S+ +\S)")
_MOST_CALLED_WORDS: Final = 4
"""Of an answer that ends in an exclamation mark; a longer one tells what moves its speaker."""
_JOINING_PAIR: Final = re.compile("[\u3040-\u309f]+|[\u3040-\u9fff]")
"""Of a script without blanks, what many sentences share: a pair of hiragana, and a run's last letter."""
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")

_MOST_QUESTION_CHARS: Final = 60
"""Of a question that stands with an answer which repeats a word of it. Source: own measurement, `python -m bench.worth rules`:
with 80 a digest of 10 % holds 145 of 591 ids of the tau logs, with 60 148, as without."""
_ASSENT: Final = re.compile(
    r"(?:yes|yeah|yep|yup|no|nope|sure|ok|okay|exactly|correct|right|agreed|ja|nein|doch|oui|non|si|sí|sim)\b(?=[,.;!]|$| please\b)",
    re.IGNORECASE,
)
"""What opens an answer that needs its question also where it repeats a word of it."""

Said: TypeAlias = tuple[ExtractLine, ...]
"""What is quoted together: a line, or a question and the line that answers it."""


class Told(NamedTuple):
    """What is quoted together, read once for all that is decided over it.

    Attributes:
        value: What the quotes hold together.
        substance: How many of their words say what they are about.
    """

    said: Said
    value: LineValue
    substance: int


def group_stepwise(lines: Sequence[ExtractLine]) -> Steps[list[Told]]:
    """The lines that tell something, a user's short answer behind the question of the message before; O(lines).

    Only where the answer says yes or no and a fact, or shares no word with its question: any other that repeats one says what
    it is about. None where no line tells anything.
    """
    asked = {line.seq: line for line in lines if _is_question(line)}

    def join(line: ExtractLine) -> Said:
        question = asked.get(line.seq - 1)
        return (line,) if question is None else _add_question(line, question)

    groups = yield from map_stepwise(join, lines, count=_LINES_PER_STEP)
    answered = {said[0] for said in groups if len(said) > 1}
    groups = [said for said in groups if len(said) > 1 or said[0] not in answered]
    least = _LEAST_SUBSTANCE if any(line.origin == "tool" for line in lines) else 1
    told = yield from map_stepwise(lambda said: _read_telling(said, least), groups, count=_LINES_PER_STEP)
    return [one for one in told if one is not None]


def find_asked(lines: Sequence[ExtractLine], before: Sequence[ExtractLine]) -> ExtractLine | None:
    """The question in the lines of the message before that a short message answers, by the same rule; None for any other.

    The message has to say something of its own: "Do it." is told by its question alone, which a digest has.
    """
    words_count = sum(count_words(line.quote) for line in lines)
    asked = next((line for line in reversed(before) if _is_question(line)), None)
    if asked is None or words_count > _MOST_WORDS or not any(measure_substance(line.quote) for line in lines):
        return None
    return asked if any(len(_add_question(line, asked)) > 1 for line in lines) else None


def show_asked(seq: int, quote: str) -> str:
    """The line that shows a question over the message that answers it; it can forge no marker and no fence."""
    return name_asked(seq, neutralise(quote))


def _read_telling(said: Said, least: int) -> Told | None:
    """What quotes tell alone, or None; talk that does not bind has to hold a fact, or so many telling words."""
    line, substance = said[-1], measure_said(said)
    if not substance:
        return None
    told = Told(said, read_said(said), substance)
    if substance >= least or line.origin not in _TALK or told.value.keys or told.value.facts:
        return told
    return told if line.standing and measure_strength(line.kind, line.quote) else None


def measure_said(said: Said) -> int:
    """How many words of quotes say what they are about, together."""
    if len(said) == 1:
        return measure_substance(said[0].quote)
    return sum(measure_substance(line.quote) for line in said)


def read_said(said: Said) -> LineValue:
    """What quotes hold together."""
    if len(said) == 1:
        return read_value(said[0].quote)
    return LineValue(*map(frozenset[str].union, *[read_value(line.quote) for line in said]))


def _add_question(line: ExtractLine, question: ExtractLine) -> Said:
    is_bare = _may_answer(line) and _is_apart(line.quote, question.quote)
    return (question, line) if is_bare else (line,)


def _is_question(line: ExtractLine) -> bool:
    return line.origin == "assistant" and line.quote.endswith(_QUESTION_MARKS)


def _may_answer(line: ExtractLine) -> bool:
    if line.origin != "user" or line.start > _OPENING_CHARS or line.quote.endswith(_QUESTION_MARKS):
        return False
    most = _MOST_CALLED_WORDS if line.quote.endswith(("!", "\uff01")) else _MOST_WORDS
    return count_words(line.quote) <= most and _is_to_the_question(line.quote)


def _is_to_the_question(quote: str) -> bool:
    opened = _POLITE.match(quote)
    return opened is None or _BEHIND_POLITE.match(quote, opened.end()) is not None


def _is_apart(answer: str, question: str) -> bool:
    """Whether an answer does not say what it is about: it shares no word with its question, or a fact alone."""
    value, asked = read_value(answer), read_value(question)
    is_short = len(question) <= _MOST_QUESTION_CHARS
    if value.facts and is_short and _ASSENT.match(answer):
        return True
    named = _list_telling(*asked)
    return named.isdisjoint(_list_telling(*value)) or (is_short and named.isdisjoint(_list_telling(value.matter)))


def _list_telling(*parts: frozenset[str]) -> frozenset[str]:
    return frozenset(word for part in parts for word in part if not _JOINING_PAIR.fullmatch(word))
