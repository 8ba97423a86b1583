from datetime import UTC, datetime

import pytest

from everfold.core.digests.answers import group_stepwise, measure_said, read_said
from everfold.core.digests.choice import list_candidates
from everfold.core.digests.value import read_value
from everfold.core.primitives.origins import Origin
from everfold.core.primitives.stepwise import finish
from everfold.core.statements.extracts import ExtractLine

_AT = datetime(2026, 1, 5, tzinfo=UTC)


def _line(seq: int, origin: Origin, quote: str, start: int = 0) -> ExtractLine:
    return ExtractLine(seq, origin, "lead", 20, quote, start, False, _AT)


def _quotes(*lines: ExtractLine) -> list[tuple[str, ...]]:
    return [tuple(line.quote for line in one.said) for one in finish(group_stepwise(lines))]


_QUESTION = _line(4, "assistant", "What temperature shall the oven have?")


def test_a_short_answer_stands_behind_its_question() -> None:
    """An answer that names nothing of what was asked is quoted with the question, and tells what both tell."""
    answer = _line(5, "user", "Yes, 50 degrees.")
    assert _quotes(_QUESTION, answer) == [(_QUESTION.quote, answer.quote)]
    said, value, substance = finish(group_stepwise((_QUESTION, answer)))[-1]
    assert {"50"} <= value.facts
    assert "oven" in value.matter
    assert (value, substance) == (read_said(said), measure_said(said))
    assert substance > measure_said((answer,))


@pytest.mark.parametrize("answer", ["Yes, 50 degrees.", "No, 40 degrees", "ok, 50 it is"])
def test_an_assent_stands_behind_its_question(answer: str) -> None:
    """What says yes or no and a fact stands with its question also where it repeats words of it."""
    question = _line(4, "assistant", "Shall the oven have 50 degrees?")
    assert (question.quote, answer) in _quotes(question, _line(5, "user", answer))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which tile shall I order?", "Number 17!"),
        ("Which jacket colour?", "Blue!!"),
        ("Who should I invite to the opening?", "Thanks, Ben and Carla."),
        ("Shall I take the 9:40 or the 11:15 ferry?", "9:40 please."),
        ("Do you want breakfast included?", "Yes."),
        ("你想要什么颜色\uff1f", "蓝色。"),
        ("何色がいいですか\uff1f", "青です。"),
    ],
)
def test_an_answer_of_any_tone_and_script_stands_behind_its_question(question: str, answer: str) -> None:
    """A call, polite words first, a repeated value, a bare yes and a script without blanks: the question stands with each, once."""
    lines = _line(4, "assistant", question), _line(5, "user", answer)
    assert _quotes(*lines) == [(question, answer)]


@pytest.mark.parametrize(
    "answer",
    [
        _line(5, "user", "The oven shall have 50 degrees."),
        _line(6, "user", "Yes, 50 degrees."),
        _line(5, "assistant", "Yes, 50 degrees."),
        _line(5, "user", "Yes, 50 degrees.", start=80),
        _line(5, "user", "Thanks for the Bergen trip, Melanie."),
        _line(5, "user", "It was wonderful out in Bergen, Melanie!"),
        _line(5, "user", "Thanks, Melanie!"),
        _line(5, "user", "Which one do you mean, the small Bosch?"),
        _line(5, "user", "I took the tray out an hour ago and let the bread cool on the balcony."),
    ],
    ids=["repeats", "later", "own", "behind", "thanks", "exclaims", "thanks one", "asks back", "long"],
)
def test_what_tells_something_alone_stands_alone(answer: ExtractLine) -> None:
    """Nothing but a user's short answer, at the beginning of the next message, takes its question along."""
    assert (answer.quote,) in _quotes(_QUESTION, answer)


def test_what_tells_nothing_is_left_out() -> None:
    """Lines that name nothing are not offered, not even where there are no others; beside tools, nor is a word or two of talk."""
    slogan = _line(3, "user", "Create those memories!")
    fact = _line(4, "user", "We went to Lisbon.")
    result = _line(2, "tool", "Booking RX-20441 is confirmed.")
    assert _quotes(result, slogan, fact) == [(result.quote,), (fact.quote,)]
    assert _quotes(slogan, fact) == [(slogan.quote,), (fact.quote,)]
    idle, telling = _line(1, "user", "Take that one."), _line(2, "user", "Use port 8080 for the staging server.")
    assert _quotes(idle, telling) == [(telling.quote,)]
    assert _quotes(idle) == []


def test_what_was_read_of_a_line_is_not_read_again() -> None:
    """Candidates are made of what grouping read, so that a fold of more lines than stay remembered reads each once."""
    told = finish(group_stepwise([_line(seq, "assistant", f"Kiln S-{seq} fired {seq} tiles.") for seq in range(1, 9)]))
    read_value.cache_clear()
    candidates = finish(list_candidates(told, [1.0] * len(told)))
    assert [one.value for one in candidates] == [one.value for one in told]
    assert read_value.cache_info().misses == 0
