import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import apsw
import pytest
from bench.material.logs import coding_log, endless_log
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st
from tests.support.sizes import STORES, examples, some

from everfold.adapters.sql.database import SqlValue
from everfold.adapters.sql.packed_messages import unpack_message
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import Settings, load_settings
from everfold.core.compaction.folding import Fold
from everfold.core.forgetting.messages import Erasure
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import CompactionId
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.windows.rendering import render
from everfold.engine import Everfold
from everfold.errors import BudgetUnsatisfiableError, ConflictError, NotFoundError
from everfold.session import Session
from everfold.testing import (
    check_anthropic_request,
    check_openai_request,
    check_window_rules,
    st_anthropic_log,
    st_openai_log,
)
from everfold.testing.contract.compaction import begin, cancel
from everfold.testing.kit.builders import assistant, calls, result, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

NEEDLE = "qzxvelmork"
"""One word for the search index too, so that nothing but an erased message can be found by it."""
LIMIT_TOKENS = 6000
SLOW = settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

pytestmark = pytest.mark.moves_prefix  # an erase takes words out of what was shown


def open_engine(store: SqliteStore, settings: Settings | None = None) -> Everfold:
    """An engine over a store, whose clock stands still."""
    return make_engine(store, settings or Settings(), clock=FakeClock(), ids=CountingIds())


def plant(wire: JsonObject) -> JsonObject:
    """The message with the needle in everything that its sender chose, call ids left out."""
    planted = cast("JsonObject", json.loads(json.dumps(wire)))
    planted["content"] = _plant_content(planted.get("content"))
    for call in cast("list[dict[str, JsonObject]]", planted.get("tool_calls") or []):
        call["function"] |= {"name": NEEDLE, "arguments": json.dumps({"path": f"/srv/{NEEDLE}"})}
    if planted["role"] == "user":
        planted["name"] = NEEDLE
    return planted


def _plant_content(content: JsonValue) -> JsonValue:
    said = f"Remember: never open the {NEEDLE} before noon, its code is {NEEDLE}. "
    if not isinstance(content, list):
        return said + (content if isinstance(content, str) else "")
    planted: list[JsonValue] = []
    for block in content:
        made = dict(cast("JsonObject", block))
        if made.get("type") == "text":
            made["text"] = f"{said}{made['text']}"
        elif made.get("type") == "tool_result":
            made["content"] = _plant_content(made["content"])
        elif made.get("type") == "tool_use":
            made |= {"name": NEEDLE, "input": {"path": NEEDLE}}
        planted.append(made)
    return planted


async def check_gone(store: SqliteStore, *sessions: Session) -> None:
    """Nothing that can be read holds the needle, every window is valid, and every certificate holds."""
    for session in sessions:
        window = await session.window()
        for provider in ("openai", "anthropic"):
            request = render(window, provider)
            assert NEEDLE not in json.dumps(request)
            assert check_window_rules(request, kind=provider) == []
        verification = await session.verify()
        assert verification.problems == ()
        state = await session.inspect.state()
        assert NEEDLE not in str(state)
        assert NEEDLE not in str(await session.messages(1, max(state.last_seq, 1)))
        assert await session.search(NEEDLE) == []
        compactions = await session.inspect.compactions(limit=1000)
        assert NEEDLE not in str(compactions)
        for compaction in compactions:
            if compaction.state != "cancelled":
                assert NEEDLE not in str(await store.read_layout(compaction.id))
            ids = [id_ for id_, _ in compaction.certificate.digests] if compaction.certificate else []
            assert NEEDLE not in str(await store.read_digests(ids))
    assert NEEDLE.encode() not in await store._reader.call(partial(store._reader.database.connection.serialize, "main"))


class Story:
    """A log with the needle in message `seq`, how long it is when that is erased, when it is folded, and a branch point."""

    def __init__(
        self,
        log: Sequence[JsonObject],
        *,
        seq: int,
        erased_after: int,
        folded_after: tuple[int, ...],
        branched_after: int,
    ) -> None:
        self.log = log
        self.seq = seq
        self.erased_after = erased_after
        self.folded_after = folded_after
        self.branched_after = branched_after

    def __repr__(self) -> str:
        """Everything, each message by its first characters only."""
        plan = (self.seq, self.erased_after, self.folded_after, self.branched_after)
        return f"Story{plan}: {[json.dumps(wire)[:120] for wire in self.log]}"


@st.composite
def _story(draw: st.DrawFn) -> Story:
    wires = draw(
        st.one_of(
            st.integers(0, 10**6).map(lambda seed: [one.wire for one in endless_log(seed, messages_count=70)]),
            st.integers(0, 10**6).map(lambda seed: [one.wire for one in coding_log(seed, turns_count=2)][:70]),
            st_openai_log(tidy=True, max_messages=40).map(lambda log: log.messages),
            st_anthropic_log(tidy=True, max_messages=40).map(lambda log: log.messages),
        ).filter(bool)
    )
    at = draw(st.integers(0, len(wires) - 1))
    log = [plant(wire) if index == at else wire for index, wire in enumerate(cast("list[JsonObject]", wires))]
    erased_after = draw(st.integers(at + 1, len(log)))
    folds = tuple(sorted(draw(st.lists(st.integers(1, len(log)), max_size=4))))
    return Story(
        log,
        seq=at + 1,
        erased_after=erased_after,
        folded_after=folds,
        branched_after=draw(st.integers(1, len(log))),
    )


def _digest_of_one_size() -> Story:
    """One whose digest is as large without the message as with it, so that the layout stays equal."""
    wires = [cast("JsonObject", one.wire) for one in coding_log(1999, turns_count=2)]
    log = [plant(wire) if index == 12 else wire for index, wire in enumerate(wires)]
    return Story(log, seq=13, erased_after=20, folded_after=(17, 20), branched_after=1)


@SLOW
@given(story=_story())
@example(story=_digest_of_one_size())
def test_an_erased_message_is_gone_for_good(story: Story) -> None:
    """Whatever was folded or branched before or after, nothing says an erased message's words, and all else is as it was."""

    async def run() -> None:
        store = SqliteStore(IN_MEMORY)
        session = await open_engine(store).session(limit=LIMIT_TOKENS)
        branch: Session | None = None
        for count, wire in enumerate(story.log, 1):
            await session.append(wire)
            if count in story.folded_after:
                await session.compact(keep_recent=3)
            if branch is None and count >= story.branched_after and (await session.inspect.state()).safe_seq == count:
                branch = await session.branch(count)
                await branch.append(talk(2))
            if count == story.erased_after:
                before = await session.messages(1, count)
                await session.window()
                await session.erase(story.seq)
                assert await session.messages(1, count) == [one for one in before if one.seq != story.seq]
                await check_gone(store, session, *([branch] if branch else []))
        others = [branch] if branch else []
        await check_gone(store, session, *others)
        for one in (session, *others):
            await one.append(user("And now?"))
            await one.compact(keep_recent=1)
        await check_gone(store, session, *others)

    try:
        anyio.run(run)
    except BudgetUnsatisfiableError:  # the system messages that lead a made log may leave no room
        reject()


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return SqliteStore(IN_MEMORY)
    return await SqliteStore.open(str(tmp_path / "everfold.db"))


async def fill(session: Session, *, turns_count: int = 30) -> int:
    """A log that was folded several times, and the message in it that holds the needle."""
    await session.append(talk(turns_count // 2))
    (seq,) = await session.append(user(f"Remember: the {NEEDLE} is never opened before noon."))
    await session.append(talk(turns_count, first=turns_count))
    await session.window()
    return seq


async def test_every_event_forgets_it(store: SqliteStore) -> None:
    """Layouts and digests of events that are no longer in force lose it too: a branch may take them up."""
    settings = load_settings(overrides={"compaction": {"kept_ratio": 0.2}})
    session = await open_engine(store, settings).session(limit=LIMIT_TOKENS)
    seq = await fill(session, turns_count=14)
    for berth in range(1, some(250, 120)):
        await session.append(
            [user(f"How is berth {berth}?"), assistant(f"Berth {berth} has the mark BX-{berth:04}. " * 6)]
        )
        await session.window()
    compactions = await session.inspect.compactions(limit=1000)
    layouts = [await store.read_layout(compaction.id) for compaction in compactions]
    assert sum(any(line.seq == seq for line in layout.standing) for layout in layouts) > 1
    assert sum(seq in layout.held_seqs for layout in layouts) > 1
    await session.erase(seq)
    for compaction, layout in zip(compactions, layouts, strict=True):
        new = await store.read_layout(compaction.id)
        assert new.body_tokens <= layout.body_tokens
        assert new.standing_tokens <= layout.standing_tokens
    early = await session.branch(max(compaction.plan.last_seq for compaction in compactions[:3]))
    await check_gone(store, session, early)
    await store.close()


async def test_a_repeated_statement_stands_by_its_other_message(store: SqliteStore) -> None:
    """When the message that a standing statement is quoted from is erased, an older one that says the same takes over."""
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    said = "Never sail before noon, please."
    await session.append([user("Hello."), assistant("Hello.")])
    (first,) = await session.append(user(said))
    (second,) = await session.append(user(said))
    for berth in range(1, 150):
        await session.append(
            [user(f"How is berth {berth}?"), assistant(f"Berth {berth} has the mark BX-{berth:04}. " * 6)]
        )
        await session.window()
    block = (await store.read_layout(CompactionId((await session.inspect.state()).compaction_id))).standing_text
    assert f"#{second} {said}" in block
    await session.erase(second)
    block = (await store.read_layout(CompactionId((await session.inspect.state()).compaction_id))).standing_text
    assert f"#{first} {said}" in block
    assert (await session.verify()).is_sound
    await store.close()


async def test_an_erase_reaches_what_was_committed_after_many_cancellations(store: SqliteStore) -> None:
    """A compaction that shares its ordinal with more cancelled ones than a page holds forgets the message too."""
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    await session.append([*talk(2), plant(assistant("a"))])
    await session.append(talk(4, first=20))
    for number in range(100):
        await cancel(store, await begin(store, session.id, f"evt_cancelled_{number}"))
    await session.compact(keep_recent=1)
    assert NEEDLE in json.dumps(render(await session.window(), "openai"))
    await session.erase(5)
    await check_gone(store, session)


async def test_an_erase_reaches_every_branch(store: SqliteStore) -> None:
    """Branches before and after the message's compaction, and a branch of a branch, lose it together."""
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    seq = await fill(session)
    child = await session.branch(seq + 4)
    await child.append([user("Go on."), assistant("Going on.")])
    grandchild = await child.branch(seq + 5)
    early = await session.branch(seq)
    await early.append(assistant("Never before noon."))
    aside = await session.branch(seq - 1)
    await aside.window()  # reports that the session was switched, which its state then forgets
    before = await aside.inspect.state()
    await grandchild.erase(seq)
    await check_gone(store, session, child, grandchild, early, aside)
    assert await aside.inspect.state() == before
    with pytest.raises(NotFoundError):
        await session.erase(seq)
    await store.close()


def find_files(folder: Path, packed: Iterable[bytes] = ()) -> list[str]:
    """The files that hold the needle, or what was packed of it."""
    wanted = [NEEDLE.encode(), *packed]
    return [file.name for file in folder.iterdir() if any(one in file.read_bytes() for one in wanted)]


def list_packed(path: Path) -> list[bytes]:
    """How the packed messages and lines that hold the needle begin; in those the needle itself cannot be seen."""
    with closing(apsw.Connection(str(path))) as connection:
        blobs = [
            cast("bytes", blob) for row in connection.execute("SELECT content, lines FROM messages") for blob in row
        ]
    plain = {blob: cast("bytes", unpack_message(blob)) for blob in blobs if blob}
    return [blob[:48] for blob, said in plain.items() if blob != said and NEEDLE.encode() in said]


async def test_the_file_holds_nothing_of_it(tmp_path: Path) -> None:
    """After an erase neither the database file nor its log holds the words, whatever was folded before."""
    path = tmp_path / "everfold.db"
    opened, other = await SqliteStore.open(str(path)), await SqliteStore.open(str(path))
    session = await open_engine(opened).session(limit=LIMIT_TOKENS)
    seqs = [await fill(session) for _ in range(2)]
    seqs += await session.append([calls("c1"), result("c1", f"The {NEEDLE} " * 3000), assistant(f"See {NEEDLE}.")])
    seqs += await session.append(
        [user(f"Remember: always greet the {NEEDLE}. " * 9), assistant(f"Hail the {NEEDLE}! " * 20)]
    )
    await session.integration.set_title(f"All about the {NEEDLE}")
    assert [one.kind for one in await open_engine(opened).admin.verify_erased(words=[NEEDLE])].count("title") == 1
    assert (await open_engine(other).session()).id == session.id
    packed = list_packed(path)
    assert len(packed) >= 3
    assert all(find_files(tmp_path, [one]) for one in packed)
    for seq in seqs:
        await session.erase(seq)
    await check_gone(opened, session)
    assert find_files(tmp_path, packed) == []
    await opened.close()
    await other.close()
    assert find_files(tmp_path, packed) == []


async def test_two_erases_at_once_bring_nothing_back(store: SqliteStore) -> None:
    """Neighbours that are erased at the same moment are both gone, from each other's rows too."""
    engine = open_engine(store)
    session = await engine.session(limit=LIMIT_TOKENS)
    await session.append([user(f"The {NEEDLE} one."), assistant(f"The {NEEDLE} two."), user(f"The {NEEDLE} three.")])
    handles = [await engine.session(id=session.id) for _ in range(3)]
    async with anyio.create_task_group() as group:
        for seq, handle in enumerate(handles, 1):
            group.start_soon(handle.erase, seq)
    await check_gone(store, session, *handles)
    await store.close()


class _Interrupted(SqliteStore):
    """A store in which something happens directly before the first commit."""

    seq = 0

    async def commit_compaction(
        self, compaction_id: CompactionId, fold: Fold, state: SessionState, **rest: object
    ) -> None:
        """Commit, after the message was erased by another engine."""
        if self.seq:
            seq, self.seq = self.seq, 0
            await (await open_engine(self).session(id=(await self.get_compaction(compaction_id)).session_id)).erase(seq)
        await super().commit_compaction(compaction_id, fold, state, **rest)  # type: ignore[arg-type]  # passed on


@pytest.mark.parametrize("offset", [0, -2, 2], ids=["folded now", "before it", "after it"])
async def test_a_compaction_on_its_way_brings_nothing_back(offset: int) -> None:
    """What was folded before an erase and would be committed after it is folded again without the message."""
    store = _Interrupted(IN_MEMORY)
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    await session.append(talk(6))
    (seq,) = await session.append(user(f"Remember: the {NEEDLE} is never opened before noon."))
    await session.append(talk(8, first=20))
    if offset < 0:
        await session.compact(keep_recent=10)
        await session.append(talk(8, first=40))
    store.seq = seq
    await session.compact(keep_recent=2 if offset <= 0 else 17)
    assert store.seq == 0
    await check_gone(store, session)


class _Late(SqliteStore):
    """A store in which a message arrives directly before the first erase."""

    is_late = True

    async def erase_message(self, erasure: Erasure, **rest: object) -> None:
        """Erase, after another engine appended an answer whose context row holds the words."""
        if self.is_late:
            self.is_late = False
            await (await open_engine(self).session(id=erasure.session_id)).append(assistant("Understood."))
        await super().erase_message(erasure, **rest)  # type: ignore[arg-type]  # passed on


async def test_a_message_of_an_erased_session_is_not_found(store: SqliteStore) -> None:
    """An erase by a handle whose session was erased meanwhile finds no such session, and says which."""
    engine = open_engine(store)
    session = await engine.session(user="ada")
    await session.append(talk(2))
    await engine.erase_session(session.id)
    with pytest.raises(NotFoundError, match=f"there is no session '{session.id}'"):
        await session.erase(1)


async def test_a_message_that_arrives_meanwhile_holds_nothing_of_it() -> None:
    """An erase that lost to an append is planned again, so that the new message's row is rebuilt too."""
    store = _Late(IN_MEMORY)
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    await session.append(user(f"The {NEEDLE}."))
    await session.erase(1)
    await check_gone(store, session)
    assert [one.seq for one in await session.messages(1, 9)] == [2]


async def test_a_repeated_append_of_an_erased_message_stores_nothing(store: SqliteStore) -> None:
    """The client id is still known: the same numbers come back and the message does not."""
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    given = await session.append([user(f"The {NEEDLE}."), user("b")], client_id="id-1")
    await session.erase(1)
    assert await session.append([user(f"The {NEEDLE}."), user("b")], client_id="id-1") == given
    with pytest.raises(ConflictError):
        await session.append([user("c"), user("d")], client_id="id-1")
    await check_gone(store, session)
    await store.close()


@pytest.mark.parametrize("seq", range(2, 7))
async def test_steps_stay_whole(store: SqliteStore, seq: int) -> None:
    """Whichever message of a step is erased, while it is open or after, no call and no result stands alone."""
    step = [
        user("Look it up."),
        calls("c1", "c2"),
        result("c1", "one"),
        result("c2", "two"),
        calls("c3", "c4"),
        result("c3", "three"),
        user("Never mind."),
        assistant("As you wish."),
    ]
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    for count, wire in enumerate(step, 1):
        await session.append(plant(wire) if count == seq else wire)
        if count == max(seq, 3):
            await session.window()
            await session.erase(seq)
    await check_gone(store, session)
    window = await session.window()
    assert check_openai_request(render(window, "openai")) == []
    assert check_anthropic_request(render(window, "anthropic")) == []
    for request in (render(window, "openai"), render(window, "anthropic")):
        is_result = seq in {3, 4, 6}
        assert ("[erased]" in json.dumps(request)) == is_result
        shown = [text for text in ("one", "two", "three") if f'"{text}"' in json.dumps(request).replace("\\n", '"')]
        assert len(shown) == (2 if is_result else 3)
    await store.close()


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("compactions", ("certificate",)),
        ("compactions", ("layout",)),
        ("digests", ("tokens", "content_hash", "reads", "text", "pool")),
        ("messages", ("kind", "tokens", "raw_tokens", "sum_tokens", "content_hash", "lines", "erased_at", "content")),
    ],
    ids=["certificates", "layouts", "digests", "messages"],
)
async def test_what_an_erase_replaced_cannot_come_back_unseen(table: str, columns: Sequence[str]) -> None:
    """A certificate, a layout, a digest or a message that is put back as it was before the erase is found."""
    store = SqliteStore(IN_MEMORY)
    session = await open_engine(store).session(limit=LIMIT_TOKENS)
    held = await fill(session)
    # A digest can only be put back where it read the message: the assistant's first reply is folded.
    seq = 2 if table == "digests" else held
    connection = store._writer.database.connection

    def read() -> list[tuple[SqlValue, ...]]:
        return list(connection.execute(f"SELECT {', '.join(columns)}, id FROM {table}"))

    def put_back(rows: list[tuple[SqlValue, ...]]) -> None:
        changes = ", ".join(f"{column} = ?" for column in columns)
        connection.executemany(f"UPDATE {table} SET {changes} WHERE id = ?", rows)

    before = await store._writer.call(read)
    await session.erase(seq)
    assert (await session.verify()).is_sound
    after = await store._writer.call(read)
    await store._writer.call(partial(put_back, before))
    assert not (await session.verify()).is_sound
    await store._writer.call(partial(put_back, after))
    assert (await session.verify()).is_sound
    await store.close()


async def test_other_handles_forget_it_too(store: SqliteStore) -> None:
    """A handle that showed the message before shows it no more after another handle erased it."""
    engine = open_engine(store)
    session = await engine.session(limit=LIMIT_TOKENS)
    seq = await fill(session)
    other = await engine.session(id=session.id)
    await other.window()
    await session.erase(seq)
    preview = await other.window(preview=True)
    assert NEEDLE not in json.dumps(render(preview, "openai"))
    await check_gone(store, other)
    await store.close()
