"""What context sources are asked, and the message that carries what they said."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.log.budget import Policy, share_budget
from everfold.core.log.messages import Message
from everfold.core.log.state import UNCALIBRATED, Answered, SessionState
from everfold.core.log.wire import read_wire
from everfold.core.sources.refreshing import (
    SOURCE_KEY,
    AllowedSource,
    Answer,
    Question,
    Refresh,
    compose_refresh,
    cut_answer,
    find_cap,
    find_source,
    note_answers,
    plan_questions,
    read_asked,
)
from everfold.core.text.frames import FENCE_TOKENS, name_refresh
from everfold.core.text.tokens import estimate_text_tokens
from everfold.testing.kit.builders import incoming, minute, session_record
from everfold.testing.kit.fakes import STARTED_AT

BACK = SessionState(turn_seq=9, turns_count=3, away_since=minute(0), active_at=minute(10))
POLICY = Policy(gap_secs=600.0)
WORK, HOME = AllowedSource(name="calendar://work", prompt="meetings"), AllowedSource(name="mail://home")


def _answer(text: str, *, source: str = "calendar://work", budget: int = 500) -> Answer:
    question = Question(source=source, prompt="", from_at=minute(0), to_at=minute(9), budget_tokens=budget)
    return Answer(question=question, text=text)


def _stored(refresh: Refresh | None) -> Message:
    """A refresh as the log has it."""
    assert refresh is not None
    new = incoming(refresh.wire, source="refresh", said_at=minute(5))
    return Message(
        seq=1,
        kind="notice",
        origin=new.origin,
        source=new.source,
        said_at=new.said_at,
        wire=new.wire,
        view=new.view,
        tokens=refresh.tokens,
        raw_tokens=refresh.tokens,
        is_boundary=True,
        content_hash=new.content_hash,
    )


def _ask(
    state: SessionState, *sources: AllowedSource, cause: str = "gap", cap: int = 2000, now: float = 10
) -> list[Question]:
    asked = plan_questions(
        sources or (WORK,),
        state,
        session_record(created_at=minute(-30)),
        POLICY,
        cause=cause,  # type: ignore[arg-type]  # parametrised
        now=minute(now),
        cap_tokens=cap,
        floor_tokens=256,
    )
    return list(asked)


@pytest.mark.parametrize(
    ("cause", "answered", "expected"),
    [("gap", 4, 4), ("gap", None, 0), ("cadence", 4, 4), ("cadence", None, -30), ("gap", -9999, -1430)],
    ids=["since the answer", "since the user left", "the same", "since the session began", "no longer than asked"],
)
def test_sources_are_asked_for_what_they_have_not_answered(cause: str, answered: int | None, expected: int) -> None:
    """The stretch begins where the last answer ended, or the user left, or the session began; a day back at most."""
    known = () if answered is None else (Answered(WORK.name, minute(answered)),)
    (asked,) = _ask(replace(BACK, answered=known), cause=cause)
    assert (asked.source, asked.prompt) == (WORK.name, WORK.prompt)
    assert (asked.from_at, asked.to_at) == (minute(expected), minute(10))


def test_each_source_has_its_own_stretch() -> None:
    """What one has answered is not asked of it again; the other is asked from where it stopped."""
    state = replace(BACK, answered=(Answered(WORK.name, minute(5)), Answered(HOME.name, minute(2))))
    assert [(one.source, one.from_at) for one in _ask(state, WORK, HOME)] == [
        (WORK.name, minute(5)),
        (HOME.name, minute(2)),
    ]


def test_a_stretch_never_ends_before_it_begins() -> None:
    """When the clock was set back, the stretch is empty, not negative."""
    state = replace(BACK, answered=(Answered(WORK.name, STARTED_AT + timedelta(days=1)),))
    (asked,) = _ask(state, now=0)
    assert asked.from_at == asked.to_at == STARTED_AT


@pytest.mark.parametrize(
    ("cap", "count", "expected"),
    [(2000, 1, 2000), (2000, 4, 500), (2000, 10, 256), (100, 1, 100)],
    ids=["all of it", "a share", "the floor", "a window with less"],
)
def test_each_source_gets_its_share(cap: int, count: int, expected: int) -> None:
    """The budget is the cap by the number of sources, not below the floor, nor above the cap; its fence is a part of it."""
    sources = [AllowedSource(name=f"call://{number}") for number in range(count)]
    assert {one.budget_tokens for one in _ask(BACK, *sources, cap=cap)} == {expected - FENCE_TOKENS}


def test_a_refresh_is_never_larger_than_what_is_shown_of_one_message() -> None:
    """The cap is the smaller of the setting and the window's own; 0 is the window's own."""
    budget = share_budget(8000, Policy(), prompt_tokens=0, calibration=UNCALIBRATED)
    most = find_cap(0, budget)
    assert 0 < most < budget.visible_tokens
    assert find_cap(10**6, budget) == most
    assert find_cap(100, budget) == 100


@pytest.mark.parametrize("budget", [0, 10, 40, 200])
@given(text=st.text(max_size=900))
def test_an_answer_is_cut_within_its_budget(budget: int, text: str) -> None:
    """Whatever the text, what is left of it fits, is a beginning of it, and says how much is missing."""
    cut = cut_answer(text, budget)
    assert estimate_text_tokens(cut) <= budget or not cut
    whole = text.strip()
    if cut and cut != whole:
        kept, _, mark = cut.rpartition("\n")
        assert whole.startswith(kept)
        assert f"{len(whole) - len(kept):,} more characters" in mark
    cut.encode("utf-8", "surrogatepass")


def test_a_refresh_names_its_time_and_each_source() -> None:
    """One message: a line with an absolute time, and a part for each answer that names who said it."""
    made = compose_refresh(
        [_answer("Dentist at 10."), _answer("Rent is due.", source=HOME.name)], at=minute(9), cap_tokens=2000
    )
    assert made is not None
    view = read_wire(made.wire)
    header, *parts = view.parts
    assert header.text == name_refresh(minute(9)) == "[Context refresh - 2031-03-03 08:09 UTC]"
    assert [(find_source(part), part.text) for part in parts] == [
        (WORK.name, "Dentist at 10."),
        (HOME.name, "Rent is due."),
    ]
    assert made.answered == (Answered(WORK.name, minute(9)), Answered(HOME.name, minute(9)))
    assert made.left_out == ()


def test_what_no_longer_fits_is_left_out_whole() -> None:
    """The total stays under the cap; a source that is left out does not count as answered."""
    text = "One two three four five six seven. " * 20
    cost = estimate_text_tokens(text.strip()) + FENCE_TOKENS
    answers = [_answer(text, source=f"call://{number}") for number in range(3)]
    made = compose_refresh(answers, at=minute(9), cap_tokens=2 * cost)
    assert made is not None
    assert (made.tokens, made.left_out) == (2 * cost, ("call://2",))
    assert [one.source for one in made.answered] == ["call://0", "call://1"]
    assert compose_refresh(answers, at=minute(9), cap_tokens=10) is None


def test_what_is_told_comes_first_and_counts() -> None:
    """A refresh that goes on from another shows what that one says, once, unless its source has a newer answer."""
    answers = [_answer("Old rain.", source=WORK.name), _answer("Old rent.", source=HOME.name)]
    before = _stored(compose_refresh(answers, at=minute(5), cap_tokens=2000))
    made = compose_refresh([_answer("New rain.")], at=minute(9), cap_tokens=2000, before=before)
    assert made is not None
    parts = read_wire(made.wire).parts[1:]
    assert [(find_source(part), part.text) for part in parts] == [(HOME.name, "Old rent."), (WORK.name, "New rain.")]
    assert (made.answered, made.sources_count) == ((Answered(WORK.name, minute(9)),), 2)
    assert read_asked(_stored(made)) == dict.fromkeys((HOME.name, WORK.name), minute(0))
    assert made.tokens == sum(estimate_text_tokens(part.text) + FENCE_TOKENS for part in parts)
    assert compose_refresh([_answer("New rain.")], at=minute(9), cap_tokens=made.tokens - 1, before=before) is None


@pytest.mark.parametrize("name", ["work", "x" * 200, "hand://a>>>b", "hand://\u202eevil", 7, None])
def test_a_name_that_is_none_is_not_shown(name: object) -> None:
    """What a part gives for its source stands in a fence only where it looks like one."""
    view = read_wire({"role": "user", "content": [{"type": "text", "text": "Hi.", SOURCE_KEY: name}]})  # type: ignore[dict-item]
    assert find_source(view.parts[0]) == "outside"  # type: ignore[arg-type]  # a text part


def test_answers_are_noted_beside_others() -> None:
    """The newest answer of each source is kept, in the order of their names."""
    state = note_answers(BACK, [Answered("b://b", minute(1)), Answered("a://a", minute(2))])
    state = note_answers(state, [Answered("b://b", minute(3))])
    assert state.answered == (Answered("a://a", minute(2)), Answered("b://b", minute(3)))
