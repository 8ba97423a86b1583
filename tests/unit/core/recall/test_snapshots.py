"""The snapshot of memory and the delta since."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.memory.items import Item, ItemId, Tier, identify
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.topics import Topic, TopicId
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.origins import Origin
from everfold.core.recall.snapshots import (
    Snapshot,
    compose_delta,
    compose_snapshot,
    find_shown,
    is_reworded,
    reserve_snapshot,
)
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICY = MemoryPolicy(system="structured")
ANN, COACH = UserId("ann"), AgentId("coach")


def item(number: int, statement: str, *, tier: Tier = "user", origin: Origin = "user", **changes: object) -> Item:
    """An active item that was said `number` days ago."""
    moment = NOW - timedelta(days=number)
    made = Item(
        id=ItemId(f"itm_{number}"),
        user_id=ANN,
        agent_id=COACH,
        tier=tier,
        kind="fact",
        statement=statement,
        evidence=(),
        origin=origin,
        confidence=0.9,
        valid_from=moment,
        recorded_at=moment,
        last_seen_at=moment,
        changed_at=moment,
        identity=identify(statement, tier=tier, agent_id=COACH),
        written_by="heuristic",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def topic(name: str, summary: str, **changes: object) -> Topic:
    """A topic of the user tier."""
    made = Topic(
        id=TopicId(f"top_{name}"),
        user_id=ANN,
        agent_id=COACH,
        tier="user",
        name=name,
        summary=summary,
        content=summary,
        sources=(),
        origin="user",
        updated_at=NOW,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def compose(*entries: Item | Topic, policy: MemoryPolicy = POLICY, cap_tokens: int = 2000) -> Snapshot:
    """A snapshot of these."""
    return compose_snapshot(
        [it for it in entries if isinstance(it, Item)],
        [it for it in entries if isinstance(it, Topic)],
        policy=policy,
        cap_tokens=cap_tokens,
        key="ses_1",
        now=NOW,
    )


def test_nothing_is_no_text() -> None:
    """An empty memory, or one of which everything has expired, shows nothing."""
    assert compose().text == ""
    assert compose(item(1, "Ann is away", valid_to=NOW - timedelta(hours=1))).text == ""
    assert compose(topic("trip", "To Rome", expires_at=NOW)).text == ""


def test_tiers_stand_apart_with_their_share() -> None:
    """Each tier has its heading with the percentage of its limit; dates are absolute."""
    text = compose(item(3, "Ann is allergic to nuts"), item(2, "The tests run first", tier="agent")).text
    about, notes = text.split("My notes")
    assert "allergic to nuts" in about
    assert "2026-02-26" in about
    assert "tests run first" in notes
    assert "% of 1375" in about
    assert "% of 2200" in notes


def test_what_no_person_said_is_fenced() -> None:
    """Lines from tools and from outside stand between marks; the assistant's own notes and the user's do not."""
    text = compose(
        item(1, "Ann likes tea"),
        item(2, "Ann owes 400", origin="external"),
        item(3, "The build is green", tier="agent", origin="assistant"),
    ).text
    fenced = text.split("<<<untrusted")[1].split("<<<end untrusted")[0]
    assert "owes 400" in fenced
    assert "tea" not in fenced
    assert "build" not in fenced


def test_order_does_not_depend_on_what_was_said_last() -> None:
    """Saying an item again moves no byte of the snapshot."""
    one, two = item(5, "Ann likes tea"), item(4, "Ann lives in Graz")
    assert compose(one, two).text == compose(replace(one, last_seen_at=NOW), two).text


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300), max_size=40), st.integers(150, 900))
def test_limits_hold(statements: list[str], cap_tokens: int) -> None:
    """Whatever memory holds: no tier is over its characters, the whole is within its tokens, the rest is counted."""
    given_items = [item(number, text) for number, text in enumerate(statements)]
    shown = compose(*given_items, cap_tokens=cap_tokens)
    assert len(shown.items) + shown.left_out_count == len(statements)
    if shown.text:
        assert estimate_text_tokens(shown.text) + MESSAGE_OVERHEAD_TOKENS <= cap_tokens
        lines = shown.text.split("characters):\n")[1].split("[")[0]
        assert len(lines) <= POLICY.user_char_limit + 1


def test_reserve_holds_a_full_block() -> None:
    """Blocks of ordinary English at their limits fit into what is reserved for them, and off reserves nothing."""
    words = "Ann prefers morning meetings in the small room near the harbour office"
    entries = [item(n, f"{words} {n}", tier="user" if n % 2 else "agent") for n in range(60)]
    cap = reserve_snapshot(POLICY)
    unbounded = compose(*entries, cap_tokens=10_000)
    assert compose(*entries, cap_tokens=cap).text == unbounded.text
    assert unbounded.left_out_count > 0
    assert reserve_snapshot(MemoryPolicy()) == 0


def test_delta_says_what_is_new_and_what_is_no_longer() -> None:
    """New items are told, those that the snapshot shows are not told again, and what holds no more is called so."""
    tea, graz = item(5, "Ann likes tea"), item(4, "Ann lives in Graz")
    snapshot = compose(tea, graz).text
    linz = item(0, "Ann lives in Linz")
    delta = compose_delta(
        [tea, replace(graz, status="superseded", changed_at=NOW, valid_to=NOW), linz],
        snapshot=snapshot,
        cap_chars=1200,
        key="ses_1",
        now=NOW,
    )
    assert "Linz" in delta
    assert "no longer so: Ann lives in Graz" in delta
    assert "tea" not in delta


@pytest.mark.parametrize("fallen", [{"status": "quarantined"}, {"status": "expired"}, {"valid_to": NOW}])
def test_what_falls_is_told_as_fallen(fallen: dict[str, Any]) -> None:
    """An item of the snapshot that is held back, or has got an end that is past, is called no longer so."""
    graz = item(4, "Ann lives in Graz")
    changed = [replace(graz, changed_at=NOW, **fallen)]
    delta = compose_delta(changed, snapshot=compose(graz).text, cap_chars=1200, key="ses_1", now=NOW)
    assert "no longer so: Ann lives in Graz" in delta


def test_delta_names_the_old_wording() -> None:
    """An edited item is told in its new words, after the line of the snapshot that is no longer so, in that line's fence."""
    outside = item(4, "Ann owes 400", origin="external")
    snapshot = compose(outside).text
    edited = replace(outside, statement="Ann owes 300", revision=2, changed_at=NOW)
    assert is_reworded(edited, snapshot)
    assert not is_reworded(replace(outside, revision=2), snapshot)
    former = find_shown([outside, edited], snapshot)
    assert former == outside
    delta = compose_delta([edited], former={edited.id: former}, snapshot=snapshot, cap_chars=1200, key="ses_1", now=NOW)
    fenced = delta.partition("<<<untrusted")[2]
    assert fenced.index("- no longer so: Ann owes 400 (") < fenced.index("- Ann owes 300 (")


def test_an_old_wording_falls_with_its_item() -> None:
    """Whatever became of an item after its edit, what the snapshot shows of it is told as fallen, and no other words."""
    old = item(4, "Ann lives in Graz")
    edited = replace(old, statement="Ann lives in Linz", status="superseded", changed_at=NOW)
    delta = compose_delta(
        [edited], former={old.id: old}, snapshot=compose(old).text, cap_chars=1200, key="ses_1", now=NOW
    )
    assert "no longer so: Ann lives in Graz" in delta
    assert "Linz" not in delta


def test_what_is_said_anew_is_no_fallen_line() -> None:
    """The old words of an edited item that another item says now are so."""
    old = item(4, "Ann lives in Graz")
    edited, anew = replace(old, statement="Ann lives in Linz", changed_at=NOW), replace(old, id=ItemId("itm_9"))
    delta = compose_delta(
        [edited, anew], former={old.id: old}, snapshot=compose(old).text, cap_chars=1200, key="ses_1", now=NOW
    )
    assert "no longer so" not in delta
    assert "Linz" in delta


@given(st.integers(0, 60), st.integers(100, 1200))
def test_delta_keeps_the_newest_within_its_cap(count: int, cap_chars: int) -> None:
    """It is never over its cap, and what it leaves out is older than what it shows."""
    changed = [item(number, f"Ann said sentence number {number}") for number in range(count)]
    delta = compose_delta(changed, snapshot="", cap_chars=cap_chars, key="ses_1", now=NOW)
    assert len(delta) <= cap_chars
    shown = [number for number in range(count) if f"number {number} (" in delta]
    assert shown == list(range(len(shown)))


def test_a_heading_copies_no_item() -> None:
    """A topic that only groups items has no line and counts as nothing left out; one with a text of its own has its line."""
    heading = topic(
        "harbour", "2 items", content="- 2026-03-01: The berth is free. [itm_1]\n- 2026-03-02: It has power. [itm_2]"
    )
    snapshot = compose_snapshot(
        [item(1, "The berth is free.")],
        [heading, topic("music", "Plays the violin.")],
        policy=POLICY,
        cap_tokens=1000,
        key="ses_1",
        now=NOW,
    )
    assert (snapshot.topics, snapshot.left_out_count) == (("music",), 0)
    assert snapshot.text.count("The berth is free.") == 1


def test_a_delta_leaves_the_archive_to_search() -> None:
    """What is new in the archive is not told in the window."""
    found = [item(1, "We went to the fair.", shelf="archive"), item(2, "My name is Ann.")]
    delta = compose_delta(found, snapshot="", cap_chars=400, key="ses_1", now=NOW)
    assert "My name is Ann." in delta
    assert "fair" not in delta
