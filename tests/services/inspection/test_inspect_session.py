"""Looking into a session gives what is stored, page by page, and writes nothing."""

from itertools import islice

import pytest
from bench.material.logs import endless_log
from tests.support.sizes import some

from everfold import Everfold, Session
from everfold.errors import BudgetUnsatisfiableError, ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.inspection.strips import list_strips
from everfold.services.turns.show import build_shown
from everfold.testing.kit.builders import talk, user


async def fold_often(engine: Everfold, count: int) -> Session:
    """A session that was compacted so often."""
    session = await engine.session(limit=6000)
    for _ in range(count):
        await session.append(talk(6))
        await session.compact(keep_recent=2)
    assert len(await session.inspect.compactions()) == count
    return session


async def list_ids(session: Session, *, newest_first: bool, limit: int) -> list[str]:
    """The ids of all events, a page at a time."""
    ids: list[str] = []
    while page := await session.inspect.list_costed_compactions(
        after=ids[-1] if ids else None, newest_first=newest_first, limit=limit
    ):
        assert len(page) <= limit
        ids += [one.compaction.id for one in page]
    return ids


@pytest.mark.parametrize("limit", [1, 3])
async def test_cancelled_events_are_listed_once(engine: Everfold, limit: int) -> None:
    """Pages from either end give each event once, also where cancelled ones share an ordinal with another."""
    session = await fold_often(engine, 2)
    worker = session._background.worker
    for _ in range(3):
        await session.append(talk(4))
        compactor = worker.compactor(session._live)
        compaction = await compactor.committer.begin(
            (await session.inspect.compactions())[-1].plan, digest="pending", extraction="off"
        )
        assert await session.inspect.cancel(compaction.id) == [compaction.id]
    await session.append(talk(4))
    await session.compact(keep_recent=2)
    ids = [compaction.id for compaction in await session.inspect.compactions()]
    assert len(ids) == 6
    assert await list_ids(session, newest_first=False, limit=limit) == ids
    assert await list_ids(session, newest_first=True, limit=limit) == ids[::-1]


async def test_a_preview_folds_as_a_lower_limit_would_and_writes_nothing(engine: Everfold) -> None:
    """The previewed strip is that of a window at the same limit, no compaction is stored, and a limit too low is refused."""
    session = await engine.session(limit=64_000)
    await session.append([entry.wire for entry in islice(endless_log(3, messages_count=300), 300)])
    [preview] = (await session.inspect.preview_strips(limit=8000)).strips
    window = await session.window(limit=8000, preview=True)
    shown = {entry.message.seq for entry in window.entries if entry.kind == "message"}
    shown |= {message.seq for entry in window.entries if entry.kind == "range" for message in entry.kept}
    fates = [fate for fate, count in preview.strip.runs for _ in range(count)]
    assert {seq for seq, fate in enumerate(fates, 1) if fate not in ("digest", "rollup", "quote")} == shown
    assert len(shown) < len(fates) == 300
    assert await session.inspect.compactions() == []
    [now] = (await session.inspect.list_strips()).strips
    assert {fate for fate, _ in now.strip.runs} == {"tail"}
    with pytest.raises(BudgetUnsatisfiableError):
        await session.inspect.preview_strips(limit=200)


async def test_what_belongs_to_another_session_is_not_found(engine: Everfold) -> None:
    """Reading, retrying and cancelling an event of another session is refused as one that no session has."""
    session = await fold_often(engine, 1)
    other = await engine.session(agent="clerk", limit=6000)
    [compaction] = await session.inspect.compactions()
    for asking in (
        other.inspect.read_compaction(compaction.id),
        other.inspect.list_costed_compactions(after=compaction.id),
        other.inspect.list_strips(compaction=compaction.id),
        other.inspect.retry(compaction.id),
        other.inspect.cancel(compaction.id),
    ):
        with pytest.raises(NotFoundError, match="has no compaction"):
            await asking


async def test_an_inherited_event_is_retried_where_it_was_begun(engine: Everfold) -> None:
    """A branch shows what it inherited, and says where it can be tried again."""
    session = await fold_often(engine, 1)
    [compaction] = await session.inspect.compactions()
    branch = await session.branch(compaction.plan.last_seq)
    assert (await branch.inspect.read_compaction(compaction.id)).compaction == compaction
    with pytest.raises(ConflictError, match=session.id):
        await branch.inspect.retry(compaction.id)


async def test_looking_writes_nothing(engine: Everfold) -> None:
    """Whatever is looked at, the state of the session is the same afterwards, its revision too."""
    session = await fold_often(engine, 2)
    before = await session.inspect.state()
    inspector = session.inspect
    await inspector.standing()
    await inspector.read_range(1, 5)
    await inspector.list_costed_compactions()
    await inspector.list_strips()
    await inspector.list_digests()
    assert await session.inspect.state() == before


async def check_standing(session: Session) -> None:
    """Where a session stands says the same as the window that its layout shows."""
    window = await build_shown(session._store, session._live, limit_tokens=None, suffix=None)
    assert (await session.inspect.standing()).report == window.report


@pytest.mark.moves_prefix  # messages are erased
async def test_where_a_session_stands_is_what_its_window_would_say(engine: Everfold) -> None:
    """At every length, after folds, erased messages, refreshes and counts of the provider, both reports are equal."""
    session = await engine.session(limit=6000, system="Be kind.")
    await check_standing(session)
    await session.append({"role": "system", "content": "Always."})
    log = endless_log(1, messages_count=240)
    for at in range(8):
        await session.append([next(log).wire for _ in range(30)])
        await check_standing(session)
        if at in {2, 5}:
            await session.compact(keep_recent=4)
        if at in {1, 4, 6}:
            await session.append(user(f"It is {at}."), origin="external", source="refresh")
            await session.erase((await session.inspect.state()).last_seq - 3)
        await check_standing(session)
    await session.observe_usage(await session.window(), counted_tokens=9000)
    await check_standing(session)
    for seq in (1, 2, 3):
        await session.erase(seq)
    await check_standing(session)
    await session.append([user("One."), user("Two.")])
    await session.retract()
    await check_standing(session)


async def test_where_a_session_stands_reads_no_message(engine: Everfold, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log that nothing has folded, its standing is told without a message or a note of it."""
    session = await engine.session(limit=6000)
    await session.append([entry.wire for entry in endless_log(1, messages_count=300)])
    opened = await engine.session(id=session.id)
    for name in ("read_messages", "read_notes"):
        monkeypatch.setattr(session._store, name, None)
    assert (await opened.inspect.standing()).report.message_count == 300


async def test_the_strips_of_a_long_log_read_a_few_messages(engine: Everfold, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strips of a long log read no message, and a few dozen notes for each compaction."""
    session = await engine.session(limit=6000)
    batch_count = some(100, 50)
    log = endless_log(1, messages_count=10 * batch_count)
    for _ in range(10):
        await session.append([next(log).wire for _ in range(batch_count)])
        await session.compact(keep_recent=4)
    store: Store = session._store
    read_notes, seen = store.read_notes, 0

    async def count_notes(session_id: object, seqs: object) -> object:
        nonlocal seen
        found = await read_notes(session_id, seqs)  # type: ignore[arg-type]  # passed on
        seen += len(found)
        return found

    async def refuse(*_: object) -> object:
        raise AssertionError("a message was read")

    monkeypatch.setattr(store, "read_notes", count_notes)
    monkeypatch.setattr(store, "read_messages", refuse)
    strips = await list_strips(store, session._live, limit_count=5)
    assert len(strips) == 6
    assert sum(count for _, count in strips[-1].strip.runs) == 10 * batch_count
    assert seen <= 5 * 24
