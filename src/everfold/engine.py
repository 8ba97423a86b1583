"""The engine: the one object that a library user holds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from everfold.core.access.users import DEFAULT_NAME, Binding, User, parse_binding, parse_user_reference
from everfold.core.log.following import FollowedTranscript, name_transcript
from everfold.core.log.messages import Role
from everfold.core.log.sessions import SessionRecord, SessionSettings, parse_session_key
from everfold.core.log.state import SessionState
from everfold.core.log.transcripts import Transcript
from everfold.core.memory.records import MemoryVersion
from everfold.core.observation.events import Event
from everfold.core.primitives.ids import AgentId, SessionId, UserId, parse_agent, require_short
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.primitives.listing import require_page_size
from everfold.core.primitives.old_names import refuse_old_names
from everfold.core.recall.snapshots import reserve_snapshot
from everfold.errors import InvalidInputError, StoreError
from everfold.memory import Memory
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids, Secrets
from everfold.services.access.api_keys import ApiKeys
from everfold.services.access.users import Users
from everfold.services.check_arguments import checked
from everfold.services.forgetting.port_memory import export_memory, import_memory
from everfold.services.forgetting.wipe import ErasedSession, Wiped, erase_session, wipe_user
from everfold.services.memory.memory_files import MemoryFiles
from everfold.services.sessions.configure import hold_settings, require_room
from everfold.services.sessions.import_transcript import Imported, import_transcript
from everfold.services.sessions.live import LiveSession, load_session
from everfold.services.sessions.open_session import ChangeSettings, Defaults, Opener
from everfold.services.sessions.search import SearchHit, choose_filter, search_messages
from everfold.services.sessions.switch import Switcher
from everfold.services.telling.stream import Stream
from everfold.services.turns.agent_memory import Memories
from everfold.services.turns.append_turn import append_turn
from everfold.services.turns.attend import Attendant, take_imported
from everfold.services.turns.background import Background
from everfold.services.turns.follow_transcript import Follower, GrowingTranscript, Taken
from everfold.session import Session

if TYPE_CHECKING:
    from everfold.admin import Admin

DEFAULT_USER = DEFAULT_NAME
DEFAULT_AGENT = "default"

DRAIN_SECS = 5.0
"""How long closing waits for work that runs: extractive digests take less, a model's is gone on with later."""


@checked
class Everfold:
    """A context and memory engine over one store. Make one with `everfold.open`."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        ids: Ids,
        secrets: Secrets,
        defaults_of: Callable[[AgentId], SessionSettings],
        stream: Stream,
        background: Background,
        memories: Memories,
        rotates: bool = False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._defaults = Defaults(defaults_of)
        self._stream = stream
        self._background = background
        self._memories = memories
        self._rotates = rotates
        self._keeping: asyncio.Task[None] | None = None
        self._users = Users(store=store, clock=clock, ids=ids)
        self._keys = ApiKeys(store=store, clock=clock, ids=ids, secrets=secrets, users=self._users)

    @property
    def admin(self) -> "Admin":
        """Operations over the whole store: API keys, lists over all users, pending work, and checks."""
        from everfold.admin import Admin

        return Admin(
            store=self._store,
            clock=self._clock,
            users=self._users,
            api_keys=self._keys,
            memories=self._memories,
            background=self._background,
            defaults=self._defaults,
            stream=self._stream,
        )

    @refuse_old_names(key="session_key")
    async def session(  # noqa: PLR0913 - each says which session is meant, or what it holds
        self,
        *,
        user: str = DEFAULT_USER,
        agent: str = DEFAULT_AGENT,
        session_key: str | None = None,
        limit: int | None = None,
        system: str | None = None,
        tools: Sequence[JsonValue] | None = None,
        id: str | None = None,  # noqa: A002 - what a user calls it
        new: bool = False,
        beside: bool = False,
        create: bool = True,
    ) -> Session:
        """Return the current session of a user and an agent, and create it if there is none.

        `Session.is_new` says whether it was created. The session stores the limit, system prompt and tools; a change of
        them is a cache break.

        Args:
            user: A name, `default`, or a UUID of the application.
            agent: The name of the agent.
            session_key: A name for the conversation, such as a thread's id. A user and an agent have one current session for
                each session key, and one without. Sessions that follow or branch off keep it.
            limit: The model's context limit in tokens.
            system: The system prompt.
            tools: Tool schemas, in either provider's form.
            id: Return the session with this id instead; leave `user`, `agent` and `session_key` out.
            new: Create an empty session that follows the current one, becomes current, and has its settings unless others
                are given.
            beside: Create an empty session; the current one stays current.
            create: With False, nothing is written: a new session is stored with its first append, or by
                `Session.integration.create`, and is in no list before. Two such handles share the session that the first
                append stores.

        Raises:
            InvalidInputError: a name is empty, the limit is not a positive whole number, or more is given beside an `id`
                than a session can hold.
            NotFoundError: there is no session with this id.
            BudgetUnsatisfiableError: the limit is too small; the message names the smallest that works.
        """
        hold = partial(hold_settings, limit=limit, system=system, tools=tools)
        if id is not None:
            if new or beside or (user, agent, session_key) != (DEFAULT_USER, DEFAULT_AGENT, None):
                raise InvalidInputError(
                    f"session {id}: give its id without `user`, `agent`, `session_key`, `new` and `beside`"
                )
            is_as_it_was = (limit, system, tools) == (None, None, None)
            return await self._open_known(SessionId(require_short(id, "session id")), None if is_as_it_was else hold)
        parsed_key = parse_session_key(session_key)
        if beside:
            return await self._open_beside(user, agent, parsed_key, hold)
        live = await self._find_current(user, agent, parsed_key) if new else None
        if live is not None:
            return await self._follow(live, hold)
        return await self._open_current(user, agent, parsed_key, hold, create=create)

    async def _open_known(self, session_id: SessionId, hold: ChangeSettings | None) -> Session:
        """The session with an id, as it is or with what it is to hold from now on."""
        live = await load_session(self._store, await self._store.get_session(session_id))
        if hold is None:
            return self._handle(live)
        await self._opener.change_settings(live, hold)
        return self._handle(live)

    async def _open_current(
        self, user: str, agent: str, session_key: str, hold: ChangeSettings, *, create: bool
    ) -> Session:
        live, is_new = await self._open_live(user, agent, session_key, hold, create=create)
        return self._handle(live, is_new=is_new)

    async def _open_live(
        self, user: str, agent: str, session_key: str, hold: ChangeSettings, *, create: bool
    ) -> tuple[LiveSession, bool]:
        """The current session with what it is to hold, made where there is none, or to be made with its first append."""
        settings = hold(self._defaults_of(agent))
        live = await self._find_current(user, agent, session_key)
        is_new = live is None
        if live is None:
            require_room(settings, SessionState())
            user_id = await self._users.propose_id(user)
            ensure = partial(self._users.ensure_id, user)
            live = self._switcher.prepare(user_id, AgentId(agent), session_key, settings, ensure_user_id=ensure)
            if create:
                await live.create(self._store)
        await self._opener.change_settings(live, lambda held: hold(replace(held, policy=settings.policy)))
        return live, is_new

    async def _follow(self, live: LiveSession, hold: ChangeSettings) -> Session:
        """A new session that follows the current one, with what that one held and this one is to hold."""
        policy = self._defaults_of(live.record.agent_id).policy

        def change(held: SessionSettings) -> SessionSettings:
            return hold(replace(held, policy=policy))

        require_room(change(live.settings), SessionState(calibration=live.state.calibration))
        made = await self._switcher.new(live)
        await self._opener.change_settings(made, change)
        return self._handle(made, is_new=True)

    async def _open_beside(self, user: str, agent: str, session_key: str, hold: ChangeSettings) -> Session:
        """A new session beside the current one; it becomes the current one where there is none."""
        settings = hold(self._defaults_of(agent))
        require_room(settings, SessionState())
        user_id = await self._users.ensure_id(user)
        live = await self._switcher.add(user_id, AgentId(agent), session_key, settings)
        return self._handle(live, is_new=True)

    async def _find_current(self, user: str, agent: str, session_key: str) -> LiveSession | None:
        """The current session of a user and an agent under a session key, as it is."""
        user_id = await self._users.find_id(user)
        agent_id = parse_agent(agent)
        return None if user_id is None else await self._opener.find_current(user_id, agent_id, session_key)

    def import_transcript(
        self, transcript: Transcript, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT, limit: int | None = None
    ) -> AsyncIterator[Imported]:
        """Store each conversation of a transcript as a session, all or none, and yield the progress.

        A conversation that is too long for its limit is compacted before its last step is yielded.

        Raises:
            InvalidInputError: a message does not fit its conversation; with `line`. Nothing was stored.
            BudgetUnsatisfiableError: a system prompt does not fit the limit. Nothing was stored.
        """
        parse_user_reference(user)
        agent_id = parse_agent(agent)
        imports = import_transcript(
            self._store,
            self._opener,
            transcript,
            stream=self._stream,
            ensure_user_id=partial(self._users.ensure_id, user),
            agent_id=agent_id,
            settings=hold_settings(self._defaults_of(agent), limit=limit),
        )
        memory = self._memories.find(agent_id)
        return take_imported(self._store, self._background, memory, imports)

    async def follow_transcript(
        self,
        transcript: GrowingTranscript,
        *,
        client: str,
        conversation: str,
        user: str = DEFAULT_USER,
        agent: str = DEFAULT_AGENT,
        limit: int | None = None,
    ) -> Taken:
        """Store what a transcript that its client still writes has grown by since the last call.

        The session has the session key `CLIENT:CONVERSATION`, and each side chain a session of its own behind it. A call that
        is repeated, or that was killed, stores nothing twice.

        Args:
            transcript: The file, such as `everfold.adapters.transcripts.files.TranscriptFile`.
            client: Whose conversation it is, such as `claude-code`.
            conversation: The client's own id of it.
            user: Who speaks with the agent.
            agent: The assistant.
            limit: The context limit that the session folds to, in tokens.

        Raises:
            InvalidInputError: a name is empty, or the limit is not a positive whole number.
        """
        agent_id, key = parse_agent(agent), f"{client}:{conversation}"
        user_id = await self._users.ensure_id(user)
        name = name_transcript(key)
        hold = partial(hold_settings, limit=limit)
        found = await self._store.find_followed(user_id, agent_id, name)
        start = FollowedTranscript(user_id=user_id, agent_id=agent_id, name=name, session_id=None)

        async def open_session(part: str) -> LiveSession:
            own_key = f"{key}/{part}" if part else key
            known = await self._store.find_followed(user_id, agent_id, name_transcript(own_key))
            if known is not None and known.session_id is not None:
                return await load_session(self._store, await self._store.get_session(known.session_id))
            return (await self._open_live(user, agent, parse_session_key(own_key), hold, create=False))[0]

        memory = self._memories.find(agent_id)
        append = partial(
            append_turn,
            self._store,
            background=self._background,
            stream=self._stream,
            attendant=None if memory is None else Attendant(memory=memory),
            overlaps=True,
        )
        follower = Follower(
            store=self._store,
            clock=self._clock,
            position=found or start,
            open_session=open_session,
            append=lambda live, batch: append(live, incoming=batch),
            add_title=self._opener.add_title,
        )
        return await follower.follow(transcript)

    async def list_followed(
        self, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT
    ) -> list[tuple[str, FollowedTranscript]]:
        """The transcripts that are followed for a user and an agent, each with the session key that it is followed under."""
        user_id = await self._users.find_id(user)
        found = [] if user_id is None else await self._store.list_followed(user_id)
        mine = [one for one in found if one.agent_id == agent and one.session_id is not None and one.path]
        return [((await self._store.get_session(SessionId(str(one.session_id)))).session_key, one) for one in mine]

    async def list_sessions(
        self, *, user: str | None = None, agent: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[SessionRecord]:
        """List sessions in the order of their creation; `after` is the last id of the page before."""
        return await self._store.list_sessions(
            user_id=None if user is None else await self._users.read_id(user),
            agent_id=None if agent is None else parse_agent(agent),
            after=None if after is None else SessionId(after),
            limit_count=require_page_size(limit),
        )

    async def search(
        self,
        question: str,
        *,
        user: str = DEFAULT_USER,
        agent: str | None = None,
        limit: int = 10,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[SearchHit]:
        """Search the messages of all sessions of a user, best first.

        Args:
            question: In words.
            user: Whose messages.
            agent: Only those of sessions with this agent.
            limit: How many at most.
            roles: Only messages in these roles; in any when empty.
            since: Only messages said then or later; aware.
            until: Only messages said before then; aware.

        Raises:
            InvalidInputError: the limit is not between 1 and 200, there is no such role, a time has no zone, or `since`
                is not before `until`.
        """
        return await search_messages(
            self._store,
            question,
            user_id=await self._users.read_id(user),
            agent_id=None if agent is None else parse_agent(agent),
            limit_count=limit,
            only=choose_filter(roles=roles, since=since, until=until),
        )

    async def memory(self, *, user: str = DEFAULT_USER, agent: str | None = None, is_by_agent: bool = False) -> Memory:
        """Return the memory of a user: all of it, or with an agent what that agent knows.

        Creates no user. A UUID is accepted whether or not a user has it.

        Args:
            user: Whose memory.
            agent: The agent whose view it is.
            is_by_agent: Whether an agent uses it: it sees nothing in quarantine, and its words never overrule the user's.

        Raises:
            InvalidInputError: the text names no user, or a name is empty.
            NotFoundError: no user has that name.
        """
        agent_id = parse_agent(DEFAULT_AGENT if agent is None else agent)
        return Memory(
            store=self._store,
            user_id=await self._users.find_id(user) or (await self._users.get(user)).id,
            agent_id=agent_id,
            is_owner=agent is None,
            memory=self._memories.get(agent_id),
            policy_of=self._memories.policy_of,
            writer="agent" if is_by_agent else "user",
        )

    async def memory_files(
        self, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT, actor: str | None = None
    ) -> MemoryFiles:
        """Return an agent's files about a user; see `everfold.integrations.anthropic_memory`.

        Creates no user; the first written file does.

        Args:
            user: The user.
            agent: The agent.
            actor: Who edits, for the audit; the agent by default.

        Raises:
            InvalidInputError: the text names no user, or a name is empty.
        """
        return MemoryFiles(
            store=self._store,
            clock=self._clock,
            user_id=await self._users.propose_id(user),
            agent_id=parse_agent(agent),
            store_user=lambda: self._users.ensure_id(user),
            stream=self._stream,
            actor=actor,
        )

    async def erase_session(self, session_id: str, *, branches: bool = False, actor: str = "user") -> ErasedSession:
        """Erase a session and what was derived from it; items with other sources keep those.

        Extractions stay, marked as of an erased session; costs of model calls stay.

        Args:
            session_id: The session.
            branches: Also erase the sessions that share its messages.
            actor: Who erases it, for the audit.

        Raises:
            NotFoundError: there is none.
            ConflictError: other sessions share its messages; the message names them.
        """
        record = await self._store.get_session(SessionId(session_id))
        stream = self._stream
        return await erase_session(
            self._store, record, clock=self._clock, stream=stream, branches=branches, actor=actor
        )

    async def wipe(self, user: str, *, transcripts: bool = False, actor: str = "user") -> Wiped:
        """Erase all memory of a user in one transaction; with `transcripts` also all sessions.

        The user's id, name, bindings and audit stay, and the costs of model calls. Messages from before a wipe are not
        taken into memory again.

        Raises:
            InvalidInputError: the text names no user.
            NotFoundError: no user has that name or id.
        """
        return await wipe_user(
            self._store,
            await self._get_user_id(user),
            clock=self._clock,
            stream=self._stream,
            transcripts=transcripts,
            actor=actor,
        )

    async def export_user(
        self, user: str = DEFAULT_USER, *, transcripts: bool = False, actor: str = "user"
    ) -> JsonObject:
        """Export all memory of a user as one JSON document.

        It holds items and topics with their revisions, dreams, extractions and audit; with `transcripts` also all of their
        sessions, each message as its client sent it. Strings keep lone surrogates; `json.dumps` escapes them.

        Raises:
            InvalidInputError: the text names no user.
            NotFoundError: no user has that name or id.
        """
        return await export_memory(
            self._store, await self._get_user_id(user), clock=self._clock, transcripts=transcripts, actor=actor
        )

    async def import_user(
        self, document: JsonObject, *, user: str = DEFAULT_USER, transcripts: bool = True, actor: str = "user"
    ) -> MemoryVersion:
        """Store an exported memory for a user who has none, all or nothing.

        Its sessions are restored too, unless `transcripts` is False: messages with their ids, times and origins, and
        branches. Compactions are made again when a window needs them.

        Raises:
            InvalidInputError: the document is broken, or of a newer version; says what and where.
            ConflictError: the user has a memory, or sessions, already, or one of its ids is taken; wipe them first.
        """
        parse_user_reference(user)
        return await import_memory(
            self._store,
            partial(self._users.ensure_id, user),
            document,
            clock=self._clock,
            ids=self._ids,
            stream=self._stream,
            policy_of=lambda agent_id: self._defaults_of(agent_id).policy,
            transcripts=transcripts,
            actor=actor,
        )

    async def list_users(self, *, named: str = "", after: str | None = None, limit: int = 100) -> list[User]:
        """List users, the oldest first; `after` is the last id of the page before.

        Args:
            named: Only users whose display name contains this text, in any case; those that begin with it come first.
            after: Continue after this user.
            limit: How many at most.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            NotFoundError: no user has the id `after`.
        """
        last = None if after is None else UserId(after)
        return await self._users.list_page(named, after=last, limit_count=require_page_size(limit))

    async def get_user(self, user: str = DEFAULT_USER) -> User:
        """Return a user by a name, `default`, or a UUID. The default user always exists.

        Raises:
            InvalidInputError: the text is empty, or the nil UUID.
            NotFoundError: no user has that name or id.
        """
        return await self._users.get(user)

    async def find_bound_user(self, binding: str) -> User | None:
        """Find the user with the binding `CHANNEL:ID`, such as `telegram:12345`, or None.

        Raises:
            InvalidInputError: the binding has another form.
        """
        return await self._store.find_bound(parse_binding(binding))

    async def add_user(self, name: str, *, bindings: Sequence[str] = ()) -> User:
        """Add a user with a name and bindings, each `CHANNEL:ID`.

        Raises:
            InvalidInputError: the name is empty, `default` or a UUID, or a binding has another form.
            ConflictError: the name or a binding is another user's.
        """
        return await self._users.add(name, _parse_bindings(bindings))

    async def change_user(
        self,
        user: str,
        *,
        name: str | None = None,
        bindings: Sequence[str] | None = None,
        expected_version: str | None = None,
    ) -> User:
        """Change the display name or the bindings of a user; what is left out stays.

        Earlier names still name the user. Given bindings replace all others.

        Args:
            user: The user.
            name: The new display name.
            bindings: The new bindings, each `CHANNEL:ID`.
            expected_version: The `version` of the user that the caller saw; None takes any.

        Raises:
            InvalidInputError: the text names no user, the name cannot be one, or a binding has another form.
            NotFoundError: no user has that name or id.
            ConflictError: the name or a binding is another user's, or the user is at another version.
        """
        parsed = None if bindings is None else _parse_bindings(bindings)
        return await self._users.change(user, name=name, bindings=parsed, expected_version=expected_version)

    def events(self, *, session: str | None = None, changes: bool = False) -> AsyncIterator[Event]:
        """Yield the events of the engine from now on; ends when the engine closes.

        A reader that is too slow loses the oldest events, and an event says how many.

        Args:
            session: Only events of the session with this id.
            changes: Also the changes of logs and memory, which come with every turn: `messages_appended`, `message_erased`,
                `session_changed`, `session_erased` and `memory_changed`.
        """
        session_id = None if session is None else SessionId(session)
        return self._stream.feed.subscribe(session_id, changes=changes)

    def start(self) -> None:
        """Start the background work. `everfold.open` does it."""
        self._background.start()
        keeping = self._stream.tally.keep_forever(self._store, self._clock)
        self._keeping = asyncio.get_running_loop().create_task(keeping, name="everfold activity")

    async def close(self, *, drain_secs: float = DRAIN_SECS) -> int:
        """Finish running work, for so long at most, and close the store.

        Nothing is lost: unfinished work stays pending and continues after the next opening. Returns how many sessions
        were stopped in the middle of work.
        """
        try:
            stopped_count = await self._background.close(drain_secs=drain_secs)
            await self._end_tally()
            await self._store.close()
        finally:
            self._stream.feed.close()
        return stopped_count

    async def _end_tally(self) -> None:
        """Write what was counted last. A store that does not take it has told its error to those who wrote to it."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        with suppress(StoreError):
            await self._stream.tally.keep(self._store, self._clock)

    @property
    def _opener(self) -> Opener:
        return Opener(store=self._store, clock=self._clock, ids=self._ids, stream=self._stream)

    @property
    def _switcher(self) -> Switcher:
        return Switcher(opener=self._opener, stream=self._stream)

    async def _get_user_id(self, user: str) -> UserId:
        """The id of whom a text names, who is known to the store or has a memory in it."""
        user_id = await self._users.find_id(user)
        if user_id is not None and await self._store.read_memory_version(user_id) != MemoryVersion():
            return user_id
        return (await self._users.get(user)).id

    def _defaults_of(self, agent: str) -> SessionSettings:
        """What a new session of an agent holds: with structured memory, tokens are reserved for the snapshot."""
        memory = self._memories.policy_of(parse_agent(agent))
        settings = self._defaults.settings_of(AgentId(agent))
        return replace(settings, policy=replace(settings.policy, snapshot_tokens=reserve_snapshot(memory)))

    def _handle(self, live: LiveSession, *, is_new: bool = False) -> Session:
        return Session(
            live,
            store=self._store,
            clock=self._clock,
            ids=self._ids,
            stream=self._stream,
            background=self._background,
            memories=self._memories,
            rotates=self._rotates,
            is_new=is_new,
        )


def _parse_bindings(bindings: Sequence[str]) -> list[Binding]:
    if isinstance(bindings, str):
        raise InvalidInputError(f"bindings must be a list of CHANNEL:ID, got the text {bindings!r}")
    return [parse_binding(binding) for binding in bindings]
