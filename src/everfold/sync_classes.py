"""The classes of the sync face. Written by `make api` from the async classes: change those, and run it."""

# ruff: noqa: A002, PLR0913

from collections.abc import Callable, Collection, Generator, Sequence
from datetime import date, datetime, timedelta

from everfold.admin import Admin, BrowsedSession, SessionWords
from everfold.core.access.api_keys import ADMIN, ApiKey, ApiKeyId, Scope
from everfold.core.access.repeats import KeptAnswer, KnownRequest
from everfold.core.access.users import DEFAULT_NAME, User
from everfold.core.compaction.folding import Digest, Fold
from everfold.core.compaction.record import Compaction
from everfold.core.conversations.hashes import GivenMessage
from everfold.core.log.budget import UsableBudget
from everfold.core.log.calibration import Calibration
from everfold.core.log.client_lists import ClientList, ClientListChange, ClientMessage
from everfold.core.log.following import FollowedTranscript
from everfold.core.log.messages import Message, Role, WireFormat
from everfold.core.log.sdk_objects import SdkObject
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.log.transcripts import Transcript, TranscriptMessage
from everfold.core.memory.files import FileEntry, MemoryFile
from everfold.core.memory.items import Item, ItemKind, ItemStatus, Tier
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import AuditAction, AuditEntry, AuditPlace, Extraction, MemoryVersion
from everfold.core.memory.topics import Dream, Topic, TopicId
from everfold.core.merging.operations import Operation
from everfold.core.observation.activity import Activity, DayActivity
from everfold.core.observation.events import Event
from everfold.core.observation.overview import Spend, WorkCounts
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.primitives.old_names import refuse_old_names
from everfold.core.primitives.origins import Origin
from everfold.core.windows.handing_over import MOST_CHARS
from everfold.core.windows.rendering import Provider
from everfold.core.windows.window import Window
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
from everfold.inspection import Inspection
from everfold.integration import Integration
from everfold.memory import AgentIndex, Because, Memory, TopicIndex
from everfold.ports.browsing import SessionFigures
from everfold.ports.leases import LeaseName, LeaseStore
from everfold.ports.usage import UsageStore
from everfold.ports.writing import Written
from everfold.services.access.answer_once import Requests
from everfold.services.access.api_keys import ApiKeys, MadeApiKey
from everfold.services.compaction.refresh import Refreshed
from everfold.services.dreams.diff_dream import TopicDiff
from everfold.services.forgetting.erase import Erased
from everfold.services.forgetting.forget import AgentForgotten
from everfold.services.forgetting.prove_absent import WordPlace
from everfold.services.forgetting.retract import Retracted
from everfold.services.forgetting.wipe import ErasedSession, Wiped
from everfold.services.inspection.inspect_session import (
    CompactionDetail,
    CostedCompaction,
    LogStretch,
    LogStrips,
    ReadMessage,
    Standing,
)
from everfold.services.inspection.replay import Replay, ReplayReport, ReplayTurn
from everfold.services.inspection.trace import Trace
from everfold.services.inspection.verify import Verification
from everfold.services.memory.explain_recall import RecallExplained
from everfold.services.memory.list_items import ItemPage
from everfold.services.memory.measure_budgets import Budget
from everfold.services.memory.memory_files import MemoryFiles
from everfold.services.memory.memory_tools import MemoryTools
from everfold.services.memory.read_audit import AuditPage
from everfold.services.memory.tool_answers import DEFAULT_COUNT, ToolAnswer
from everfold.services.sessions.conversations import Conversations, KnownList
from everfold.services.sessions.import_transcript import Imported
from everfold.services.sessions.read import Page
from everfold.services.sessions.search import SearchHit
from everfold.services.sessions.search_all import Found, ItemHit, Place
from everfold.services.sessions.search_users import SearchedUsers
from everfold.services.turns.follow_transcript import GrowingTranscript, Taken
from everfold.session import Session, Wire
from everfold.sync import Blocking, Opening


class SyncEverfold(Opening[Everfold]):
    """`Everfold` with methods that block."""

    @property
    def admin(self) -> "SyncAdmin":
        """Operations over the whole store: API keys, lists over all users, pending work, and checks."""
        return SyncAdmin(self._wrapped.admin, self._portal)

    @refuse_old_names(key="session_key")
    def session(
        self,
        *,
        user: str = DEFAULT_USER,
        agent: str = DEFAULT_AGENT,
        session_key: str | None = None,
        limit: int | None = None,
        system: str | None = None,
        tools: Sequence[JsonValue] | None = None,
        id: str | None = None,
        new: bool = False,
        beside: bool = False,
        create: bool = True,
    ) -> "SyncSession":
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
        return SyncSession(
            self._call(
                self._wrapped.session,
                user=user,
                agent=agent,
                session_key=session_key,
                limit=limit,
                system=system,
                tools=tools,
                id=id,
                new=new,
                beside=beside,
                create=create,
            ),
            self._portal,
        )

    def import_transcript(
        self, transcript: Transcript, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT, limit: int | None = None
    ) -> Generator[Imported, None, None]:
        """Store each conversation of a transcript as a session, all or none, and yield the progress.

        A conversation that is too long for its limit is compacted before its last step is yielded.

        Raises:
            InvalidInputError: a message does not fit its conversation; with `line`. Nothing was stored.
            BudgetUnsatisfiableError: a system prompt does not fit the limit. Nothing was stored.
        """
        return self._iterate(
            self._run(self._wrapped.import_transcript, transcript, user=user, agent=agent, limit=limit)
        )

    def follow_transcript(
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
        return self._call(
            self._wrapped.follow_transcript,
            transcript,
            client=client,
            conversation=conversation,
            user=user,
            agent=agent,
            limit=limit,
        )

    def list_followed(
        self, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT
    ) -> list[tuple[str, FollowedTranscript]]:
        """The transcripts that are followed for a user and an agent, each with the session key that it is followed under."""
        return self._call(self._wrapped.list_followed, user=user, agent=agent)

    def list_sessions(
        self, *, user: str | None = None, agent: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[SessionRecord]:
        """List sessions in the order of their creation; `after` is the last id of the page before."""
        return self._call(self._wrapped.list_sessions, user=user, agent=agent, after=after, limit=limit)

    def search(
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
        return self._call(
            self._wrapped.search, question, user=user, agent=agent, limit=limit, roles=roles, since=since, until=until
        )

    def memory(self, *, user: str = DEFAULT_USER, agent: str | None = None, is_by_agent: bool = False) -> "SyncMemory":
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
        return SyncMemory(
            self._call(self._wrapped.memory, user=user, agent=agent, is_by_agent=is_by_agent), self._portal
        )

    def memory_files(
        self, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT, actor: str | None = None
    ) -> "SyncMemoryFiles":
        """Return an agent's files about a user; see `everfold.integrations.anthropic_memory`.

        Creates no user; the first written file does.

        Args:
            user: The user.
            agent: The agent.
            actor: Who edits, for the audit; the agent by default.

        Raises:
            InvalidInputError: the text names no user, or a name is empty.
        """
        return SyncMemoryFiles(
            self._call(self._wrapped.memory_files, user=user, agent=agent, actor=actor), self._portal
        )

    def erase_session(self, session_id: str, *, branches: bool = False, actor: str = "user") -> ErasedSession:
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
        return self._call(self._wrapped.erase_session, session_id, branches=branches, actor=actor)

    def wipe(self, user: str, *, transcripts: bool = False, actor: str = "user") -> Wiped:
        """Erase all memory of a user in one transaction; with `transcripts` also all sessions.

        The user's id, name, bindings and audit stay, and the costs of model calls. Messages from before a wipe are not
        taken into memory again.

        Raises:
            InvalidInputError: the text names no user.
            NotFoundError: no user has that name or id.
        """
        return self._call(self._wrapped.wipe, user, transcripts=transcripts, actor=actor)

    def export_user(self, user: str = DEFAULT_USER, *, transcripts: bool = False, actor: str = "user") -> JsonObject:
        """Export all memory of a user as one JSON document.

        It holds items and topics with their revisions, dreams, extractions and audit; with `transcripts` also all of their
        sessions, each message as its client sent it. Strings keep lone surrogates; `json.dumps` escapes them.

        Raises:
            InvalidInputError: the text names no user.
            NotFoundError: no user has that name or id.
        """
        return self._call(self._wrapped.export_user, user, transcripts=transcripts, actor=actor)

    def import_user(
        self, document: JsonObject, *, user: str = DEFAULT_USER, transcripts: bool = True, actor: str = "user"
    ) -> MemoryVersion:
        """Store an exported memory for a user who has none, all or nothing.

        Its sessions are restored too, unless `transcripts` is False: messages with their ids, times and origins, and
        branches. Compactions are made again when a window needs them.

        Raises:
            InvalidInputError: the document is broken, or of a newer version; says what and where.
            ConflictError: the user has a memory, or sessions, already, or one of its ids is taken; wipe them first.
        """
        return self._call(self._wrapped.import_user, document, user=user, transcripts=transcripts, actor=actor)

    def list_users(self, *, named: str = "", after: str | None = None, limit: int = 100) -> list[User]:
        """List users, the oldest first; `after` is the last id of the page before.

        Args:
            named: Only users whose display name contains this text, in any case; those that begin with it come first.
            after: Continue after this user.
            limit: How many at most.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            NotFoundError: no user has the id `after`.
        """
        return self._call(self._wrapped.list_users, named=named, after=after, limit=limit)

    def get_user(self, user: str = DEFAULT_USER) -> User:
        """Return a user by a name, `default`, or a UUID. The default user always exists.

        Raises:
            InvalidInputError: the text is empty, or the nil UUID.
            NotFoundError: no user has that name or id.
        """
        return self._call(self._wrapped.get_user, user)

    def find_bound_user(self, binding: str) -> User | None:
        """Find the user with the binding `CHANNEL:ID`, such as `telegram:12345`, or None.

        Raises:
            InvalidInputError: the binding has another form.
        """
        return self._call(self._wrapped.find_bound_user, binding)

    def add_user(self, name: str, *, bindings: Sequence[str] = ()) -> User:
        """Add a user with a name and bindings, each `CHANNEL:ID`.

        Raises:
            InvalidInputError: the name is empty, `default` or a UUID, or a binding has another form.
            ConflictError: the name or a binding is another user's.
        """
        return self._call(self._wrapped.add_user, name, bindings=bindings)

    def change_user(
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
        return self._call(
            self._wrapped.change_user, user, name=name, bindings=bindings, expected_version=expected_version
        )

    def events(self, *, session: str | None = None, changes: bool = False) -> Generator[Event, None, None]:
        """Yield the events of the engine from now on; ends when the engine closes.

        A reader that is too slow loses the oldest events, and an event says how many.

        Args:
            session: Only events of the session with this id.
            changes: Also the changes of logs and memory, which come with every turn: `messages_appended`, `message_erased`,
                `session_changed`, `session_erased` and `memory_changed`.
        """
        return self._iterate(self._run(self._wrapped.events, session=session, changes=changes))


class SyncSession(Blocking[Session]):
    """`Session` with methods that block."""

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self._wrapped.id

    @property
    def is_new(self) -> bool:
        """Whether the session was created for this handle."""
        return self._wrapped.is_new

    @property
    def record(self) -> SessionRecord:
        """Its user, agent, parent and settings."""
        return self._wrapped.record

    @property
    def settings(self) -> SessionSettings:
        """The settings with which it was opened."""
        return self._wrapped.settings

    def configure(
        self, *, system: str | None = None, tools: Sequence[JsonValue] | None = None, limit: int | None = None
    ) -> bool:
        """Change the stored limit, system prompt or tools, and return whether anything changed; what is left out stays.

        A changed prompt or schema is a cache break, which the next window reports. An equal value, whatever the order
        of its members, changes nothing.

        Args:
            system: The system prompt; an empty text removes it.
            tools: Tool schemas, in either provider's form; an empty list removes them.
            limit: The model's context limit in tokens.

        Raises:
            InvalidInputError: a value is not of its type, or the limit is not a positive whole number.
            BudgetUnsatisfiableError: the limit leaves no room; names the smallest that works.
        """
        return self._call(self._wrapped.configure, system=system, tools=tools, limit=limit)

    @property
    def inspect(self) -> "SyncInspection":
        """State, compactions, model calls and traces of this session; retry, cancel and replay."""
        return SyncInspection(self._wrapped.inspect, self._portal)

    @property
    def integration(self) -> "SyncIntegration":
        """For programs between a model and this session: create, resume, title, lookup, and texts of what is past."""
        return SyncIntegration(self._wrapped.integration, self._portal)

    def append(
        self,
        messages: Wire | SdkObject | Sequence[Wire | SdkObject],
        *,
        origin: Origin | None = None,
        source: str = "said",
        said_at: datetime | None = None,
        client_id: str | None = None,
        client_ids: Sequence[str | None] | None = None,
        wire_format: WireFormat | None = None,
    ) -> list[int]:
        """Append one message, or several all or none, and return their sequence numbers.

        Hooks are called after the messages are stored.

        Args:
            messages: In the form of OpenAI's chat, its Responses API or Anthropic's messages; stored exactly as given. Items
                of one reply of the Responses API are one message, as its response is: `{"object": "response", "output": [...]}`. Objects of the two SDKs, and
                dicts with such objects in their content, are stored as the JSON that the provider takes back.
            origin: The origin, if the role does not imply it: `external` for text fetched from outside. Without
                it a tick is the system's, an injection external.
            source: Why it is in the log: `said`, `tick`, `refresh` or `injection`.
            said_at: The time of the message, with a time zone; now when left out.
            client_id: An id of this append; a repetition changes nothing and returns the same numbers.
            client_ids: An id of each message, or None. A stored message is skipped and keeps its number, so that a batch
                may overlap the log.
            wire_format: The form, if the message does not show it.

        Raises:
            InvalidInputError: a message is invalid, or does not fit the log; nothing was stored.
            ConflictError: a client id was used before for a message of another meaning.
        """
        return self._call(
            self._wrapped.append,
            messages,
            origin=origin,
            source=source,
            said_at=said_at,
            client_id=client_id,
            client_ids=client_ids,
            wire_format=wire_format,
        )

    def window(
        self,
        *,
        limit: int | None = None,
        suffix: str | None = None,
        preview: bool = False,
        require_complete: bool = False,
    ) -> Window:
        """Return what the model is shown next, after a compaction if one is due.

        Args:
            limit: A lower context limit, in tokens, for this call.
            suffix: Text for the end of this request only; never stored.
            preview: Write nothing: show what the window would be.
            require_complete: Refuse while a step waits for results.

        Raises:
            BudgetUnsatisfiableError: no window fits the limit; the message names the smallest that works.
            OpenStepError: calls of the newest step wait for results; the message names them. Nothing was done.
        """
        return self._call(
            self._wrapped.window, limit=limit, suffix=suffix, preview=preview, require_complete=require_complete
        )

    def compact(self, *, keep_recent: int | None = None, focus: str | None = None, dry_run: bool = False) -> list[Fold]:
        """Compact now, due or not, and return what each compaction did; pending ones are done first.

        Called again before anything is appended, it finds nothing to do.

        Args:
            keep_recent: How many of the newest messages stay as they are; at least 1. An overflow folds more.
            focus: Words that the digest should prefer.
            dry_run: Write nothing, and return what would be done, with extractive digests.

        Raises:
            InvalidInputError: `keep_recent` is below 1.
            BudgetUnsatisfiableError: no window fits the limit; the message names the smallest that works.
            HookError: `hooks.strict` is on and no plug-in succeeded; nothing has left the window.
        """
        return self._call(self._wrapped.compact, keep_recent=keep_recent, focus=focus, dry_run=dry_run)

    def refresh(self) -> Refreshed:
        """Ask the context sources now, and return the answers and the message that holds them.

        Raises:
            InvalidInputError: no context source is allowed.
        """
        return self._call(self._wrapped.refresh)

    def observe_usage(self, window: Window, *, counted_tokens: int) -> None:
        """Report a provider's token count of a window's request (cached tokens included), to calibrate the budget.

        A count of 0, as some providers send while they stream, is ignored.

        Raises:
            InvalidInputError: the count is negative.
        """
        self._call(self._wrapped.observe_usage, window, counted_tokens=counted_tokens)

    def observe_context_error(self, window: Window, *, counted_tokens: int | None = None) -> None:
        """Report that a provider refused a window's request as too long; the next window is smaller.

        Args:
            window: The window that was sent.
            counted_tokens: The count in the provider's message, if any.

        Raises:
            InvalidInputError: the count is negative.
        """
        self._call(self._wrapped.observe_context_error, window, counted_tokens=counted_tokens)

    def messages(self, first: int = 1, last: int | None = None, *, retracted: bool = False) -> list[Message]:
        """Return the messages from one sequence number to another, both included, without erased ones.

        Retracted ones are left out unless `retracted` is True. One call returns at most 1,000; without `last`, as many
        from `first` on.

        Raises:
            InvalidInputError: the range is empty, begins below 1, or is too large.
        """
        return self._call(self._wrapped.messages, first, last, retracted=retracted)

    def read(self, seq: int, *, page: int = 1) -> Page:
        """Return one page of the text of a message, and the number of pages.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        return self._call(self._wrapped.read, seq, page=page)

    def search(
        self,
        question: str,
        *,
        limit: int = 10,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[SearchHit]:
        """Search the messages of this session's log, best first.

        Args:
            question: In words.
            limit: How many at most.
            roles: Only messages in these roles; in any when empty.
            since: Only messages said then or later; aware.
            until: Only messages said before then; aware.

        Raises:
            InvalidInputError: the limit is not between 1 and 200, there is no such role, a time has no zone, or `since`
                is not before `until`.
        """
        return self._call(self._wrapped.search, question, limit=limit, roles=roles, since=since, until=until)

    def tools(self, *, only_here: bool = False) -> "SyncMemoryTools":
        """Return the tools with which an agent reads and writes memory, and reads past conversations.

        They work whether or not the agent has opted in to structured memory. Call `begin_turn` before each turn.

        Args:
            only_here: History is that of this session alone, instead of all conversations of its user with its agent.
        """
        return SyncMemoryTools(self._run(self._wrapped.tools, only_here=only_here), self._portal)

    def verify(self) -> Verification:
        """Check all certificates against the stored messages and digests. O(log)."""
        return self._call(self._wrapped.verify)

    def erase(self, seq: int, *, actor: str = "user") -> Erased:
        """Erase a message and everything derived from it, in the log and in memory; a tombstone stays.

        Returns what was erased. Items with other sources keep those.

        Raises:
            NotFoundError: the session has no such message.
        """
        return self._call(self._wrapped.erase, seq, actor=actor)

    def retract(self, count: int = 1, *, last: int | None = None, actor: str = "user") -> Retracted:
        """Take back the newest messages, also inside a step: to ask for another answer, or to drop what was said last.

        They leave the window, recall, search and every later digest, and items of memory that only they support expire.
        They keep their numbers, can still be read by them, and are exported as retracted.

        Args:
            count: How many messages.
            last: The sequence number that the newest of them is expected to have; None for any.
            actor: Who retracts them, for the audit.

        Raises:
            InvalidInputError: there are not so many, or one of them is compacted already or in another session too;
                rewind then.
            ConflictError: the newest message is another one than `last`.
        """
        return self._call(self._wrapped.retract, count, last=last, actor=actor)

    def new(self, *, keep_calibration: bool = True) -> "SyncSession":
        """Create an empty session that follows this one and becomes current.

        Args:
            keep_calibration: Keep the calibration; False starts a new one.

        Raises:
            ConflictError: this one is not the current session; `integration.resume` makes it so.
        """
        return SyncSession(self._call(self._wrapped.new, keep_calibration=keep_calibration), self._portal)

    def branch(self, seq: int) -> "SyncSession":
        """Create a session that shares the past up to a message; this one stays current.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return SyncSession(self._call(self._wrapped.branch, seq), self._portal)

    def rewind(self, seq: int) -> "SyncSession":
        """Create a branch that becomes the current session.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return SyncSession(self._call(self._wrapped.rewind, seq), self._portal)


class SyncIntegration(Blocking[Integration]):
    """`Integration` with methods that block."""

    def create(self) -> bool:
        """Store this session before the first append; returns whether it was new.

        Needed only if another process uses its id before the first append.
        """
        return self._call(self._wrapped.create)

    def resume(self) -> None:
        """Make this session the current one of its user and agent again."""
        self._call(self._wrapped.resume)

    def set_title(self, title: str) -> str:
        """Give the session a title for lists, and return it as it is stored; an empty text removes it.

        The title is one line of at most 200 characters; what is not seen is left out. No model is shown it. An erase of a
        message removes it, since it may tell of the message.

        Raises:
            InvalidInputError: the title is not a text.
        """
        return self._call(self._wrapped.set_title, title)

    def lookup(self, client_ids: Sequence[str] = (), *, hashes: Sequence[str] = ()) -> dict[str, int]:
        """Find sequence numbers by client id or hash; unknown ones are left out.

        Args:
            client_ids: As they were given to `append`; an erased message keeps its own.
            hashes: SHA-256 of the stored JSON, in hex, as `Message.content_hash` has it. Of several messages with the
                same hash it gives the newest.

        Raises:
            InvalidInputError: more than 1,000 are given.
        """
        return self._call(self._wrapped.lookup, client_ids, hashes=hashes)

    def hand_over(self, *, max_chars: int = MOST_CHARS) -> str:
        """What is past of this session, as one text for the model of another program that has compacted its own context.

        Standing instructions, digests and kept messages, as far as they fit; empty where nothing is folded.
        """
        return self._call(self._wrapped.hand_over, max_chars=max_chars)

    def recall_past(self, prompt: str, *, through: int) -> str:
        """What answers a prompt among the messages that another program's model no longer sees, as one text for it.

        With structured memory also what memory has, and other sessions. Empty where nothing is to be recalled, or
        `recall.enabled` is off.

        Args:
            prompt: What the user says next.
            through: The last message that has left that program's context; 0 for none.
        """
        return self._call(self._wrapped.recall_past, prompt, through=through)


class SyncInspection(Blocking[Inspection]):
    """`Inspection` with methods that block."""

    @property
    def calibration(self) -> Calibration:
        """The calibration as it was when the session was last read."""
        return self._wrapped.calibration

    def budget(self, limit: int | None = None) -> UsableBudget:
        """The parts of the context limit, or of a lower one, in the provider's tokens.

        Raises:
            InvalidInputError: the limit is not a positive whole number.
        """
        return self._run(self._wrapped.budget, limit)

    def state(self) -> SessionState:
        """The state of the session, read now."""
        return self._call(self._wrapped.state)

    def explain_recall(self, question: str) -> RecallExplained:
        """Tell which messages recall would bring into the next window for a question, and why not the others.

        Args:
            question: What the user would say next.
        """
        return self._call(self._wrapped.explain_recall, question)

    def note(self) -> str:
        """The continuity note of the next turn; empty when no digest is being written."""
        return self._call(self._wrapped.note)

    def hurry(self) -> None:
        """Stop an append that waits for context sources; late answers join the next turn."""
        self._call(self._wrapped.hurry)

    def trace(self) -> Trace:
        """What became of every message at every compaction, for pictures and reviews. O(messages x compactions)."""
        return self._call(self._wrapped.trace)

    def preview_strips(self, *, limit: int) -> LogStrips:
        """The log as a lower context limit would fold it, as one strip. Nothing is written, and no model is called.

        Raises:
            InvalidInputError: the limit is no positive whole number.
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        return self._call(self._wrapped.preview_strips, limit=limit)

    def compactions(self, *, after_ordinal: int = 0, limit: int = 100) -> list[Compaction]:
        """The compactions of this session, oldest first.

        Args:
            after_ordinal: The ordinal of the last compaction of the page before.
            limit: How many; more where the last ones have one ordinal, as cancelled ones have with the one after them.
        """
        return self._call(self._wrapped.compactions, after_ordinal=after_ordinal, limit=limit)

    def calls(self, *, compaction: str | None = None, after: str | None = None, limit: int = 100) -> list[ModelCall]:
        """List the model calls for this session, oldest first: tokens, cost, and how each call ended.

        Args:
            compaction: Only calls for this compaction.
            after: The last id of the page before.
            limit: How many at most.

        Raises:
            NotFoundError: no call has the id `after`.
        """
        return self._call(self._wrapped.calls, compaction=compaction, after=after, limit=limit)

    def retry(self, compaction_id: str) -> Compaction:
        """Write the digest of a degraded compaction again, now, and return the compaction.

        Raises:
            NotFoundError: the session's log has no such compaction.
            ConflictError: it is not degraded, was begun by another session, or its range has joined the rollup
                since.
        """
        return self._call(self._wrapped.retry, compaction_id)

    def cancel(self, compaction_id: str) -> list[CompactionId]:
        """Cancel a pending compaction and those after it. No message was removed.

        Raises:
            NotFoundError: the session's log has no such compaction.
            ConflictError: it is not held: it has ended, or its digest is shown already.
        """
        return self._call(self._wrapped.cancel, compaction_id)

    def replay(self, messages: Sequence[TranscriptMessage], *, provider: Provider = "openai") -> "SyncReplay":
        """Replay a transcript into this session message by message, and measure the result.

        Run `turns()` of the result to its end, then call `report()`.

        Raises:
            InvalidInputError: one of them is no message; with `line`. Or there is no such provider.
        """
        return SyncReplay(self._run(self._wrapped.replay, messages, provider=provider), self._portal)

    @property
    def figures(self) -> SessionFigures:
        """How far the session was when it was read last."""
        return self._wrapped.figures

    def standing(self) -> Standing:
        """Where the session stands now. O(what its layout shows): no message of the log is read."""
        return self._call(self._wrapped.standing)

    def read_range(self, first_seq: int, last_seq: int) -> LogStretch:
        """The messages of a range, both ends included, as far as there are any.

        Raises:
            InvalidInputError: the range is empty or larger than `everfold.services.sessions.read.MOST_READ`.
        """
        return self._call(self._wrapped.read_range, first_seq, last_seq)

    def read_around(self, seq: int, *, before: int, after: int) -> LogStretch:
        """A message with its neighbours.

        Raises:
            NotFoundError: the session has no such message.
            InvalidInputError: these are more than `everfold.services.sessions.read.MOST_READ`.
        """
        return self._call(self._wrapped.read_around, seq, before=before, after=after)

    def read_message(self, seq: int, *, page: int | None = None) -> ReadMessage:
        """A message, or its tombstone; with a page of its text where one is asked for.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        return self._call(self._wrapped.read_message, seq, page=page)

    def list_costed_compactions(
        self, *, after: str | None = None, newest_first: bool = False, limit: int = 100
    ) -> list[CostedCompaction]:
        """The compactions of the session's log, in their order or against it.

        Args:
            after: The last id of the page before.
            newest_first: Begin with the newest one.
            limit: How many at most.

        Raises:
            NotFoundError: the log has no compaction `after`.
        """
        return self._call(self._wrapped.list_costed_compactions, after=after, newest_first=newest_first, limit=limit)

    def show_cost(self, compaction: Compaction) -> CostedCompaction:
        """A compaction with what models were paid for it; nothing is asked where no worker ever had it."""
        return self._call(self._wrapped.show_cost, compaction)

    def read_compaction(self, compaction_id: str) -> CompactionDetail:
        """One compaction with the digests and the calls that belong to it.

        Raises:
            NotFoundError: the log has no such compaction, whether another one has or not.
        """
        return self._call(self._wrapped.read_compaction, compaction_id)

    def list_digests(self) -> list[Digest]:
        """The digests that the window shows now, by range."""
        return self._call(self._wrapped.list_digests)

    def list_strips(self, *, compaction: str | None = None, limit: int = 20) -> LogStrips:
        """The log as the newest compactions left it and as it is now; or as one compaction left it.

        Raises:
            NotFoundError: the log has no such compaction.
        """
        return self._call(self._wrapped.list_strips, compaction=compaction, limit=limit)


class SyncAdmin(Blocking[Admin]):
    """`Admin` with methods that block."""

    @property
    def api_keys(self) -> "SyncApiKeys":
        """The API keys of the store: make, list, check and revoke them."""
        return SyncApiKeys(self._wrapped.api_keys, self._portal)

    @property
    def is_working(self) -> bool:
        """Whether this process does jobs as a worker, and its job queue can be reached."""
        return self._wrapped.is_working

    @property
    def requests(self) -> "SyncRequests":
        """The writes with an idempotency key, and their responses."""
        return SyncRequests(self._wrapped.requests, self._portal)

    @property
    def conversations(self) -> "SyncConversations":
        """What clients of a gateway hold of sessions."""
        return SyncConversations(self._wrapped.conversations, self._portal)

    @property
    def usage(self) -> "SyncUsageStore":
        """The record of model calls, for programs that call models beside the engine."""
        return SyncUsageStore(self._wrapped.usage, self._portal)

    @property
    def leases(self) -> "SyncLeaseStore":
        """The leases on pieces of work, over all processes of the store."""
        return SyncLeaseStore(self._wrapped.leases, self._portal)

    def get_record(self, session_id: str) -> SessionRecord:
        """Return the record of a session.

        Raises:
            NotFoundError: there is none.
        """
        return self._call(self._wrapped.get_record, session_id)

    def get_compaction(self, compaction_id: str) -> Compaction:
        """Return a compaction by its id.

        Raises:
            NotFoundError: there is none.
        """
        return self._call(self._wrapped.get_compaction, compaction_id)

    def browse_sessions(
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
        return self._call(
            self._wrapped.browse_sessions,
            user=user,
            agent=agent,
            after=after,
            limit=limit,
            newest_first=newest_first,
            words=words,
            since=since,
            until=until,
            title=title,
        )

    def read_words(self, session_id: str) -> SessionWords | None:
        """The title and the preview of a session; None where it is not known."""
        return self._call(self._wrapped.read_words, session_id)

    def search_messages(
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
        return self._call(
            self._wrapped.search_messages,
            question,
            agent=agent,
            after=after,
            limit=limit,
            roles=roles,
            since=since,
            until=until,
        )

    def list_agents(self) -> list[AgentId]:
        """List every agent with a session, by name, configured or not."""
        return self._call(self._wrapped.list_agents)

    def count_work(self) -> WorkCounts:
        """Count what is in the store, over all users, and what is pending."""
        return self._call(self._wrapped.count_work)

    def unfinished(self, *, limit: int = 100) -> list[Compaction]:
        """List compactions that have not ended, over all users, oldest first."""
        return self._call(self._wrapped.unfinished, limit=limit)

    def degraded(self, *, limit: int = 100) -> list[Compaction]:
        """List degraded compactions, over all users, newest first; `Session.inspect.retry` retries one."""
        return self._call(self._wrapped.degraded, limit=limit)

    def list_activity(self, *, since: date) -> list[DayActivity]:
        """The figures of each day from one on, those of this process up to now among them; rising."""
        return self._call(self._wrapped.list_activity, since=since)

    def sum_activity(self) -> Activity:
        """The figures of all days together."""
        return self._call(self._wrapped.sum_activity)

    def spent_today(self) -> list[Spend]:
        """The cost of model calls since midnight UTC, by model and purpose."""
        return self._call(self._wrapped.spent_today)

    def check_store(self) -> list[str]:
        """Check the store's files, and return the problems; empty when there are none."""
        return self._call(self._wrapped.check_store)

    def count_jobs(self) -> dict[str, int]:
        """Count the jobs that wait for workers (`todo`) and run (`doing`); empty without workers."""
        return self._call(self._wrapped.count_jobs)

    def work(self, *, concurrency: int = 8, heartbeat_secs: float = 10.0, drain_secs: float = 30.0) -> None:
        """Run as a worker of this store until cancelled.

        Args:
            concurrency: How many jobs are done at once.
            heartbeat_secs: How often this worker reports that it is alive; after three missed reports its jobs are done again.
            drain_secs: How long running jobs may take once it is cancelled.

        Raises:
            InvalidInputError: the engine was opened without `workers.enabled`.
        """
        self._call(self._wrapped.work, concurrency=concurrency, heartbeat_secs=heartbeat_secs, drain_secs=drain_secs)

    def finish_erasing(self) -> bool:
        """Clear the store's files of erased data; False while another process still reads it.

        Erases do this themselves; a pending one is completed by this, or by the next recovery.
        """
        return self._call(self._wrapped.finish_erasing)

    def verify_erased(self, *, user: str = DEFAULT_NAME, words: Sequence[str]) -> list[WordPlace]:
        """List every place where one of the words can still be read of a user; empty when they are gone.

        Ignores case, and finds words of the same stem. O(all data of the user).

        Raises:
            InvalidInputError: the text names no user, or `words` is no list of texts.
        """
        return self._call(self._wrapped.verify_erased, user=user, words=words)

    def take_policies(
        self,
        *,
        settings_of: Callable[[AgentId], SessionSettings],
        memory_policy_of: Callable[[AgentId], MemoryPolicy],
        has_memory: bool,
    ) -> None:
        """Go by other policies from now on; see `everfold.bootstrap.take_settings`. Sessions that are open keep theirs."""
        self._run(
            self._wrapped.take_policies,
            settings_of=settings_of,
            memory_policy_of=memory_policy_of,
            has_memory=has_memory,
        )


class SyncMemory(Blocking[Memory]):
    """`Memory` with methods that block."""

    @property
    def user_id(self) -> UserId:
        """The id of the user whose memory it is."""
        return self._wrapped.user_id

    def version(self) -> MemoryVersion:
        """The version of memory: a revision that every change raises, and an epoch that every erase raises."""
        return self._call(self._wrapped.version)

    def items(
        self, *, statuses: Sequence[ItemStatus] = ("active",), after: str | None = None, limit: int = 100
    ) -> list[Item]:
        """List items, the oldest first; `after` is the last id of the page before.

        An active item past its end is listed with the expired ones.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000, or there is no such status.
            NotFoundError: no item has the id `after`.
        """
        return self._call(self._wrapped.items, statuses=statuses, after=after, limit=limit)

    def find_items(
        self,
        text: str = "",
        *,
        statuses: Sequence[ItemStatus] = ("active",),
        kind: ItemKind | None = None,
        tier: Tier | None = None,
        agent: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> ItemPage:
        """Find items by kind, tier or text, page by page; with an agent only those that it sees.

        With a text, active items come best first on one page; without, the oldest first.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            ForbiddenError: this handle sees another agent only.
            NotFoundError: no item has the id `after`.
        """
        return self._call(
            self._wrapped.find_items,
            text,
            statuses=statuses,
            kind=kind,
            tier=tier,
            agent=agent,
            after=after,
            limit=limit,
        )

    def quarantine(self, *, limit: int = 100) -> list[Item]:
        """List the items that the threat scan held back; no model is shown them."""
        return self._call(self._wrapped.quarantine, limit=limit)

    def release(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Release an item from quarantine after a person has read it. No tool for agents does this.

        The same words pass later scans; an edit of them is scanned again.

        Raises:
            NotFoundError: this user has no such item.
            InvalidInputError: the item is not in quarantine.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
            ForbiddenError: this handle writes as an agent.
        """
        return self._call(self._wrapped.release, item_id, expected_revision=expected_revision, actor=actor)

    def item(self, item_id: str) -> list[Item]:
        """Return every revision of an item, oldest first; the last one is current, "expired" where its end is past.

        Raises:
            NotFoundError: this user has no such item, or it is another agent's, or in quarantine for an agent's handle.
        """
        return self._call(self._wrapped.item, item_id)

    def why(self, item_id: str) -> list[Because]:
        """Return the source messages of an item and of the items it replaced, oldest first.

        An agent gets messages of its own sessions only; of others it gets the quote.

        Raises:
            NotFoundError: this user has no such item.
        """
        return self._call(self._wrapped.why, item_id)

    def search(self, question: str, *, limit: int = 10) -> list[ItemHit]:
        """Search active items by words, best first, archived ones too; none past its end."""
        return self._call(self._wrapped.search, question, limit=limit)

    def search_all(
        self,
        question: str,
        *,
        places: Collection[Place] = ("messages", "items", "topics"),
        limit: int = 10,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Found:
        """Search messages, items and topics, each best first.

        Args:
            question: In words.
            places: Where to look.
            limit: How many of each at most.
            roles: Of messages only those in these roles.
            since: Of messages only those said then or later; aware.
            until: Of messages only those said before then; aware.

        Raises:
            InvalidInputError: the limit is not between 1 and 200, there is no such place or role, a time has no zone, or
                `since` is not before `until`.
        """
        return self._call(
            self._wrapped.search_all, question, places=places, limit=limit, roles=roles, since=since, until=until
        )

    def budgets(self) -> tuple[Budget, ...]:
        """How much of its budget each tier of the block takes: the user tier first, then agents."""
        return self._call(self._wrapped.budgets)

    def add(
        self,
        statement: str,
        *,
        tier: Tier = "user",
        kind: ItemKind = "fact",
        agent: str | None = None,
        valid_to: datetime | None = None,
        actor: str = "user",
    ) -> Item:
        """Add an item, word for word. If an equal item exists, it is only seen again.

        In the agent tier it is a note of the named agent, or of this handle's. If the scan finds a threat, the item is
        quarantined and has that status.

        Raises:
            InvalidInputError: it is empty, was forgotten before, or contradicts an item of more authority; or its end has
                no time zone.
            ForbiddenError: this handle writes for another agent only.
        """
        return self._call(
            self._wrapped.add, statement, tier=tier, kind=kind, agent=agent, valid_to=valid_to, actor=actor
        )

    def edit(self, item_id: str, statement: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Change the statement of an item; its evidence stays.

        Args:
            item_id: The item.
            statement: The new statement.
            expected_revision: The revision that the caller has read; None accepts any.
            actor: Who changes it, for the audit.

        Raises:
            NotFoundError: this user has no such item.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
        """
        return self._call(self._wrapped.edit, item_id, statement, expected_revision=expected_revision, actor=actor)

    def forget(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Erase an item with all its revisions, also from topics and dreams; its id stays. Errors as in `edit`.

        Its source messages stay; see `Session.erase`.
        """
        return self._call(self._wrapped.forget, item_id, expected_revision=expected_revision, actor=actor)

    def forget_topic(
        self,
        name: str,
        *,
        tier: Tier | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        actor: str = "user",
    ) -> tuple[TopicId, ...]:
        """Erase the topics with this name and all their revisions, also from dreams; their items stay.

        Args:
            name: Of the topics.
            tier: Only those of this tier.
            agent: Of the agent tier only those of this agent.
            expected_revision: Of the topic that `get_topic` gives; None takes any.
            actor: For the audit.

        Raises:
            NotFoundError: this user has no such topic.
            ConflictError: the topic is at another revision; nothing was changed.
        """
        return self._call(
            self._wrapped.forget_topic, name, tier=tier, agent=agent, expected_revision=expected_revision, actor=actor
        )

    def agent_index(self, agent: str) -> AgentIndex:
        """Return the topics of the tier of one agent, by name, and the number of its active items.

        Raises:
            ForbiddenError: this handle sees another agent only.
        """
        return self._call(self._wrapped.agent_index, agent)

    def list_files(self) -> list[MemoryFile]:
        """List the files that agents keep about the user, by agent and path; a handle of an agent sees its own.

        See `Everfold.memory_files` to read and write them one by one.
        """
        return self._call(self._wrapped.list_files)

    def forget_agent(self, agent: str, *, actor: str = "user") -> AgentForgotten:
        """Erase the topics and items of the tier of one agent, in one change.

        Raises:
            ForbiddenError: this handle writes for another agent only.
        """
        return self._call(self._wrapped.forget_agent, agent, actor=actor)

    def undo(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> list[Item]:
        """Undo the last change of an item and of the items that changed with it. Errors as in `edit`.

        Raises:
            ForbiddenError: an agent uses this handle, and the item was in quarantine.
        """
        return self._call(self._wrapped.undo, item_id, expected_revision=expected_revision, actor=actor)

    def topics(self, *, include_expired: bool = False) -> list[Topic]:
        """List the current topics, by tier and name.

        Args:
            include_expired: Include topics past their end.
        """
        return self._call(self._wrapped.topics, include_expired=include_expired)

    def topic_index(self) -> TopicIndex:
        """Return the current topics by name, and the version of memory, without topics past their end."""
        return self._call(self._wrapped.topic_index)

    def get_topic(self, name: str, *, tier: Tier | None = None, agent: str | None = None) -> list[Topic]:
        """Return every revision of a topic, oldest first; the last one is current.

        If several topics have the name, an active one and one of the user tier come first.

        Raises:
            NotFoundError: there is none, or it is past its end, or erased.
            ForbiddenError: this handle sees another agent only.
        """
        return self._call(self._wrapped.get_topic, name, tier=tier, agent=agent)

    def topic_history(self, name: str) -> list[Topic]:
        """Return every revision of the topics with a name, oldest first.

        Raises:
            NotFoundError: there never was one, or this handle shows none of them.
        """
        return self._call(self._wrapped.topic_history, name)

    def dream(self, *, agent: str | None = None, actor: str | None = None) -> Dream | None:
        """Run a dream now; None if there is nothing new, or a dream is running.

        Args:
            agent: With whom; None for this handle's agent.
            actor: Who asked for it, for the audit, beside the dreamer itself.

        Raises:
            ForbiddenError: this handle is of another agent.
        """
        return self._call(self._wrapped.dream, agent=agent, actor=actor)

    def dream_diff(self, dream_id: str) -> tuple[TopicDiff, ...]:
        """Return the changes of a dream for each topic, their items, and what the new text lost. Errors as `get_dream`."""
        return self._call(self._wrapped.dream_diff, dream_id)

    def dreams(self, *, limit: int = 100) -> list[Dream]:
        """List dreams, newest first: what each wrote, from which items, and its cost."""
        return self._call(self._wrapped.dreams, limit=limit)

    def get_dream(self, dream_id: str) -> Dream:
        """Return one dream.

        Raises:
            NotFoundError: this user has no such dream, or it is another agent's.
        """
        return self._call(self._wrapped.get_dream, dream_id)

    def approve(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Apply a proposed dream.

        Raises:
            NotFoundError: this user has no such dream.
            ConflictError: it is not proposed, or memory has changed too much.
        """
        return self._call(self._wrapped.approve, dream_id, actor=actor)

    def reject(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Drop a proposed dream. Errors as in `approve`."""
        return self._call(self._wrapped.reject, dream_id, actor=actor)

    def revert(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Restore the topics that a dream changed. Errors as in `approve`."""
        return self._call(self._wrapped.revert, dream_id, actor=actor)

    def extractions(self, *, after: int = 0, limit: int = 100) -> list[Extraction]:
        """List extractions with what they found, oldest first; `after` is the last ordinal of the page before."""
        return self._call(self._wrapped.extractions, after=after, limit=limit)

    def latest_extractions(self, *, before: int | None = None, limit: int = 100) -> list[Extraction]:
        """The same from the newest on; `before` is the last ordinal of the page before."""
        return self._call(self._wrapped.latest_extractions, before=before, limit=limit)

    def audit_page(
        self,
        *,
        action: AuditAction | None = None,
        before: AuditPlace | None = None,
        limit: int = 100,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> AuditPage:
        """Return a page of the audit, newest first, and whether sessions that it names were erased.

        Args:
            action: Only this one.
            before: The place that the page before gave.
            limit: The most to give.
            since: Only entries of then or later.
            until: Only entries from before then.

        Raises:
            InvalidInputError: there is no such action, or a time has no zone.
        """
        return self._call(self._wrapped.audit_page, action=action, before=before, limit=limit, since=since, until=until)

    def audit(self, *, before: datetime | AuditEntry | None = None, limit: int = 100) -> list[AuditEntry]:
        """List what was read, written and erased, and by whom, newest first.

        Args:
            before: Only what was before a moment; or the last entry of the page before, for the next one.
            limit: The most to give.

        Raises:
            InvalidInputError: the moment has no time zone.
        """
        return self._call(self._wrapped.audit, before=before, limit=limit)

    def note_read(self, *, actor: str, about: Sequence[str] = ()) -> None:
        """Record in the audit that a program has read this memory.

        Args:
            actor: Who read.
            about: What, in ids or the path of a request; never words of it.
        """
        self._call(self._wrapped.note_read, actor=actor, about=about)


class SyncMemoryFiles(Blocking[MemoryFiles]):
    """`MemoryFiles` with methods that block."""

    def call(self, command: JsonObject) -> ToolAnswer:
        """What a command of the memory tool is answered. Never raises what a model or a store did wrong: the answer says it.

        Args:
            command: The input of a call of the tool: `command`, and what that command takes.
        """
        return self._call(self._wrapped.call, command)

    def view(self, path: str, view_range: tuple[int, int] | None = None) -> str:
        """A file with line numbers from 1, or a folder two levels deep.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: the path or the range is none.
        """
        return self._call(self._wrapped.view, path, view_range)

    def read(self, path: str) -> str:
        """What a file says, as it is.

        Raises:
            NotFoundError: there is no such file.
            InvalidInputError: the path is none.
        """
        return self._call(self._wrapped.read, path)

    def entries(self) -> list[FileEntry]:
        """All files by path, topics included."""
        return self._call(self._wrapped.entries)

    def create(self, path: str, content: str) -> str:
        """A new file.

        Raises:
            InvalidInputError: the path is none, or there is a file or folder already, or a scan finds a threat in the text.
            LimitError: it is too long, or one too many.
        """
        return self._call(self._wrapped.create, path, content)

    def write(self, path: str, content: str) -> str:
        """A file with this text, new or in place of what it said. Errors as `create`, but for a file that is there."""
        return self._call(self._wrapped.write, path, content)

    def replace(self, path: str, old: str, new: str) -> str:
        """Put a text in place of another one, which stands in the file once.

        Raises:
            NotFoundError: there is no such file, or it has no such text.
            InvalidInputError: the text stands there more than once; or as `create`.
            LimitError: as `create`.
        """
        return self._call(self._wrapped.replace, path, old, new)

    def insert(self, path: str, after_line: int, text: str) -> str:
        """Put a text after a line; 0 is before the first one.

        Raises:
            NotFoundError: there is no such file.
            InvalidInputError: there is no such line; or as `create`.
            LimitError: as `create`.
        """
        return self._call(self._wrapped.insert, path, after_line, text)

    def delete(self, path: str) -> str:
        """Remove a file, or a folder with all that is in it. Of either nothing stays in the store.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: it can only be read.
        """
        return self._call(self._wrapped.delete, path)

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file, or a folder with all that is in it.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: a path is none, or can only be read, or there is something at the new path.
        """
        return self._call(self._wrapped.rename, old_path, new_path)


class SyncMemoryTools(Blocking[MemoryTools]):
    """`MemoryTools` with methods that block."""

    def begin_turn(self) -> None:
        """Forget the failures of the turn before."""
        self._run(self._wrapped.begin_turn)

    def schemas(self) -> list[JsonObject]:
        """The schemas of all tools."""
        return self._run(self._wrapped.schemas)

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """What a tool answers. Never raises what a caller or a store did wrong: the answer says it."""
        return self._call(self._wrapped.call, name, arguments)

    def memory_add(self, statement: str, *, tier: Tier = "agent", kind: ItemKind = "fact") -> ToolAnswer:
        """Note a statement."""
        return self._call(self._wrapped.memory_add, statement, tier=tier, kind=kind)

    def memory_replace(self, old_text: str, statement: str, *, tier: Tier | None = None) -> ToolAnswer:
        """Give the one entry that has a text another statement."""
        return self._call(self._wrapped.memory_replace, old_text, statement, tier=tier)

    def memory_remove(self, old_text: str, *, tier: Tier | None = None) -> ToolAnswer:
        """Take the one entry that has a text out of the block."""
        return self._call(self._wrapped.memory_remove, old_text, tier=tier)

    def memory_batch(self, operations: Sequence[Operation]) -> ToolAnswer:
        """Do all of the operations, or none."""
        return self._call(self._wrapped.memory_batch, operations)

    def memory_list(self, tier: Tier | None = None) -> ToolAnswer:
        """The entries of the block, with how full it is."""
        return self._call(self._wrapped.memory_list, tier)

    def memory_search(self, query: str, limit: int = DEFAULT_COUNT) -> ToolAnswer:
        """The entries that share words with a question, best first, archived ones too."""
        return self._call(self._wrapped.memory_search, query, limit)

    def history_search(
        self,
        query: str,
        limit: int = DEFAULT_COUNT,
        *,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> ToolAnswer:
        """The messages that answer a question, best first; with roles or times only those in them, as in `Session.search`."""
        return self._call(self._wrapped.history_search, query, limit, roles=roles, since=since, until=until)

    def history_read(
        self,
        first: int,
        last: int | None = None,
        session: str | None = None,
        *,
        page: int | None = None,
        part: int | None = None,
    ) -> ToolAnswer:
        """One message by number, a page at a time; or several, long ones cut. The answer says how to get the next.

        Args:
            first: The first message, or the only one.
            last: The last one.
            session: The conversation; None for the one that is running.
            page: Of one message; the pages are those that its visible form names.
            part: Of that page, where it is longer than the window lets one tool result be.
        """
        return self._call(self._wrapped.history_read, first, last, session, page=page, part=part)


class SyncReplay(Blocking[Replay]):
    """`Replay` with methods that block."""

    def turns(self) -> Generator[ReplayTurn, None, None]:
        """Play all messages, and give every request that a live session would have sent.

        A request is due before each message of the model, and once more at the end.

        Raises:
            InvalidInputError: a message does not fit the log.
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        return self._iterate(self._run(self._wrapped.turns))

    def report(self) -> ReplayReport:
        """What the replay did, with everything verified that its session holds. O(log)."""
        return self._call(self._wrapped.report)


class SyncApiKeys(Blocking[ApiKeys]):
    """`ApiKeys` with methods that block."""

    def make(
        self,
        name: str,
        scope: Scope | str = ADMIN,
        *,
        is_read_only: bool = False,
        expires_at: datetime | None = None,
        lifetime: timedelta | None = None,
    ) -> MadeApiKey:
        """A new key. A user of the scope may be named by name, by `default`, or by id; the key has the id.

        Args:
            name: What people call it.
            scope: `admin`, `user:NAME`, `agent:NAME`, or a scope.
            is_read_only: It changes nothing; a scope that says so already stays so.
            expires_at: From when on it is refused; aware, and still to come.
            lifetime: The same, from now on; one of both at most. Never when both are left out.

        Raises:
            InvalidInputError: the name, the scope or the expiry cannot be one.
            NotFoundError: no user has the name of the scope.
            ConflictError: a key that is not revoked has the name.
        """
        return self._call(
            self._wrapped.make, name, scope, is_read_only=is_read_only, expires_at=expires_at, lifetime=lifetime
        )

    def check(self, secret: str) -> ApiKey:
        """The key that a secret is of, now. Costs one read, and once a minute a write.

        Raises:
            UnauthenticatedError: no key has this secret, or the key is expired or revoked.
        """
        return self._call(self._wrapped.check, secret)

    def list_api_keys(self, *, after: str | None = None, limit: int = 100) -> list[ApiKey]:
        """API keys in the order of their making, revoked and expired ones too; `after` is the last id of the page before.

        Raises:
            NotFoundError: no key has the id `after`.
        """
        return self._call(self._wrapped.list_api_keys, after=after, limit=limit)

    def get(self, text: str) -> ApiKey:
        """The key with this id, or the one with this name that is not revoked. O(keys).

        Raises:
            NotFoundError: there is none.
        """
        return self._call(self._wrapped.get, text)

    def revoke(self, text: str, *, even_last: bool = False) -> ApiKey:
        """End the key with this id or name, at once and for ever. One that is revoked already stays as it is.

        Args:
            text: Its id or its name.
            even_last: Also the last key that works and may do everything; a server makes another when it begins anew.

        Raises:
            NotFoundError: there is none.
            ConflictError: it is the last key that works and may do everything.
        """
        return self._call(self._wrapped.revoke, text, even_last=even_last)

    def ensure_first(self) -> MadeApiKey | None:
        """A new admin key where none works that may write; None where there is one. Two at once make one."""
        return self._call(self._wrapped.ensure_first)


class SyncRequests(Blocking[Requests]):
    """`Requests` with methods that block."""

    def begin(self, key_id: ApiKeyId, idempotency_key: str, request_hash: str) -> KnownRequest | KeptAnswer:
        """Take the place of a write, to be finished or given up; or the answer that it had before.

        Raises:
            InvalidInputError: the key has another form, or was sent with another request.
            ConflictError: the same write is being carried out.
            OutcomeUnknownError: the same write never ended.
        """
        return self._call(self._wrapped.begin, key_id, idempotency_key, request_hash)

    def finish(self, request: KnownRequest, answer: KeptAnswer) -> None:
        """Keep what the write was answered with."""
        self._call(self._wrapped.finish, request, answer)

    def give_up(self, request: KnownRequest) -> None:
        """Free the place of a write that was not carried out."""
        self._call(self._wrapped.give_up, request)

    def is_untouched(self, written: Written) -> bool:
        """Whether it is certain that a piece of work wrote nothing."""
        return self._run(self._wrapped.is_untouched, written)


class SyncConversations(Blocking[Conversations]):
    """`Conversations` with methods that block."""

    def find(self, user_id: UserId, agent_id: AgentId, seed: bytes, given: Sequence[GivenMessage]) -> list[KnownList]:
        """The lists that a request's list may go on from, the newest session first.

        Those are found by the longest beginning that is known, or else by the last three messages of a known list. Both
        are looked for where the beginning is not of the whole known list, since a client may have cut its middle.
        """
        return self._call(self._wrapped.find, user_id, agent_id, seed, given)

    def find_with_erased(
        self, user_id: UserId, agent_id: AgentId, key_prefix: str, given: Sequence[GivenMessage]
    ) -> list[KnownList]:
        """The lists that a request's list may go on from of which an erase has left no hash of a beginning or an end.

        They are of one conversation where the request begins with what is left of the list, and that is enough. Where a
        request has no reply, or nothing was erased, no list is looked for.
        """
        return self._call(self._wrapped.find_with_erased, user_id, agent_id, key_prefix, given)

    def read(self, session_id: SessionId) -> KnownList:
        """What the client of a session holds.

        Raises:
            NotFoundError: there is no such session.
        """
        return self._call(self._wrapped.read, session_id)

    def read_epoch(self, user_id: UserId) -> int:
        """The epoch of a user, which every erase and wipe of theirs raises."""
        return self._call(self._wrapped.read_epoch, user_id)

    def keep(
        self, session_id: SessionId, before: ClientList, messages: Sequence[ClientMessage], *, seed: bytes
    ) -> ClientList:
        """Keep what the client of a session holds now; gives it. Only what differs from before is written.

        Raises:
            ConflictError: the list is another than before; read it again.
        """
        return self._call(self._wrapped.keep, session_id, before, messages, seed=seed)

    def write(self, session_id: SessionId, change: ClientListChange) -> None:
        """Write a change of what the client of a session holds.

        Raises:
            ConflictError: the list is another than it was; read it again.
        """
        self._call(self._wrapped.write, session_id, change)


class SyncUsageStore(Blocking[UsageStore]):
    """`UsageStore` with methods that block."""

    def record_call(self, call: ModelCall) -> None:
        """Store the record of one call.

        Raises:
            ConflictError: a call with this id was recorded before.
        """
        self._call(self._wrapped.record_call, call)

    def sum_cost_usd(self, *, since: datetime | None = None, compaction_id: CompactionId | None = None) -> float:
        """The known cost of all calls since a moment, of one compaction, or both; 0 when there are none.

        A call of unknown cost counts 0.
        """
        return self._call(self._wrapped.sum_cost_usd, since=since, compaction_id=compaction_id)

    def list_calls(
        self,
        *,
        user_id: UserId | None = None,
        session_id: SessionId | None = None,
        compaction_id: CompactionId | None = None,
        after: str | None = None,
        limit_count: int,
    ) -> list[ModelCall]:
        """Calls in the order of their recording, after the one with the given id.

        Raises:
            NotFoundError: no such call has the id `after`.
        """
        return self._call(
            self._wrapped.list_calls,
            user_id=user_id,
            session_id=session_id,
            compaction_id=compaction_id,
            after=after,
            limit_count=limit_count,
        )


class SyncLeaseStore(Blocking[LeaseStore]):
    """`LeaseStore` with methods that block."""

    def claim_lease(self, name: LeaseName, *, holder: str, secs: float) -> bool:
        """Take a lease if it is free or has expired; whether it was taken.

        A wipe of a user's memory removes the leases of the user's dreams, and a wipe of the user all of them.
        """
        return self._call(self._wrapped.claim_lease, name, holder=holder, secs=secs)

    def renew_lease(self, name: LeaseName, *, holder: str, secs: float) -> bool:
        """Have a lease for so long from now on; False where the holder has it no more."""
        return self._call(self._wrapped.renew_lease, name, holder=holder, secs=secs)

    def find_holder(self, name: LeaseName) -> str | None:
        """The holder of a lease, by the store's time; None where it is free or has expired. Changes nothing."""
        return self._call(self._wrapped.find_holder, name)

    def release_lease(self, name: LeaseName, *, holder: str) -> None:
        """Give a lease back; nothing happens where the holder has it no more."""
        self._call(self._wrapped.release_lease, name, holder=holder)
