"""What a person or an agent asks to be done to the block."""

from dataclasses import replace

import pytest
from tests.support.candidates import POLICY, Ledger, author, count_ids

from everfold.core.memory.items import Item, ItemId, Writer
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.merging.decisions import Merge, fit_block
from everfold.core.merging.operations import Add, Operation, Remove, Replace, plan_operations
from everfold.errors import ForbiddenError, InvalidInputError, LimitError, NotFoundError
from everfold.testing.kit.builders import minute
from everfold.testing.kit.memory_builders import item


def _noted(id_: str, statement: str) -> Item:
    """What the agent noted itself."""
    return replace(item(id_, statement, tier="agent"), origin="assistant")


def _operate(
    ledger: Ledger, *operations: Operation, written_by: Writer = "agent", policy: MemoryPolicy = POLICY
) -> Merge:
    merged = plan_operations(
        operations, ledger.known, policy=policy, author=author(written_by), new_ids=count_ids("add_")
    )
    ledger.put(merged.items)
    return merged


def test_agent_adds_replaces_and_removes_its_notes() -> None:
    """An agent's operations come to revisions of its own notes, all in one merge."""
    ledger = Ledger(_noted("itm_1", "Tests run with make."), _noted("itm_2", "The server is called Oslo."))
    merged = _operate(
        ledger,
        Add(statement="Deploys take ten minutes.", tier="agent"),
        Replace(old_text="with make", statement="Tests run with make check."),
        Remove(old_text="oslo"),
    )
    assert ledger.list_current() == ["Tests run with make check.", "Deploys take ten minutes."]
    assert (ledger.items[ItemId("itm_2")].status, len(merged.items)) == ("expired", 3)


_OLD, _NEW = "The staging server is at 10.0.0.5.", "The staging server is at 10.0.0.7."
_BOTH = "The staging server is at 10.0.0.5 and needs a tunnel."


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize(
    ("named", "added"),
    [("staging server", _NEW), ("staging server", _OLD), ("staging server", _BOTH), ("tunnel", _BOTH)],
)
def test_what_is_removed_and_added_at_once_is_there(named: str, added: str, *, is_turned: bool) -> None:
    """What an entry of the block gives way to stands in its place, whichever comes first; a text means what was there before."""
    ledger = Ledger(_noted("itm_1", _OLD), _noted("itm_2", "The tunnel of the harbour is closed."))
    operations = [Remove(old_text=named), Add(statement=added, tier="agent")]
    _operate(ledger, *(reversed(operations) if is_turned else operations))
    left = {"staging server": "The tunnel of the harbour is closed.", "tunnel": _OLD}[named]
    assert set(ledger.list_current()) == {left, added}


def test_what_was_only_just_added_can_be_changed() -> None:
    """A text that no entry of the block has means one that the same batch adds."""
    ledger = Ledger()
    adding = Add(statement=_NEW, tier="agent")
    _operate(ledger, Replace(old_text="10.0.0.7", statement=_OLD), adding)
    assert ledger.list_current() == [_OLD]


def test_text_must_name_one_entry() -> None:
    """No match and several are refused; several come with previews; the whole of one entry names it."""
    ledger = Ledger(_noted("itm_1", "Tests run."), _noted("itm_2", "Tests run on Oslo."))
    with pytest.raises(NotFoundError):
        _operate(ledger, Remove(old_text="Bergen"))
    with pytest.raises(InvalidInputError, match=r"2 entries.*Tests run\..*Tests run on Oslo"):
        _operate(ledger, Remove(old_text="Tests"))
    _operate(ledger, Remove(old_text="tests run."))
    assert ledger.list_current() == ["Tests run on Oslo."]


def test_agent_archives_but_does_not_touch_the_users_words() -> None:
    """An agent can move the user's statement out of the block, not change it, and not what was to be remembered."""
    asked = replace(item("itm_2", "Remember the gate code 4711."), is_explicit=True)
    ledger = Ledger(item("itm_1", "I live in Lyon."), asked)
    _operate(ledger, Remove(old_text="Lyon"))
    assert (ledger.items[ItemId("itm_1")].status, ledger.items[ItemId("itm_1")].shelf) == ("active", "archive")
    for operation in (Replace(old_text="4711", statement="4712"), Remove(old_text="4711")):
        with pytest.raises(ForbiddenError):
            _operate(ledger, operation)


def test_budget_counts_at_the_end_of_a_batch() -> None:
    """What would be over is refused as a whole, and taken where something else makes room, in whatever order."""
    policy = MemoryPolicy(system="structured", agent_char_limit=60)
    ledger = Ledger(_noted("itm_1", "The server is called Oslo."))
    adding = Add(statement="Deploys take ten minutes.", tier="agent")
    with pytest.raises(LimitError, match=r"agent memory would have \d+ of 60"):
        _operate(ledger, adding, policy=policy)
    assert ledger.list_current() == ["The server is called Oslo."]
    _operate(ledger, adding, Remove(old_text="Oslo"), policy=policy)
    assert ledger.list_current() == ["Deploys take ten minutes."]


def test_shrinking_a_block_that_is_over_is_allowed() -> None:
    """Where the limit was lowered, what makes the block smaller is taken although it is still over."""
    policy = MemoryPolicy(system="structured", agent_char_limit=10)
    ledger = Ledger(_noted("itm_1", "The server is called Oslo."), _noted("itm_2", "Tests run."))
    _operate(ledger, Remove(old_text="Tests"), policy=policy)
    assert ledger.list_current() == ["The server is called Oslo."]


def test_agent_does_not_say_what_the_user_wants() -> None:
    """A preference of the person is not taken from an agent."""
    with pytest.raises(InvalidInputError, match="own words only"):
        _operate(Ledger(), Add(statement="Likes red.", tier="user", item_kind="preference"))


def test_duplicates_are_taken_once() -> None:
    """What is known already is no failure and no change."""
    ledger = Ledger(item("itm_1", "I live in Lyon."))
    assert _operate(ledger, Add(statement="I live in Lyon", tier="user")).items == ()


def test_block_is_fitted_around_what_changed() -> None:
    """What comes back into the block pushes out what was seen longest ago, and both are one revision further."""
    policy = MemoryPolicy(system="structured", user_char_limit=60)
    old = item("itm_1", "I live in Lyon with my cats.")
    fresh = replace(item("itm_2", "I work in Ghent by the river.", revision=4), last_seen_at=minute(90))
    changed, moved = fit_block([fresh], [old], policy=policy, author=author())
    assert (changed, moved.id, moved.shelf, moved.revision) == (fresh, "itm_1", "archive", 2)
