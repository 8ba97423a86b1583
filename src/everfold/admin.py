"""The Admin handle: what a server or an operator does with a whole store, and no conversation needs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial

from everfold.core.access.users import DEFAULT_NAME
from everfold.core.compaction.record import Compaction
from everfold.core.log.messages import Role
from everfold.core.log.search_filters import SessionFilter
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.log.titles import clean_title, make_preview, make_title
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.observation.activity import Activity, DayActivity
from everfold.core.observation.overview import Spend, WorkCounts
from everfold.core.observation.usage import start_of_day
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId, parse_agent
from everfold.core.primitives.listing import require_page_size
from everfold.errors import InvalidInputError, NotFoundError
from everfold.ports.browsing import SessionFigures
from everfold.ports.leases import LeaseStore
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.ports.usage import UsageStore
from everfold.services.access.answer_once import Requests
from everfold.services.access.api_keys import ApiKeys
from everfold.services.access.users import Users
from everfold.services.check_arguments import checked
from everfold.services.forgetting.prove_absent import WordPlace, prove_absent
from everfold.services.sessions.conversations import Conversations
from everfold.services.sessions.open_session import Defaults
from everfold.services.sessions.search import choose_filter
from everfold.services.sessions.search_users import SearchedUsers, search_users
from everfold.services.telling.stream import Stream
from everfold.services.turns.agent_memory import Memories
from everfold.services.turns.background import Background
from everfold.services.turns.do_job import do_job


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedSession:
    """A session with its figures."""

    record: SessionRecord
    figures: SessionFigures
    words: "SessionWords | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWords:
    """What a session is recognised by.

    Attributes:
        title: The title that it was given, else the first sentence that the user said.
        preview: How the newest message begins.
    """

    title: str
    preview: str


MOST_PREVIEW_BYTES = 64_000
"""Longer messages are not read for a line."""


@checked
class Admin:
    """API keys, lists over all users, pending work, and checks of the store. Get one from `Everfold.admin`."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        users: Users,
        api_keys: ApiKeys,
        memories: Memories,
        background: Background,
        defaults: Defaults,
        stream: Stream,
    ) -> None:
        self._store = store
        self._clock = clock
        self._users = users
        self._api_keys = api_keys
        self._memories = memories
        self._background = background
        self._defaults = defaults
        self._stream = stream

    @property
    def users(self) -> Users:
        """The users of the store, with their names and bindings."""
        return self._users

    @property
    def api_keys(self) -> ApiKeys:
        """The API keys of the store: make, list, check and revoke them."""
        return self._api_keys

    @property
    def stream(self) -> Stream:
        """Where the engine publishes its events, for a server that tells them to others."""
        return self._stream

    @property
    def is_working(self) -> bool:
        """Whether this process does jobs as a worker, and its job queue can be reached."""
        queue = self._background.queue
        return queue is not None and queue.is_working

    @property
    def requests(self) -> Requests:
        """The writes with an idempotency key, and their responses."""
        return Requests(store=self._store, clock=self._clock)

    @property
    def conversations(self) -> Conversations:
        """What clients of a gateway hold of sessions."""
        return Conversations(store=self._store, memory=self._store)

    @property
    def usage(self) -> UsageStore:
        """The record of model calls, for programs that call models beside the engine."""
        return self._store

    @property
    def leases(self) -> LeaseStore:
        """The leases on pieces of work, over all processes of the store."""
        return self._store

    async def get_record(self, session_id: str) -> SessionRecord:
        """Return the record of a session.

        Raises:
            NotFoundError: there is none.
        """
        return await self._store.get_session(SessionId(session_id))

    async def get_compaction(self, compaction_id: str) -> Compaction:
        """Return a compaction by its id.

        Raises:
            NotFoundError: there is none.
        """
        return await self._store.get_compaction(CompactionId(compaction_id))

    async def browse_sessions(
        self,
        *,
        user: str | None = None,
        agent: str | None = None,
        after: str | None = None,
        limit: int = 100,
        newest_first: bool = True,
        words: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        title: str = "",
    ) -> list[BrowsedSession]:
        """List sessions with their figures, newest or oldest first.

        Args:
            user: Only sessions of this user.
            agent: Only sessions with this agent.
            after: The last id of the page before.
            limit: How many at most.
            newest_first: Begin with the newest session.
            words: Give the title and the preview of each.
            since: Only sessions created then or later.
            until: Only sessions created before then.
            title: Only sessions that were given a title with this text in it, in any case.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000, or a filter is wrong.
            NotFoundError: there is no session `after`.
        """
        only = SessionFilter(since=since, until=until, title=clean_title(title))
        user_id = None if user is None else await self.users.read_id(user)
        agent_id = None if agent is None else parse_agent(agent)
        wanted_count = require_page_size(limit)

        async def read_page(place: SessionId | None, count: int) -> list[SessionRecord]:
            if newest_first:
                return await self._store.list_newest_sessions(
                    user_id=user_id, agent_id=agent_id, before=place, limit_count=count, only=only
                )
            return await self._store.list_sessions(
                user_id=user_id, agent_id=agent_id, after=place, limit_count=count, only=only
            )

        first, found = None if after is None else SessionId(after), list[BrowsedSession]()
        while True:  # a page from which an erase takes sessions while it is read is filled again
            try:
                records = await read_page(found[-1].record.id if found else first, wanted_count - len(found))
            except NotFoundError:
                if not found:
                    raise
                found.clear()  # the last of them is erased too, and no place any more
                continue
            shown = await self._show(records, words=words)
            found += shown
            if len(shown) == len(records):
                return found

    async def _show(self, records: Sequence[SessionRecord], *, words: bool) -> list[BrowsedSession]:
        """Sessions as lists have them, without those that were erased meanwhile."""
        figures = await self._store.read_figures([record.id for record in records])
        said = await self._read_words(records) if words else {}
        return [
            BrowsedSession(record=record, figures=figures[record.id], words=said.get(record.id))
            for record in records
            if record.id in figures
        ]

    async def read_words(self, session_id: str) -> SessionWords | None:
        """The title and the preview of a session; None where it is not known."""
        record = await self._store.get_session(SessionId(session_id))
        return (await self._read_words([record])).get(record.id)

    async def _read_words(self, records: Sequence[SessionRecord]) -> dict[SessionId, SessionWords]:
        found = await self._store.read_ends([record.id for record in records], most_bytes=MOST_PREVIEW_BYTES)
        return {
            record.id: SessionWords(
                title=record.title or make_title(ends.first), preview=make_preview(ends.newest or ends.asked)
            )
            for record in records
            if (ends := found.get(record.id)) is not None
        }

    async def search_messages(
        self,
        question: str,
        *,
        agent: str | None = None,
        after: str | None = None,
        limit: int = 100,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> SearchedUsers:
        """Search the messages of the next users, the oldest users first, for those that hold every word themselves.

        Up to 2,000 users are looked through, 500 at a time, until the limit is reached. Of each 500 the newest messages come
        first; if these alone reach the limit, their older ones are left out, and `search` of one user finds them.

        Args:
            question: Words, or phrases in quotation marks.
            agent: Only those of sessions with this agent.
            after: The `next_id` of the search before.
            limit: How many messages at most.
            roles: Only messages in these roles.
            since: Only messages said then or later.
            until: Only messages said before then.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000, or a filter is wrong.
            NotFoundError: no user has the id `after`.
        """
        return await search_users(
            self._store,
            self.users,
            question,
            after=None if after is None else UserId(after),
            agent_id=None if agent is None else parse_agent(agent),
            limit_count=require_page_size(limit),
            only=choose_filter(roles=roles, since=since, until=until),
        )

    async def list_agents(self) -> list[AgentId]:
        """List every agent with a session, by name, configured or not."""
        return await self._store.list_agents()

    async def count_work(self) -> WorkCounts:
        """Count what is in the store, over all users, and what is pending."""
        return await self._store.count_work()

    async def unfinished(self, *, limit: int = 100) -> list[Compaction]:
        """List compactions that have not ended, over all users, oldest first."""
        return await self._store.list_unfinished(limit_count=require_page_size(limit))

    async def degraded(self, *, limit: int = 100) -> list[Compaction]:
        """List degraded compactions, over all users, newest first; `Session.inspect.retry` retries one."""
        return await self._store.list_degraded(limit_count=require_page_size(limit))

    async def list_activity(self, *, since: date) -> list[DayActivity]:
        """The figures of each day from one on, those of this process up to now among them; rising."""
        await self._stream.tally.keep(self._store, self._clock)
        return await self._store.list_activity(since=since)

    async def sum_activity(self) -> Activity:
        """The figures of all days together."""
        return await self._store.sum_activity()

    async def spent_today(self) -> list[Spend]:
        """The cost of model calls since midnight UTC, by model and purpose."""
        return await self._store.sum_spend(since=start_of_day(self._clock.now()))

    async def check_store(self) -> list[str]:
        """Check the store's files, and return the problems; empty when there are none."""
        return await self._store.check_integrity()

    async def count_jobs(self) -> dict[str, int]:
        """Count the jobs that wait for workers (`todo`) and run (`doing`); empty without workers."""
        return {} if self._background.queue is None else await self._background.queue.count()

    async def work(self, *, concurrency: int = 8, heartbeat_secs: float = 10.0, drain_secs: float = 30.0) -> None:
        """Run as a worker of this store until cancelled.

        Args:
            concurrency: How many jobs are done at once.
            heartbeat_secs: How often this worker reports that it is alive; after three missed reports its jobs are done again.
            drain_secs: How long running jobs may take once it is cancelled.

        Raises:
            InvalidInputError: the engine was opened without `workers.enabled`.
        """
        await self._background.work(
            partial(do_job, self._background, self._memories),
            concurrency=concurrency,
            heartbeat_secs=heartbeat_secs,
            drain_secs=drain_secs,
        )

    async def finish_erasing(self) -> bool:
        """Clear the store's files of erased data; False while another process still reads it.

        Erases do this themselves; a pending one is completed by this, or by the next recovery.
        """
        return await self._store.finish_erasing()

    async def verify_erased(self, *, user: str = DEFAULT_NAME, words: Sequence[str]) -> list[WordPlace]:
        """List every place where one of the words can still be read of a user; empty when they are gone.

        Ignores case, and finds words of the same stem. O(all data of the user).

        Raises:
            InvalidInputError: the text names no user, or `words` is no list of texts.
        """
        if isinstance(words, str):
            raise InvalidInputError(f"words must be a list of texts, got the text {words!r}")
        return await prove_absent(self._store, await self.users.read_id(user), words)

    def take_policies(
        self,
        *,
        settings_of: Callable[[AgentId], SessionSettings],
        memory_policy_of: Callable[[AgentId], MemoryPolicy],
        has_memory: bool,
    ) -> None:
        """Go by other policies from now on; see `everfold.bootstrap.take_settings`. Sessions that are open keep theirs."""
        self._defaults.settings_of = settings_of
        self._memories.take_policies(memory_policy_of)
        if has_memory:
            self._background.dream_too()
