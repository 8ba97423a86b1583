import pytest

from everfold.core.log.appending import AppendPlan, plan_append, plan_append_stepwise
from everfold.core.log.messages import Message
from everfold.core.log.state import SessionState
from everfold.core.primitives.json_values import JsonObject
from everfold.testing.kit.builders import budget_of, calls, incoming, result, session_record, user


def _append(*batches: list[JsonObject]) -> tuple[list[AppendPlan], dict[int, Message], dict[int, int]]:
    """The plans of appends one after the other, and every message and prefix sum as they leave it stored."""
    state, plans = SessionState(), list[AppendPlan]()
    messages, sums = dict[int, Message](), dict[int, int]()
    for batch in batches:
        step = (
            {seq: messages[seq] for seq in range(state.open_step.first_seq, state.last_seq + 1)}
            if state.open_step
            else {}
        )
        budget = budget_of(session_record().settings, state)
        plan = plan_append(state, [incoming(wire) for wire in batch], budget, step=step, session="ses_1")
        stored = [*((one.message, one.sum_tokens) for one in plan.appended), *plan.settled]
        messages.update((message.seq, message) for message, _ in stored)
        sums.update((message.seq, sum_tokens) for message, sum_tokens in stored)
        plans.append(plan)
        state = plan.state
    return plans, messages, sums


def test_a_step_that_closes_as_it_stands_writes_nothing_again() -> None:
    """Results that fit the step's share leave what is stored of the step alone, and the prefix sums hold."""
    plans, messages, sums = _append(
        [user("Look it up.")], [calls("c1", "c2")], [result("c1", "high tide at six")], [result("c2", "wind from west")]
    )
    assert plans[-1].settled == ()
    assert [messages[seq].is_boundary for seq in (1, 2, 3, 4)] == [True, False, False, True]
    assert [sums[seq] for seq in (1, 2, 3, 4)] == [
        sum(messages[at].tokens for at in range(1, seq + 1)) for seq in (1, 2, 3, 4)
    ]
    assert plans[-1].state.safe_sum_tokens == sums[4]


def test_what_stands_behind_a_message_that_changes_its_size_is_settled() -> None:
    """An interrupted step writes its first message again with what the missing result costs, and every sum behind it."""
    plans, messages, sums = _append(
        [user("Look it up.")], [calls("c1", "c2")], [result("c1", "high tide at six")], [user("Never mind.")]
    )
    assert [message.seq for message, _ in plans[-1].settled] == [2, 3]
    assert messages[3].is_boundary
    assert [sums[seq] for seq in (1, 2, 3, 4)] == [
        sum(messages[at].tokens for at in range(1, seq + 1)) for seq in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize(("chars", "slices"), [(10, 3), (3_000, 20), (9_000, 60)])
def test_a_batch_pauses_after_so_many_bytes_too(chars: int, slices: int) -> None:
    """A batch of long messages pauses oftener than one of short messages, and places every message."""
    state = SessionState()
    batch = [incoming(user(f"{at} " + "x" * chars)) for at in range(60)]
    budget = budget_of(session_record().settings, state)
    steps = plan_append_stepwise(state, batch, budget, step={}, session="ses_1")
    assert sum(1 for _ in steps) == 2 * slices - 1, "between the slices placed, and after each slice indexed"
    placed = plan_append(state, batch, budget, step={}, session="ses_1").appended
    assert [one.message.view.text for one in placed] == [item.view.text for item in batch]
