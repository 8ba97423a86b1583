"""Both stores, driven by the same operations, answer the same: SQLite and PostgreSQL are each the oracle of the other.

Each is open twice, and the operations go by the one connection or the other: what an engine remembers of a session is
most often older than what is stored.
"""

import shutil
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.support.postgres import renew_database
from tests.support.sizes import examples

import everfold
from everfold.core.windows.rendering import render
from everfold.engine import Everfold
from everfold.errors import EverfoldError
from everfold.session import Session
from everfold.testing import st_anthropic_log, st_openai_log
from everfold.testing.kit.fakes import CountingIds, FakeClock

USERS = st.sampled_from(["ada", "ben"])
AGENTS = st.sampled_from(["guide", "clerk"])
KEYS = st.sampled_from([None, "inbox"])
LIMITS = st.sampled_from([1_300, 2_500, 8_000])
BATCHES = st.one_of(st_openai_log(max_messages=14), st_anthropic_log(max_messages=14))
PASTES = st.sampled_from(
    ["So be it. " * 40, "Never move the piano. " + "Remember the harbour. " * 20, "明日の会議。" * 60]
)


class StoreMachine(RuleBasedStateMachine):
    """Two engines over each of two stores; every rule does the same in both stores and compares what came of it."""

    sessions = Bundle("sessions")

    def __init__(self, server_url: str) -> None:
        super().__init__()
        renew_database(server_url)
        self.stack = ExitStack()
        self.folder = Path(mkdtemp())
        self.portal: BlockingPortal = self.stack.enter_context(start_blocking_portal())
        self.pairs = [self._open_twice(f"sqlite:///{self.folder}/log.db"), self._open_twice(server_url)]
        self.turn = 0

    def _open_twice(self, url: str) -> list[Everfold]:
        clock, ids = FakeClock(step=timedelta(seconds=1)), CountingIds()
        return [self._open(url, clock, ids) for _ in range(2)]

    def _open(self, url: str, clock: FakeClock, ids: CountingIds) -> Everfold:
        opened = everfold.open(url, clock=clock, ids=ids)
        context: AbstractContextManager[Everfold] = self.portal.wrap_async_context_manager(opened)
        return self.stack.enter_context(context)

    def both(self, ask: Callable[[Everfold], Awaitable[object]]) -> object:
        """What an engine over each store answers, or the error that both raise."""
        answers = [self.portal.call(self._attempt, ask, engines[self.turn]) for engines in self.pairs]
        assert answers[0] == answers[1]
        return answers[0]

    @staticmethod
    async def _attempt(ask: Callable[[Everfold], Awaitable[object]], engine: Everfold) -> object:
        try:
            return await ask(engine)
        except EverfoldError as error:
            return type(error), error.code

    def in_session(self, session_id: str, ask: Callable[[Session], Awaitable[object]]) -> object:
        """The same, asked of a session through a handle of its own."""

        async def asked(engine: Everfold) -> object:
            return await ask(await engine.session(id=session_id))

        return self.both(asked)

    @rule()
    def change_connection(self) -> None:
        """Go on by the other connection to each store."""
        self.turn = 1 - self.turn

    @initialize(target=sessions, user=USERS, agent=AGENTS, limit=LIMITS)
    def open_first(self, user: str, agent: str, limit: int) -> str:
        """There is always one session."""
        return self._opened(user, agent, None, limit)

    def _opened(self, user: str, agent: str, key: str | None, limit: int) -> str:
        async def ask(engine: Everfold) -> object:
            return (await engine.session(user=user, agent=agent, session_key=key, limit=limit)).id

        return str(self.both(ask))

    @rule(target=sessions, user=USERS, agent=AGENTS, key=KEYS, limit=LIMITS)
    def open_session(self, user: str, agent: str, key: str | None, limit: int) -> object:
        """Open the current session of a user and an agent, perhaps under a key or with another limit."""
        session_id = self._opened(user, agent, key, limit)
        return session_id if session_id.startswith("ses_") else multiple()

    @rule(session_id=sessions, log=BATCHES, is_batch=st.booleans())
    def append(self, session_id: str, log: everfold.testing.GeneratedLog, *, is_batch: bool) -> None:
        """Append messages one by one or as a batch."""

        async def ask(session: Session) -> object:
            if is_batch:
                return await session.append(log.messages, wire_format=log.kind)
            return [await session.append(wire, wire_format=log.kind) for wire in log.messages]

        self.in_session(session_id, ask)

    @rule(session_id=sessions, text=PASTES, client_id=st.sampled_from(["m1", "m2", "m3"]))
    def append_under_a_client_id(self, session_id: str, text: str, client_id: str) -> None:
        """Append under an id that may have been used before, for this message or another."""
        wire = {"role": "user", "content": text}
        self.in_session(session_id, lambda session: session.append(wire, client_id=client_id))

    @rule(session_id=sessions, names=st.lists(st.sampled_from(["n1", "n2", "n3", "n4"]), unique=True))
    def append_what_is_missing(self, session_id: str, names: list[str]) -> None:
        """Append a batch of named messages, of which some may be stored."""
        wires = [{"role": "user", "content": f"Note {name} well."} for name in names]

        async def ask(session: Session) -> object:
            return await session.append(wires, client_ids=names), await session.integration.lookup(names)

        self.in_session(session_id, ask)

    @rule(session_id=sessions, count=st.integers(1, 6))
    def retract(self, session_id: str, count: int) -> None:
        """Take back the newest messages, where that is possible."""
        self.in_session(session_id, lambda session: session.retract(count))

    @rule(session_id=sessions, text=PASTES, count=st.integers(2, 12))
    def talk(self, session_id: str, text: str, count: int) -> None:
        """Append enough for a compaction."""
        wires = [{"role": role, "content": f"{n} {text}"} for n in range(count) for role in ("user", "assistant")]
        self.in_session(session_id, lambda session: session.append(wires))

    @rule(session_id=sessions, share=st.sampled_from([None, 0.7, 0.9]), is_preview=st.booleans())
    def window(self, session_id: str, share: float | None, *, is_preview: bool) -> None:
        """Ask for a window, perhaps for a lower limit."""

        async def ask(session: Session) -> object:
            limit = None if share is None else int(session.settings.limit_tokens * share)
            window = await session.window(limit=limit, preview=is_preview)
            return window, render(window, "openai"), render(window, "anthropic")

        self.in_session(session_id, ask)

    @rule(session_id=sessions, keep=st.integers(1, 9), is_dry=st.booleans())
    def compact(self, session_id: str, keep: int, *, is_dry: bool) -> None:
        """Compact by hand."""
        self.in_session(
            session_id, lambda session: session.compact(keep_recent=keep, focus="the harbour", dry_run=is_dry)
        )

    @rule(target=sessions, session_id=sessions, share=st.floats(0, 1), is_rewind=st.booleans())
    def branch(self, session_id: str, share: float, *, is_rewind: bool) -> object:
        """Branch or rewind somewhere."""

        async def ask(session: Session) -> object:
            seq = int((await session.inspect.state()).last_seq * share)
            return (await (session.rewind(seq) if is_rewind else session.branch(seq))).id

        given = self.in_session(session_id, ask)
        return given if isinstance(given, str) else multiple()

    @rule(target=sessions, session_id=sessions, is_reset=st.booleans())
    def follow(self, session_id: str, *, is_reset: bool) -> object:
        """Begin anew."""

        async def ask(session: Session) -> object:
            return (await session.new(keep_calibration=not is_reset)).id

        given = self.in_session(session_id, ask)
        return given if isinstance(given, str) else multiple()

    @rule(session_id=sessions)
    def resume(self, session_id: str) -> None:
        """Go back to an older session."""
        self.in_session(session_id, lambda session: session.integration.resume())

    @rule(session_id=sessions, share=st.floats(0, 1.1))
    def erase(self, session_id: str, share: float) -> None:
        """Erase a message that is there, or is not."""

        async def ask(session: Session) -> None:
            await session.erase(int((await session.inspect.state()).last_seq * share))

        self.in_session(session_id, ask)

    @rule(session_id=sessions, question=st.sampled_from(["piano", "harbour 3", "dentist Thursday", "会議", "nothing"]))
    def search(self, session_id: str, question: str) -> None:
        """Both find the same messages; their scores are their own."""

        async def ask(session: Session) -> object:
            return {(hit.session, hit.seq, hit.excerpt) for hit in await session.search(question, limit=200)}

        self.in_session(session_id, ask)

    @rule(session_id=sessions, counted=st.integers(0, 9_000))
    def observe_usage(self, session_id: str, counted: int) -> None:
        """Calibrate."""

        async def ask(session: Session) -> None:
            await session.observe_usage(await session.window(preview=True), counted_tokens=counted)

        self.in_session(session_id, ask)

    @invariant()
    def all_is_equal(self) -> None:
        """Sessions, states, logs, events and verifications are the same in both, and sound."""

        async def ask(engine: Everfold) -> object:
            everything: list[object] = []
            for record in await engine.list_sessions():
                session = await engine.session(id=record.id)
                state = await session.inspect.state()
                log = await session.messages(1, state.last_seq, retracted=True) if state.last_seq else []
                verification = await session.verify()
                everything.append((record, state, log, await session.inspect.compactions(), verification))
                assert verification.is_sound, verification.problems[:3]
            return everything

        self.both(ask)

    def teardown(self) -> None:
        """Both stores are sound in themselves, the search index too; close both."""
        try:
            assert self.both(lambda engine: engine.admin.check_store()) == []
        finally:
            self.stack.close()
            shutil.rmtree(self.folder)


SETTINGS = settings(
    max_examples=examples(12),
    stateful_step_count=18,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def test_both_stores_answer_the_same(server_url: str) -> None:
    """The same, for many courses of events; what is asserted is in the rules and the invariant of the machine."""
    run_state_machine_as_test(partial(StoreMachine, server_url), settings=SETTINGS)
