"""Which user messages are kept, where a compaction is due, and what former versions stored of both."""

from dataclasses import replace

import pytest

from everfold.core.compaction.held import choose_held, offer_note, settle_running, stands_alone
from everfold.core.compaction.layout import NO_QUOTES, Asked, HeldMessage, Quotes, held_from_row, held_to_row
from everfold.core.compaction.planning import measure_trigger
from everfold.core.log.budget import Policy, share_budget, upgrade_ratios
from everfold.core.log.calibration import Calibration
from everfold.core.log.growth import Growth
from everfold.core.log.messages import Note
from everfold.core.log.state import SessionState
from everfold.core.statements.reading import find_extract_lines
from everfold.testing.kit.builders import minute

BUDGET = share_budget(16_000, Policy(), calibration=Calibration())


def said(text: str) -> Note:
    """What a user said, as the store notes it."""
    lines = find_extract_lines(text, seq=2, origin="user", is_result=False, said_at=minute(2))
    size = len(text) // 4 + 8
    return Note(
        seq=2,
        kind="user",
        origin="user",
        name=None,
        said_at=minute(2),
        tokens=size,
        raw_tokens=size,
        is_boundary=True,
        keep=False,
        content_hash="c",
        sum_tokens=size,
        turn_seq=2,
        turns_count=2,
        lines=lines,
    )


@pytest.mark.parametrize(
    "text",
    [
        "Do it.",
        "Good, off with it.",
        "Yes please!",
        "That one.",
        "👍",
        "The blue one.",
        "<code>1</code>\n<output>\n</output>",
        "<command-name>/exit</command-name>\n  <command-message>leave the session</command-message>",
    ],
)
def test_a_message_that_says_nothing_alone_is_not_kept(text: str) -> None:
    """A user message that tells nothing without the one before it can only fold."""
    assert not stands_alone(said(text))
    assert offer_note(said(text), SessionState(head_seq=1, turn_seq=3), BUDGET) is None


@pytest.mark.parametrize(
    "text",
    [
        "Please send the parcel to Harbour Street 4.",
        "My sister Ruth moved to Bergen last spring.",
        "Never call me on Sundays.",
        "Order 4411",
        "我们下周去北京看奶奶",
    ],
)
def test_a_message_with_content_is_kept(text: str) -> None:
    """A user message that tells something alone can be kept."""
    offered = offer_note(said(text), SessionState(head_seq=1, turn_seq=3), BUDGET)
    assert offered is not None
    assert offered.hold == "slice"


def asks(text: str) -> Note:
    """What the assistant said before it."""
    lines = find_extract_lines(text, seq=1, origin="assistant", is_result=False, said_at=minute(1))
    return replace(said(text), seq=1, kind="assistant", origin="assistant", lines=lines)


QUESTION = "Which jacket shall I pack for Bergen?"


@pytest.mark.parametrize("text", ["The blue one.", "Yes, 50 degrees."])
def test_a_short_answer_is_kept_with_its_question(text: str) -> None:
    """What tells little alone can be kept with the question of the message before it, and counts with its words."""
    before = asks(f"Your flight is booked. {QUESTION}")
    held = offer_note(said(text), SessionState(head_seq=1, turn_seq=3), BUDGET, before=before)
    assert held is not None
    assert held.asked is not None
    assert held.hold == "slice"
    assert (held.asked.seq, held.asked.start, held.asked.length) == (1, 23, len(QUESTION))
    assert held.tokens == said(text).tokens + held.asked.tokens
    assert held.without_asked() == HeldMessage(seq=2, tokens=said(text).tokens, hold="slice")


@pytest.mark.parametrize("text", ["Do it.", "Yes please!", "👍"])
def test_what_says_nothing_is_not_kept_with_a_question(text: str) -> None:
    """A message without a telling word folds: the digest has it with its question."""
    state = SessionState(head_seq=1, turn_seq=3)
    assert offer_note(said(text), state, BUDGET, before=asks(QUESTION)) is None


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("My sister Ruth moved to Bergen last spring and likes it there.", QUESTION),
        ("Order 4411", "Your flight is booked."),
    ],
)
def test_what_answers_nothing_stands_without_a_question(text: str, before: str) -> None:
    """Who says more than a few words says what it is about, and without a question nothing is quoted."""
    held = offer_note(said(text), SessionState(head_seq=1, turn_seq=3), BUDGET, before=asks(before))
    assert held == offer_note(said(text), SessionState(head_seq=1, turn_seq=3), BUDGET)


def test_a_running_answer_gets_its_question_with_its_range() -> None:
    """The running message stands apart without a line over it; the line counts from when it stands in its range."""
    running = offer_note(said("The blue one."), SessionState(turn_seq=2), BUDGET, before=asks(QUESTION))
    assert running is not None
    assert running.asked is not None
    assert (running.hold, running.tokens) == ("running", said("The blue one.").tokens)
    settled = settle_running(running, SessionState(turn_seq=9))
    assert (settled.hold, settled.tokens) == ("slice", running.tokens + running.asked.tokens)


def test_a_message_over_half_of_the_slice_folds() -> None:
    """One message takes at most half of the kept slice."""
    note = replace(said("The harbour master wrote about berth 12."), raw_tokens=BUDGET.kept_tokens // 2 + 1)
    assert offer_note(note, SessionState(head_seq=1, turn_seq=3), BUDGET) is None


def test_the_oldest_leave_in_a_batch() -> None:
    """A slice that is over lets its oldest go down to 0.8 of it; the head and the running message stay."""
    held = [HeldMessage(seq=seq, tokens=100, hold="slice") for seq in range(2, 12)]
    around = [HeldMessage(seq=1, tokens=500, hold="head"), HeldMessage(seq=12, tokens=500, hold="running")]
    stays = choose_held([*around, *held], kept_tokens=900, pinned_tokens=0, message_tokens=100)
    assert [it.seq for it in stays] == [1, *range(5, 12), 12]


@pytest.mark.parametrize(
    ("tokens", "stays"),
    [
        ([50, 50, 630], [4]),  # 0.8 of the share is passed by the newest alone
        ([50, 50, 1800], [2, 3]),
        ([50, 1800, 50], [2, 4]),
        ([250, 250, 250], [3, 4]),
    ],
)
def test_a_pin_that_cannot_fit_takes_no_other_with_it(tokens: list[int], stays: list[int]) -> None:
    """A pin above its share is passed over, the newest that fits always stays, and what stays is chosen again as it is."""
    pins = [HeldMessage(seq=seq, tokens=size, hold="pin") for seq, size in enumerate(tokens, 2)]
    chosen = choose_held(pins, kept_tokens=0, pinned_tokens=675, message_tokens=0)
    assert [it.seq for it in chosen] == stays
    assert choose_held(chosen, kept_tokens=0, pinned_tokens=675, message_tokens=0) == chosen


@pytest.mark.parametrize(("system_tokens", "stays"), [(500, [2, 3]), (100, [2, 3, 4])])
def test_a_system_message_takes_what_the_pins_leave(system_tokens: int, stays: list[int]) -> None:
    """A system message in the middle of the log never removes a pin of the user, whatever its size and age."""
    pins = [HeldMessage(seq=seq, tokens=250, hold="pin") for seq in (2, 3)]
    system = HeldMessage(seq=4, tokens=system_tokens, hold="system")
    chosen = choose_held([*pins, system], kept_tokens=0, pinned_tokens=675, message_tokens=0)
    assert [it.seq for it in chosen] == stays


def test_the_newest_stays_where_it_takes_most_of_the_slice() -> None:
    """A message that fits the kept share stays, also where it leaves the others no room."""
    held = [HeldMessage(seq=seq, tokens=tokens, hold="slice") for seq, tokens in enumerate([50, 50, 90], 2)]
    assert [it.seq for it in choose_held(held, kept_tokens=100, pinned_tokens=0, message_tokens=90)] == [4]


def test_a_fast_log_is_compacted_earlier_where_a_model_writes() -> None:
    """The trigger leaves room for what the log grows by while a model writes, down to half of the way to the target."""
    policy = Policy(trigger_ratio=0.8, awaits_model=True)
    budget = share_budget(16_000, policy, calibration=Calibration())
    slow, fast = SessionState(), SessionState(growth=Growth(tokens=30_000, at=minute(1), digest_secs=60))
    middling = SessionState(growth=Growth(tokens=2_400, at=minute(1), digest_secs=120))
    assert measure_trigger(slow, policy, budget) == budget.trigger_tokens
    assert measure_trigger(middling, policy, budget) == budget.hard_limit_tokens - 3_600
    assert measure_trigger(fast, policy, budget) == (budget.target_tokens + budget.trigger_tokens) // 2
    assert measure_trigger(fast, replace(policy, awaits_model=False), budget) == budget.trigger_tokens


def test_a_held_message_reads_back() -> None:
    """A held message reads back as it was written, and as a former version wrote it."""
    held = HeldMessage(seq=7, tokens=12, hold="pin", keep=True, quotes=Quotes(30, 4))
    assert held_from_row(held_to_row(held)) == held
    assert held_from_row([7, 12, "pin", True]) == replace(held, quotes=NO_QUOTES)
    assert held_from_row([7, 12, "pin", True, 30, 4]) == held
    answer = replace(held, asked=Asked(6, 40, 31, 19))
    assert held_from_row(held_to_row(answer)) == answer


@pytest.mark.parametrize(
    "given",
    [
        {"target_ratio": 0.56, "kept_ratio": 0.20, "pinned_ratio": 0.08, "standing_ratio": 0.06},
        {"target_ratio": 0.30, "kept_ratio": 0.25, "pinned_ratio": 0.25, "standing_ratio": 0.05},
        {"target_ratio": 0.02, "kept_ratio": 0.01, "pinned_ratio": 0.0, "standing_ratio": 0.01, "digest_ratio": 0.01},
    ],
)
def test_stored_ratios_of_a_former_version_open(given: dict[str, float]) -> None:
    """A policy that was stored without a share for the tail is one that its own checks accept."""
    policy = replace(Policy(), **upgrade_ratios({"trigger_ratio": 0.8, "hard_limit_ratio": 0.95, **given}))
    assert policy.target_ratio == given["target_ratio"]
    assert upgrade_ratios({"tail_ratio": 0.3}) == {"tail_ratio": 0.3}
