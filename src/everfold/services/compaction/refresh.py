"""Refresh: ask the context sources what happened, all at once, and store what they said as one message from outside.

Theory of operation. Each source is asked in a task of its own with its own time limit, and whatever it does is its own:
one that fails, takes too long or has nothing to say is published and left out, and is asked for the same time
again. After a gap a turn waits, so there is a deadline for all; a later answer is not lost, but joins the others
in the next turn, unless a newer refresh has told of its time already. A refresh never goes between a tool call and its result: it waits for the next turn too.

What a source has answered is stored in the transaction that stores its words, so that no stretch of time is lost or told
twice, whatever is killed when.

Source: DESIGN section 3.5; REQUIREMENTS OF-63 to OF-67, U-110, U-111; docs/adr/0024-context-refresh.md.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from everfold.core.log.messages import Message
from everfold.core.log.state import Answered
from everfold.core.observation.events import (
    ContextRefreshed,
    RefreshBegun,
    RefreshSkipped,
    SkipReason,
    SourceAsked,
)
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.sources.refreshing import (
    AllowedSource,
    Answer,
    Cause,
    Question,
    Refresh,
    compose_refresh,
    find_cap,
    list_untold,
    note_answers,
    plan_questions,
)
from everfold.core.text.frames import FENCE_TOKENS
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import ConflictError
from everfold.ports.dispatch import Dispatcher
from everfold.ports.jobs import RefreshSession
from everfold.ports.leases import LeaseName
from everfold.ports.sources import ContextSource
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.sessions.append import MOST_ATTEMPTS, plan_next, read_incoming
from everfold.services.sessions.handover import Handover
from everfold.services.sessions.hold_lease import hold_lease
from everfold.services.sessions.live import LiveSession, load_session
from everfold.services.telling.stopping import FAULTS, Stopping
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_appended


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshPolicy:
    """How sources are asked. Source: DESIGN section 6.

    Attributes:
        cap_tokens: What all that they say may cost in the window; 0 for no cap but the window's own.
        floor_tokens: The least share of it that one source gets.
        timeout_secs: How long one source may take.
    """

    cap_tokens: int = 2000
    floor_tokens: int = 256
    timeout_secs: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh came to: the message that was stored, and what every source said; `seq` is None for none.

    Attributes:
        skipped: Why there is no message; None where there is one.
    """

    seq: int | None
    asked: tuple[SourceAsked, ...]
    tokens: int = 0
    skipped: SkipReason | None = None


@dataclass(slots=True, kw_only=True)
class _Asking:
    """One round of questions about one session: who has answered so far, and who is still at it.

    `turns_count` is the turn that it is for: the one to come where a gap is met ahead of the user's message. `after_seq` is
    the refresh that was shown when it began: one that is newer than that, its own or another engine's, stays shown when
    further answers come. `waiting` is how long the answers are waited for.
    """

    session_id: SessionId
    turns_count: int
    after_seq: int
    begun: float
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[SourceAsked] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    is_past: bool = False
    is_owed: bool = False


@dataclass(slots=True, kw_only=True)
class Refresher:
    """Asks the sources of one engine.

    One refresh of a user and an agent is on its way at a time, in all processes of the store: a second caller skips.

    Attributes:
        sources: Those that the settings allow, in their order, with what each is asked.
        ids: Names who holds a lease.
        lease_secs: For how long a refresh is believed to be on its way; renewed while it is.
        handover: Takes what a refresh beside the turns has stored.
    """

    store: Store
    clock: Clock
    stream: Stream
    dispatcher: Dispatcher
    sources: Sequence[tuple[ContextSource, AllowedSource]]
    ids: Ids
    lease_secs: float = 180.0
    policy: RefreshPolicy = field(default_factory=RefreshPolicy)
    handover: Handover = field(default_factory=Handover)
    _in_flight: set[tuple[UserId, AgentId]] = field(default_factory=set, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _rounds: dict[SessionId, _Asking] = field(default_factory=dict, init=False)

    def refresh_soon(self, session_id: SessionId) -> None:
        """Refresh a session beside its turns."""
        self.dispatcher.submit(RefreshSession(session_id=session_id))

    async def refresh_beside(self, session_id: SessionId) -> None:
        """Refresh a session beside its turns, and leave for them what was stored."""
        live = await load_session(self.store, await self.store.get_session(session_id))
        refreshed = await self.refresh(live, cause="cadence")
        self.handover.leave(live, () if refreshed.seq is None else (live.messages[refreshed.seq],))

    async def refresh(self, live: LiveSession, *, cause: Cause, deadline_secs: float | None = None) -> Refreshed:
        """Ask every source, and store what they said by the deadline. Never raises what a source does.

        Args:
            live: The session.
            cause: Why.
            deadline_secs: How long all of them together are waited for; each has its own limit in any case.
        """
        key = (live.record.user_id, live.record.agent_id)
        if key in self._in_flight:
            return self._skip(live, cause, "in_flight")
        self._in_flight.add(key)
        try:
            name = LeaseName(user_id=live.record.user_id, work="refresh", about=live.record.agent_id)
            async with hold_lease(self.store, name, holder=self.ids.new_id("rfr_"), secs=self.lease_secs) as is_held:
                if not is_held:
                    return self._skip(live, cause, "in_flight")
                return await self._refresh(live, cause, deadline_secs)
        finally:
            self._in_flight.discard(key)

    async def _refresh(self, live: LiveSession, cause: Cause, deadline_secs: float | None) -> Refreshed:
        await live.reload(self.store)
        cap_tokens = find_cap(self.policy.cap_tokens, live.budget())
        if cap_tokens <= FENCE_TOKENS:
            return self._skip(live, cause, "no_room")
        questions = plan_questions(
            [allowed for _, allowed in self.sources],
            live.state,
            live.record,
            live.settings.policy,
            cause=cause,
            now=self.clock.now(),
            cap_tokens=cap_tokens,
            floor_tokens=self.policy.floor_tokens,
        )
        await self._note_begun(live, questions)
        self.stream.publish(RefreshBegun(session_id=live.record.id, cause=cause, sources_count=len(questions)))
        loop = asyncio.get_running_loop()
        state = live.state
        turns_count = state.turns_count + (cause == "gap" and state.gap_seq > state.turn_seq)
        asking = _Asking(
            session_id=live.record.id, turns_count=turns_count, after_seq=state.refresh_seq, begun=loop.time()
        )
        for (source, _), question in zip(self.sources, questions, strict=True):
            task = loop.create_task(self._ask(source, question, asking), name=f"ask {question.source}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            asking.tasks.append(task)
        self._rounds[live.record.id] = asking
        if deadline_secs is not None:
            asking.waiting.deadline = anyio.current_time() + deadline_secs
        try:
            with asking.waiting:
                if asking.tasks:
                    await asyncio.wait(asking.tasks)
        finally:
            asking.is_past = True
        return await self._store(live, asking, cause)

    def hurry(self, session_id: SessionId) -> None:
        """Wait no longer for the sources of a session, as if the deadline were now; later answers join the next turn."""
        if (asking := self._rounds.get(session_id)) is not None:
            asking.waiting.cancel()

    async def _note_begun(self, live: LiveSession, questions: Sequence[Question]) -> None:
        """Keep from when on a source that never answered is asked, so that no failure loses the time until its answer."""
        for _ in range(MOST_ATTEMPTS):
            known = {one.source for one in live.state.answered}
            new = [Answered(one.source, one.from_at) for one in questions if one.source not in known]
            if not new:
                return
            state = note_answers(replace(live.state, revision=live.state.revision + 1), new)
            try:
                await self.store.write_state(live.record.id, state, expected_revision=live.state.revision)
            except ConflictError:
                await live.reload(self.store)
                continue
            live.state = state

    async def _ask(self, source: ContextSource, question: Question, asking: _Asking) -> None:
        """Ask one source, and note what it said. Its outermost frame: no error of a source leaves it."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        tell = partial(SourceAsked, session_id=asking.session_id, source=question.source)
        stopping = Stopping()
        try:
            async with asyncio.timeout(self.policy.timeout_secs):
                text = await source.summary(
                    question.prompt,
                    from_at=question.from_at,
                    to_at=question.to_at,
                    budget_tokens=question.budget_tokens,
                )
            told = tell(outcome="answered" if text.strip() else "empty", elapsed_secs=loop.time() - begun)
        except TimeoutError:
            text, told = "", tell(outcome="timed_out", elapsed_secs=loop.time() - begun, error_name="timeout")
        except FAULTS as error:
            await stopping.pass_on(error)
            name = type(error).__name__
            text = ""
            told = tell(outcome="failed", elapsed_secs=loop.time() - begun, error_name=name, error=error)
        if told.outcome == "answered":
            is_late = asking.is_past
            told = replace(told, outcome="late" if is_late else "answered", tokens=estimate_text_tokens(text))
            asking.answers[question.source] = Answer(question=question, text=text)
            asking.is_owed = asking.is_owed or is_late
        asking.asked.append(told)
        self.stream.publish(told)

    async def show_late(self, live: LiveSession) -> None:
        """Store what came too late for its own turn, once another one has begun; most often a look into a dict."""
        asking = self._rounds.get(live.record.id)
        if asking is None:
            return
        if not asking.is_owed:
            if all(task.done() for task in asking.tasks):
                del self._rounds[live.record.id]  # the late sources had no answer
            return
        if live.state.turns_count <= asking.turns_count or live.state.open_step is not None:
            return
        asking.is_owed = False
        await self._store(live, asking, "late")

    async def _store(self, live: LiveSession, asking: _Asking, cause: Cause) -> Refreshed:
        """Store what has been said so far, unless no source answered or the model waits for tool results."""
        if all(task.done() for task in asking.tasks) and not asking.is_owed:
            self._rounds.pop(live.record.id, None)
        if not asking.answers:
            return self._skip(live, cause, "nothing_said", asking.asked)
        for _ in range(MOST_ATTEMPTS):
            await live.reload(self.store)
            if live.state.open_step is not None:
                asking.is_owed = True
                self._rounds[live.record.id] = asking
                return self._skip(live, cause, "step_open", asking.asked)
            answers, before = await self._choose(live, asking)
            if not answers:
                return self._skip(live, cause, "nothing_said", asking.asked)
            now = self.clock.now()
            cap_tokens = find_cap(self.policy.cap_tokens, live.budget())
            made = compose_refresh(answers, at=now, cap_tokens=cap_tokens, before=before)
            if made is None:
                return self._skip(live, cause, "no_room", asking.asked)
            incoming = read_incoming(made.wire, said_at=now, wire_format="openai", source="refresh")
            replaced_seq = live.state.refresh_seq or None
            plan = await plan_next(self.store, live, [incoming])
            plan = replace(plan, state=note_answers(plan.state, made.answered))
            try:
                await self.store.append(live.record.id, plan, expected_revision=live.state.revision)
            except ConflictError:
                continue
            live.take(plan)
            tell_appended(self.stream, live.record.id, last_seq=plan.state.last_seq, count=len(plan.appended))
            return self._tell_stored(live, asking, cause, made, replaced_seq)
        raise ConflictError(
            f"session {live.record.id}: {MOST_ATTEMPTS} appends of a context refresh in a row lost to other writers",
            session=live.record.id,
        )

    async def _choose(self, live: LiveSession, asking: _Asking) -> tuple[tuple[Answer, ...], Message | None]:
        """The answers to store, and the refresh that was stored since the round began, which says more beside them."""
        order = [allowed.name for _, allowed in self.sources]
        answers = tuple(asking.answers[name] for name in order if name in asking.answers)
        seq = live.state.refresh_seq
        if seq <= asking.after_seq:
            return answers, None
        messages = await live.load_messages(self.store, [seq])
        return list_untold(answers, live.state), messages[seq]

    def _skip(
        self, live: LiveSession, cause: Cause, reason: SkipReason, asked: Sequence[SourceAsked] = ()
    ) -> Refreshed:
        self.stream.publish(RefreshSkipped(session_id=live.record.id, cause=cause, reason=reason))
        return Refreshed(seq=None, asked=tuple(asked), skipped=reason)

    def _tell_stored(
        self, live: LiveSession, asking: _Asking, cause: Cause, made: Refresh, replaced_seq: int | None
    ) -> Refreshed:
        for name in made.left_out:
            told = next(one for one in asking.asked if one.source == name)
            asking.asked.append(replace(told, outcome="no_room"))
            self.stream.publish(asking.asked[-1])
        self.stream.publish(
            ContextRefreshed(
                session_id=live.record.id,
                cause=cause,
                seq=live.state.refresh_seq,
                sources_count=made.sources_count,
                tokens=made.tokens,
                elapsed_secs=asyncio.get_running_loop().time() - asking.begun,
                replaced_seq=replaced_seq,
            )
        )
        return Refreshed(seq=live.state.refresh_seq, asked=tuple(asking.asked), tokens=made.tokens)

    async def close(self) -> None:
        """Stop asking, and let go of every source. What was not stored is asked again when the store is opened next."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._rounds.clear()
        for source, _ in self.sources:
            await source.close()
