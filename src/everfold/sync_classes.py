"""The classes of the sync face. Written by `make api` from the async classes: change those, and run it."""

# ruff: noqa: A002, PLR0913

from collections.abc import Callable, Collection, Generator, Sequence
from datetime import date, datetime, timedelta

from everfold.admin import Admin, BrowsedSession, SearchedUsers
from everfold.core.access.api_keys import ADMIN, ApiKey, ApiKeyId, Scope
from everfold.core.access.repeats import KeptAnswer, KnownRequest
from everfold.core.access.users import DEFAULT_NAME, User
from everfold.core.compaction.folding import Digest, Fold
from everfold.core.compaction.record import Compaction
from everfold.core.log.budget import UsableBudget
from everfold.core.log.calibration import Calibration
from everfold.core.log.messages import Message, Role, WireFormat
from everfold.core.log.sdk_objects import SdkObject
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.log.transcripts import Transcript, TranscriptMessage
from everfold.core.memory.files import FileEntry
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
from everfold.core.primitives.origins import Origin
from everfold.core.windows.rendering import Provider
from everfold.core.windows.window import Window
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
from everfold.inspection import Inspection
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
from everfold.services.memory.list_items import ItemPage
from everfold.services.memory.measure_budgets import Budget
from everfold.services.memory.memory_files import MemoryFiles
from everfold.services.memory.memory_tools import MemoryTools
from everfold.services.memory.read_audit import AuditPage
from everfold.services.memory.tool_answers import DEFAULT_COUNT, ToolAnswer
from everfold.services.sessions.import_transcript import Imported
from everfold.services.sessions.read import Page
from everfold.services.sessions.search import SearchHit
from everfold.services.sessions.search_all import Found, ItemHit, Place
from everfold.session import Session, Wire
from everfold.sync import Blocking, Opening


class SyncEverfold(Opening[Everfold]):
    """`Everfold` with methods that block."""

    @property
    def admin(self) -> "SyncAdmin":
        """What a server needs: API keys, lists over all users, work that waits, and checks of the store."""
        return SyncAdmin(self.wrapped.admin, self._portal)

    def session(
        self,
        *,
        user: str = DEFAULT_USER,
        agent: str = DEFAULT_AGENT,
        key: str | None = None,
        limit: int | None = None,
        system: str | None = None,
        tools: Sequence[JsonValue] | None = None,
        id: str | None = None,
        new: bool = False,
        beside: bool = False,
        create: bool = True,
    ) -> "SyncSession":
        """The current session of a user and an agent, which is made where there is none; or another one.

        `Session.is_new` says whether it was made. The limit, system prompt and tools that are given here the session
        holds from now on; a change is a cache break.

        Args:
            user: Who speaks with the agent: a name, `default`, or a UUID of the application's own.
            agent: The assistant.
            key: The session key, such as a thread's id: one user and agent have a current session for each. Without it, the
                one that has no key. Sessions that follow it or branch off keep it.
            limit: The model's context limit in tokens.
            system: The system prompt.
            tools: Tool schemas, in either provider's form.
            id: The session with this id, whether it is current or not. Its user and agent are known then.
            new: A new, empty one that follows the current one of its key and becomes current. It holds what that one held, but for
                what is given here.
            beside: A new, empty one beside the current one, which stays current.
            create: Store the current session where there is none. With False opening it writes nothing: it is stored
                with its first append, or by `Session.create`, and is in no list before. Of two such handles the first
                to append stores it, and the other goes on in the same one, under its id.

        Raises:
            InvalidInputError: a name is empty, the limit is not a positive whole number, or more is given beside an `id`
                than a session can hold.
            NotFoundError: there is no session with this id.
            BudgetUnsatisfiableError: the limit leaves no room; names the smallest that works.
        """
        return SyncSession(
            self._call(
                self.wrapped.session,
                user=user,
                agent=agent,
                key=key,
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
        """Store every conversation of a transcript as a session of its own, or nothing of it; gives its progress.

        Raises:
            InvalidInputError: a message does not fit its conversation; with `line`. Nothing was stored.
            BudgetUnsatisfiableError: a system prompt leaves no room within the limit. Nothing was stored.
        """
        return self._iterate(self._run(self.wrapped.import_transcript, transcript, user=user, agent=agent, limit=limit))

    def list_sessions(
        self, *, user: str | None = None, agent: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[SessionRecord]:
        """Sessions in the order of their creation; `after` is the last id of the page before."""
        return self._call(self.wrapped.list_sessions, user=user, agent=agent, after=after, limit=limit)

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
        """The messages of one user, over all their sessions, that answer a question, best first.

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
            self.wrapped.search, question, user=user, agent=agent, limit=limit, roles=roles, since=since, until=until
        )

    def memory(self, *, user: str = DEFAULT_USER, agent: str | None = None, is_by_agent: bool = False) -> "SyncMemory":
        """What is known of a user. With an agent: what that agent knows; else everything, as their owner sees it.

        Looking creates no user: a session, `add_user` or an import does. A UUID is taken as it is.

        Args:
            user: Whose memory.
            agent: The agent whose view it is.
            is_by_agent: What is written counts as the agent's words, which never overrule the user's own.

        Raises:
            InvalidInputError: the text names no user, or a name is empty.
            NotFoundError: no user has that name.
        """
        return SyncMemory(
            self._call(self.wrapped.memory, user=user, agent=agent, is_by_agent=is_by_agent), self._portal
        )

    def memory_files(self, *, user: str = DEFAULT_USER, agent: str = DEFAULT_AGENT) -> "SyncMemoryFiles":
        """The files that an agent keeps for itself of a user; see `everfold.integrations.anthropic_memory`.

        Looking creates no user; the first file that is written does.

        Args:
            user: Of whom.
            agent: Whose.

        Raises:
            InvalidInputError: the text names no user, or a name is empty.
        """
        return SyncMemoryFiles(self._call(self.wrapped.memory_files, user=user, agent=agent), self._portal)

    def erase_session(self, session_id: str, *, branches: bool = False, actor: str = "user") -> ErasedSession:
        """Remove a session and all that was made of it; items that only it says are erased, others keep the rest.

        Extractions stay and say that their session is gone; what models were paid stays without whom it was for.

        Args:
            session_id: Which.
            branches: Also remove the sessions that share messages of it.
            actor: For the audit.

        Raises:
            NotFoundError: there is none.
            ConflictError: other sessions share messages of it, and are not to go too; the message names them.
        """
        return self._call(self.wrapped.erase_session, session_id, branches=branches, actor=actor)

    def wipe(self, user: str, *, transcripts: bool = False, actor: str = "user") -> Wiped:
        """Remove all that memory has of a user, in one transaction; with `transcripts` all of their sessions too.

        The user stays: id, name, bindings, the audit, and what models were paid. Nobody else is touched. What was said
        before a wipe is not taken into memory again. A second wipe counts nothing.

        Raises:
            InvalidInputError: the text names no user.
            NotFoundError: no user has that name or id.
        """
        return self._call(self.wrapped.wipe, user, transcripts=transcripts, actor=actor)

    def export_user(self, user: str = DEFAULT_USER, *, transcripts: bool = False, actor: str = "user") -> JsonObject:
        """All that memory has of a user, as one JSON document.

        That is items and topics with their revisions, dreams, extractions and audit; with `transcripts` also all of their
        sessions, each message as its client sent it. Strings keep lone surrogates; `json.dumps` escapes them.

        Raises:
            InvalidInputError: the text names no user.
            NotFoundError: no user has that name or id.
        """
        return self._call(self.wrapped.export_user, user, transcripts=transcripts, actor=actor)

    def import_user(
        self, document: JsonObject, *, user: str = DEFAULT_USER, transcripts: bool = True, actor: str = "user"
    ) -> MemoryVersion:
        """Store the memory that a document holds as that of a user who has none; all of it or nothing.

        Its sessions come back too, unless `transcripts` is False: messages with their ids, times and origins, branches,
        and which is current, where there is no current one. What was made of messages is made again when it is needed.

        Raises:
            InvalidInputError: the document is broken, or of a newer version; says what and where.
            ConflictError: the user has a memory, or sessions, already, or one of its ids is taken; wipe them first.
        """
        return self._call(self.wrapped.import_user, document, user=user, transcripts=transcripts, actor=actor)

    def list_users(self, *, named: str = "", after: str | None = None, limit: int = 100) -> list[User]:
        """Users in the order in which they became known; `after` is the last id of the page before.

        Args:
            named: Only those whose display name has this text in it, in any case; those that begin with it come first.
            after: Where to go on.
            limit: The most to give.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            NotFoundError: no user has the id `after`.
        """
        return self._call(self.wrapped.list_users, named=named, after=after, limit=limit)

    def get_user(self, user: str = DEFAULT_USER) -> User:
        """The user whom a text names: a name, `default`, or a UUID. The default user is always there.

        Raises:
            InvalidInputError: the text is empty, or the nil UUID.
            NotFoundError: no user has that name or id.
        """
        return self._call(self.wrapped.get_user, user)

    def find_bound_user(self, binding: str) -> User | None:
        """The user who is reached at `CHANNEL:ID`, such as `telegram:12345`, or None.

        Raises:
            InvalidInputError: the binding has another form.
        """
        return self._call(self.wrapped.find_bound_user, binding)

    def add_user(self, name: str, *, bindings: Sequence[str] = ()) -> User:
        """A new user, who is reached by their name, and at each `CHANNEL:ID`.

        Raises:
            InvalidInputError: the name is empty, `default` or a UUID, or a binding has another form.
            ConflictError: the name or a binding is another user's.
        """
        return self._call(self.wrapped.add_user, name, bindings=bindings)

    def change_user(
        self,
        user: str,
        *,
        name: str | None = None,
        bindings: Sequence[str] | None = None,
        expected_version: str | None = None,
    ) -> User:
        """Change the display name of a user, or where they are reached; what is left out stays.

        A new name reaches them too, and so do the names that they had. Other bindings are replaced by those given.

        Args:
            user: Whom.
            name: The new display name.
            bindings: Where they are reached from now on, each `CHANNEL:ID`.
            expected_version: The `version` of the user that the caller saw; None takes any.

        Raises:
            InvalidInputError: the text names no user, the name cannot be one, or a binding has another form.
            NotFoundError: no user has that name or id.
            ConflictError: the name or a binding is another user's, or the user is at another version.
        """
        return self._call(
            self.wrapped.change_user, user, name=name, bindings=bindings, expected_version=expected_version
        )

    def events(self, *, session: str | None = None, changes: bool = False) -> Generator[Event, None, None]:
        """What the engine does from now on, as it happens; ends when the engine closes.

        A reader that is too slow loses the oldest events, and is told how many. What became of compactions is kept
        in the store: `Session.inspect.events` lists it.

        Args:
            session: Only what is about the session with this id.
            changes: With what changes in logs and in memory: `messages_appended`, `message_erased` and
                `memory_changed`, which come with every turn.
        """
        return self._iterate(self._run(self.wrapped.events, session=session, changes=changes))


class SyncSession(Blocking[Session]):
    """`Session` with methods that block."""

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self.wrapped.id

    @property
    def is_new(self) -> bool:
        """Whether it was made for this handle, and not found."""
        return self.wrapped.is_new

    def create(self) -> bool:
        """Store this session now, before anything is appended to it; whether it was not stored before.

        Whatever needs its id in another process or request needs it stored; an append does it by itself.
        """
        return self._call(self.wrapped.create)

    @property
    def record(self) -> SessionRecord:
        """Who it belongs to, where it came from, and its settings."""
        return self.wrapped.record

    @property
    def settings(self) -> SessionSettings:
        """What it holds from its opening."""
        return self.wrapped.settings

    def configure(
        self, *, system: str | None = None, tools: Sequence[JsonValue] | None = None, limit: int | None = None
    ) -> bool:
        """Change what this session holds from now on, and give whether anything changed; what is left out stays.

        Another system prompt or other tools are a cache break, which the next window reports. What is given again with
        an equal value, whatever the order of its members, changes nothing and breaks nothing.

        Args:
            system: The system prompt; an empty text takes it away.
            tools: Tool schemas, in either provider's form; an empty list takes them away.
            limit: The model's context limit in tokens.

        Raises:
            InvalidInputError: a value is not of its type, or the limit is not a positive whole number.
            BudgetUnsatisfiableError: the limit leaves no room; names the smallest that works.
        """
        return self._call(self.wrapped.configure, system=system, tools=tools, limit=limit)

    @property
    def inspect(self) -> "SyncInspection":
        """What operators need of it: its state, compactions, calls of models and pictures; retry, cancel and replay."""
        return SyncInspection(self.wrapped.inspect, self._portal)

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
        """Append one message, or several all or none, and give their sequence numbers.

        The hooks of a turn that begins or ends with them are called once they are stored.

        Args:
            messages: In the form of OpenAI's chat, its Responses API or Anthropic's messages; stored exactly as given. Items
                of one reply of the Responses API are one message, as its response is: `{"object": "response", "output": [...]}`. Objects of the two SDKs, and
                dicts with such objects in their content, are stored as the JSON that the provider takes back.
            origin: Who speaks, when it is not what the role says: `external` for what was fetched from outside. Without
                it a tick is the system's, an injection external.
            source: Why it is in the log: `said`, `tick`, `refresh` or `injection`.
            said_at: When it was said, aware; now when left out.
            client_id: Names this append; the same one again changes nothing and gives the same numbers.
            client_ids: Names each message, None for one without a name. A message whose id is stored is passed over and
                keeps its number, so that a batch that overlaps the log appends the rest of it.
            wire_format: The form, where it cannot be told from the message.

        Raises:
            InvalidInputError: a message is none, or does not fit the log; nothing was stored.
            ConflictError: a client id was used before for a message of another meaning.
        """
        return self._call(
            self.wrapped.append,
            messages,
            origin=origin,
            source=source,
            said_at=said_at,
            client_id=client_id,
            client_ids=client_ids,
            wire_format=wire_format,
        )

    def lookup(self, client_ids: Sequence[str] = (), *, hashes: Sequence[str] = ()) -> dict[str, int]:
        """Which messages of this session have these client ids, or these hashes: their numbers; unknown ones are left out.

        Args:
            client_ids: As they were given to `append`; an erased message keeps its own.
            hashes: SHA-256 of the stored JSON, in hex, as `Message.content_hash` has it. Of several messages with the
                same hash it gives the newest.

        Raises:
            InvalidInputError: more than 1,000 are given.
        """
        return self._call(self.wrapped.lookup, client_ids, hashes=hashes)

    def window(
        self,
        *,
        limit: int | None = None,
        suffix: str | None = None,
        preview: bool = False,
        require_complete: bool = False,
    ) -> Window:
        """What the model is shown next, compacted first when that is due.

        Args:
            limit: A lower context limit, in tokens, for this call.
            suffix: Text for the end of this request only; never stored.
            preview: Write nothing: show what the window would be.
            require_complete: Refuse while a step waits for results, which the window would leave out.

        Raises:
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
            OpenStepError: calls of the newest step wait for their results; names them. Nothing was done.
        """
        return self._call(
            self.wrapped.window, limit=limit, suffix=suffix, preview=preview, require_complete=require_complete
        )

    def compact(self, *, keep_recent: int | None = None, focus: str | None = None, dry_run: bool = False) -> list[Fold]:
        """Compact now, whatever is due, and give what each event did.

        Args:
            keep_recent: How many of the newest messages stay as they are; at least 1.
            focus: What the digest should rather hold, in words.
            dry_run: Write nothing: give what would be done.

        Raises:
            InvalidInputError: `keep_recent` is below 1.
            HookError: `hooks.strict` is on and no plug-in succeeded; nothing has left the window.
        """
        return self._call(self.wrapped.compact, keep_recent=keep_recent, focus=focus, dry_run=dry_run)

    def refresh(self) -> Refreshed:
        """Ask the context sources now, and give what each said and which message carries it.

        Raises:
            InvalidInputError: there is no source that may be asked.
        """
        return self._call(self.wrapped.refresh)

    def observe_usage(self, window: Window, *, counted_tokens: int) -> None:
        """Tell what a provider counted for a window's request (cached tokens included), to calibrate the budget.

        A count of 0, as some providers give while they stream, teaches nothing.

        Raises:
            InvalidInputError: the count is negative.
        """
        self._call(self.wrapped.observe_usage, window, counted_tokens=counted_tokens)

    def observe_context_error(self, window: Window, *, counted_tokens: int | None = None) -> None:
        """Tell that a provider refused a window's request as too long; the next window is smaller.

        Args:
            window: The window that was sent.
            counted_tokens: What the provider's message counted, when it says.

        Raises:
            InvalidInputError: the count is negative.
        """
        self._call(self.wrapped.observe_context_error, window, counted_tokens=counted_tokens)

    def messages(self, first: int = 1, last: int | None = None, *, retracted: bool = False) -> list[Message]:
        """The messages from one sequence number to another, both included; erased ones are left out.

        So are retracted ones, unless they are asked for.

        One call gives at most 1,000; without `last` it gives as many as that from `first` on. The neighbours of message
        40 are `messages(37, 43)`.

        Raises:
            InvalidInputError: the range is empty, begins below 1, or is too large.
        """
        return self._call(self.wrapped.messages, first, last, retracted=retracted)

    def read(self, seq: int, *, page: int = 1) -> Page:
        """The readable text of one message, a page at a time; the answer says how many pages there are.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        return self._call(self.wrapped.read, seq, page=page)

    def search(
        self,
        question: str,
        *,
        limit: int = 10,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[SearchHit]:
        """The messages of this session's log that answer a question, best first.

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
        return self._call(self.wrapped.search, question, limit=limit, roles=roles, since=since, until=until)

    def tools(self) -> "SyncMemoryTools":
        """Tools with which an agent reads and writes its memory of this user, and reads their past conversations.

        They work whether or not the agent has opted in to structured memory. Call `begin_turn` before each turn.
        """
        return SyncMemoryTools(self._run(self.wrapped.tools), self._portal)

    def verify(self) -> Verification:
        """Check everything that the certificates claim against what is stored. O(log)."""
        return self._call(self.wrapped.verify)

    def erase(self, seq: int, *, actor: str = "user") -> Erased:
        """Remove a message and all that was derived from it, in the log and in memory; a tombstone stays.

        Gives what went with it. Items that other messages say too keep the rest.

        Raises:
            NotFoundError: the session has no such message.
        """
        return self._call(self.wrapped.erase, seq, actor=actor)

    def retract(self, count: int = 1, *, actor: str = "user") -> Retracted:
        """Take back the newest messages, also inside a step: to ask for another answer, or to drop what was said last.

        They leave the window, recall, search and every later digest, and items of memory that only they support expire.
        They keep their numbers, can still be read by them, and are exported as retracted.

        Args:
            count: How many, of those that are not retracted yet.
            actor: For the audit.

        Raises:
            InvalidInputError: there are not so many, or one of them is compacted already or in another session too;
                rewind then.
        """
        return self._call(self.wrapped.retract, count, actor=actor)

    def new(self, *, keep_calibration: bool = True) -> "SyncSession":
        """A new, empty session that follows this one and becomes the current one.

        Args:
            keep_calibration: Keep what was learnt of the provider's token counts; False learns it anew.

        Raises:
            ConflictError: this one is not the current session; `resume` it first.
        """
        return SyncSession(self._call(self.wrapped.new, keep_calibration=keep_calibration), self._portal)

    def branch(self, seq: int) -> "SyncSession":
        """A session that shares the past up to a message and goes its own way; this one stays current.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return SyncSession(self._call(self.wrapped.branch, seq), self._portal)

    def rewind(self, seq: int) -> "SyncSession":
        """A branch that becomes the current session.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return SyncSession(self._call(self.wrapped.rewind, seq), self._portal)

    def resume(self) -> None:
        """Make this session the current one of its user and agent again."""
        self._call(self.wrapped.resume)


class SyncInspection(Blocking[Inspection]):
    """`Inspection` with methods that block."""

    @property
    def calibration(self) -> Calibration:
        """What was learnt of the provider's counts, when the session was read last."""
        return self.wrapped.calibration

    def budget(self, limit: int | None = None) -> UsableBudget:
        """The shares of its limit, or of a lower one, in the provider's tokens.

        Raises:
            InvalidInputError: the limit is not a positive whole number.
        """
        return self._run(self.wrapped.budget, limit)

    def state(self) -> SessionState:
        """Its state, read now."""
        return self._call(self.wrapped.state)

    def note(self) -> str:
        """The continuity note that the next turn shows; empty when nothing is on its way."""
        return self._call(self.wrapped.note)

    def hurry(self) -> None:
        """Have an append that waits for context sources wait no longer; what they say later joins the next turn."""
        self._call(self.wrapped.hurry)

    def trace(self) -> Trace:
        """What became of every message at every compaction, for pictures and reviews. O(messages x compactions)."""
        return self._call(self.wrapped.trace)

    def preview_strips(self, *, limit: int) -> LogStrips:
        """The log as a lower context limit would fold it, as one strip. Nothing is written, and no model is called.

        Raises:
            InvalidInputError: the limit is no positive whole number.
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        return self._call(self.wrapped.preview_strips, limit=limit)

    def compactions(self, *, after_ordinal: int = 0, limit: int = 100) -> list[Compaction]:
        """The compactions of this session, oldest first."""
        return self._call(self.wrapped.compactions, after_ordinal=after_ordinal, limit=limit)

    def calls(self, *, compaction: str | None = None, after: str | None = None, limit: int = 100) -> list[ModelCall]:
        """What was asked of models for this session, in the order of recording: tokens, cost, and how each call ended.

        Args:
            compaction: Only for the compaction with this id.
            after: The last id of the page before.
            limit: How many at most.

        Raises:
            NotFoundError: no call has the id `after`.
        """
        return self._call(self.wrapped.calls, compaction=compaction, after=after, limit=limit)

    def retry(self, compaction_id: str) -> Compaction:
        """Have a degraded compaction's digest written again, now, and give what became of the compaction.

        Raises:
            NotFoundError: the session's log has no such compaction.
            ConflictError: it is not degraded, was begun by another session, or its range has joined the rollup
                since.
        """
        return self._call(self.wrapped.retry, compaction_id)

    def cancel(self, compaction_id: str) -> list[CompactionId]:
        """Cancel a pending compaction and those after it. No message was removed.

        Raises:
            NotFoundError: the session's log has no such compaction.
            ConflictError: it is not held: it has ended, or its digest is shown already.
        """
        return self._call(self.wrapped.cancel, compaction_id)

    def replay(self, messages: Sequence[TranscriptMessage], *, provider: Provider = "openai") -> "SyncReplay":
        """A replay of a transcript's messages into this session, message by message, which measures what it does.

        Run `turns()` of what it gives to its end, then ask it for its `report()`.

        Raises:
            InvalidInputError: one of them is no message; with `line`. Or there is no such provider.
        """
        return SyncReplay(self._run(self.wrapped.replay, messages, provider=provider), self._portal)

    @property
    def figures(self) -> SessionFigures:
        """How far the session was when it was read last."""
        return self.wrapped.figures

    def standing(self) -> Standing:
        """Where the session stands now. O(what the window shows)."""
        return self._call(self.wrapped.standing)

    def read_range(self, first_seq: int, last_seq: int) -> LogStretch:
        """The messages of a range, both ends included, as far as there are any.

        Raises:
            InvalidInputError: the range is empty or larger than `everfold.services.sessions.read.MOST_READ`.
        """
        return self._call(self.wrapped.read_range, first_seq, last_seq)

    def read_around(self, seq: int, *, before: int, after: int) -> LogStretch:
        """A message with its neighbours.

        Raises:
            NotFoundError: the session has no such message.
            InvalidInputError: these are more than `everfold.services.sessions.read.MOST_READ`.
        """
        return self._call(self.wrapped.read_around, seq, before=before, after=after)

    def read_message(self, seq: int, *, page: int | None = None) -> ReadMessage:
        """A message, or its tombstone; with a page of its text where one is asked for.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        return self._call(self.wrapped.read_message, seq, page=page)

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
        return self._call(self.wrapped.list_costed_compactions, after=after, newest_first=newest_first, limit=limit)

    def show_cost(self, compaction: Compaction) -> CostedCompaction:
        """A compaction with what models were paid for it; nothing is asked where no worker ever had it."""
        return self._call(self.wrapped.show_cost, compaction)

    def read_compaction(self, compaction_id: str) -> CompactionDetail:
        """One compaction with the digests and the calls that belong to it.

        Raises:
            NotFoundError: the log has no such compaction, whether another one has or not.
        """
        return self._call(self.wrapped.read_compaction, compaction_id)

    def list_digests(self) -> list[Digest]:
        """The digests that the window shows now, by range."""
        return self._call(self.wrapped.list_digests)

    def list_strips(self, *, compaction: str | None = None, limit: int = 20) -> LogStrips:
        """The log as the newest compactions left it and as it is now; or as one compaction left it.

        Raises:
            NotFoundError: the log has no such compaction.
        """
        return self._call(self.wrapped.list_strips, compaction=compaction, limit=limit)


class SyncAdmin(Blocking[Admin]):
    """`Admin` with methods that block."""

    @property
    def api_keys(self) -> "SyncApiKeys":
        """See `Admin`."""
        return SyncApiKeys(self.wrapped.api_keys, self._portal)

    @property
    def requests(self) -> "SyncRequests":
        """The writes that clients of a server may repeat, and what they were answered with."""
        return SyncRequests(self.wrapped.requests, self._portal)

    @property
    def usage(self) -> "SyncUsageStore":
        """Where calls of models are recorded: for what calls models beside the engine."""
        return SyncUsageStore(self.wrapped.usage, self._portal)

    @property
    def leases(self) -> "SyncLeaseStore":
        """Who does a piece of work now, over all processes of the store: for what answers beside the engine."""
        return SyncLeaseStore(self.wrapped.leases, self._portal)

    def get_record(self, session_id: str) -> SessionRecord:
        """Whose the session with this id is, and where it came from.

        Raises:
            NotFoundError: there is none.
        """
        return self._call(self.wrapped.get_record, session_id)

    def get_compaction(self, compaction_id: str) -> Compaction:
        """The compaction with this id; `session_id` says whose it is.

        Raises:
            NotFoundError: there is none.
        """
        return self._call(self.wrapped.get_compaction, compaction_id)

    def browse_sessions(
        self,
        *,
        user: str | None = None,
        agent: str | None = None,
        after: str | None = None,
        limit: int = 100,
        newest_first: bool = True,
        words: bool = False,
    ) -> list[BrowsedSession]:
        """Sessions with how far each is, against the order of their creation or in it.

        Args:
            user: Only of this one.
            agent: Only with this one.
            after: The last id of the page before.
            limit: How many at most.
            newest_first: Begin with the one that was made last.
            words: With the title and the preview of each.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            NotFoundError: there is no session `after`.
        """
        return self._call(
            self.wrapped.browse_sessions,
            user=user,
            agent=agent,
            after=after,
            limit=limit,
            newest_first=newest_first,
            words=words,
        )

    def search_messages(
        self, question: str, *, agent: str | None = None, after: str | None = None, limit: int = 100
    ) -> SearchedUsers:
        """The messages that answer a question, of the next 50 users in the order in which they became known.

        Args:
            question: In words.
            agent: Only those of sessions with this agent.
            after: The `next_id` of the search before.
            limit: How many messages at most.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            NotFoundError: no user has the id `after`.
        """
        return self._call(self.wrapped.search_messages, question, agent=agent, after=after, limit=limit)

    def list_agents(self) -> list[AgentId]:
        """Every agent with a session, by name, whether the settings describe it or not."""
        return self._call(self.wrapped.list_agents)

    def count_work(self) -> WorkCounts:
        """How much there is in the store, over all users, and how much of it waits."""
        return self._call(self.wrapped.count_work)

    def unfinished(self, *, limit: int = 100) -> list[Compaction]:
        """Compactions that have not ended, over all users, oldest first."""
        return self._call(self.wrapped.unfinished, limit=limit)

    def degraded(self, *, limit: int = 100) -> list[Compaction]:
        """Compactions that ended degraded, over all users, newest first; `Session.inspect.retry` has one written again."""
        return self._call(self.wrapped.degraded, limit=limit)

    def list_activity(self, *, since: date) -> list[DayActivity]:
        """The figures of each day from one on, those of this process up to now among them; rising."""
        return self._call(self.wrapped.list_activity, since=since)

    def sum_activity(self) -> Activity:
        """The figures of all days together."""
        return self._call(self.wrapped.sum_activity)

    def spent_today(self) -> list[Spend]:
        """What calls of models came to since midnight UTC, by model and purpose."""
        return self._call(self.wrapped.spent_today)

    def check_store(self) -> list[str]:
        """Problems of the store's own files; empty when there are none."""
        return self._call(self.wrapped.check_store)

    def count_jobs(self) -> dict[str, int]:
        """How many jobs wait for workers (`todo`) and run (`doing`); nothing where work is not left to workers."""
        return self._call(self.wrapped.count_jobs)

    def work(self, *, concurrency: int = 8, heartbeat_secs: float = 10.0, drain_secs: float = 30.0) -> None:
        """Do the work that processes of this store leave to workers, until cancelled.

        Args:
            concurrency: How many jobs are done at once.
            heartbeat_secs: How often this worker gives a sign of life; the jobs of one that missed three are done again.
            drain_secs: How long running jobs may take once it is cancelled.

        Raises:
            InvalidInputError: the engine was opened without `workers.enabled`.
        """
        self._call(self.wrapped.work, concurrency=concurrency, heartbeat_secs=heartbeat_secs, drain_secs=drain_secs)

    def finish_erasing(self) -> bool:
        """Clear the store's own files of what was erased; False while another reader holds on to it.

        Erases do it by themselves; one that is reported as pending is finished by this, or by the next recovery.
        """
        return self._call(self.wrapped.finish_erasing)

    def verify_erased(self, *, user: str = DEFAULT_NAME, words: Sequence[str]) -> list[WordPlace]:
        """Every place from which one of the words can still be read of a user; empty when they are gone. O(all of it).

        Letters are compared without case; search finds words of the same stem.

        Raises:
            InvalidInputError: the text names no user, or `words` is no list of texts.
        """
        return self._call(self.wrapped.verify_erased, user=user, words=words)

    def take_policies(
        self,
        *,
        settings_of: Callable[[AgentId], SessionSettings],
        memory_policy_of: Callable[[AgentId], MemoryPolicy],
        has_memory: bool,
    ) -> None:
        """Go by other policies from now on; see `everfold.bootstrap.take_settings`. Sessions that are open keep theirs."""
        self._run(
            self.wrapped.take_policies,
            settings_of=settings_of,
            memory_policy_of=memory_policy_of,
            has_memory=has_memory,
        )


class SyncMemory(Blocking[Memory]):
    """`Memory` with methods that block."""

    @property
    def user_id(self) -> UserId:
        """See `Memory`."""
        return self.wrapped.user_id

    def head(self) -> MemoryVersion:
        """Where memory stands: a revision that every change raises, and an epoch that every erase raises."""
        return self._call(self.wrapped.head)

    def items(
        self, *, statuses: Sequence[ItemStatus] = ("active",), after: str | None = None, limit: int = 100
    ) -> list[Item]:
        """Items in the order in which memory first had them; `after` is the last id of the page before.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000, or there is no such status.
            NotFoundError: no item has the id `after`.
        """
        return self._call(self.wrapped.items, statuses=statuses, after=after, limit=limit)

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
        """Items of a kind, tier or text, page by page; those that an agent is given, where one is named.

        Active items with a text come best first, on one page; all others in the order in which memory first had them.

        Raises:
            InvalidInputError: the limit is not between 1 and 1,000.
            ForbiddenError: this handle sees another agent only.
            NotFoundError: no item has the id `after`.
        """
        return self._call(
            self.wrapped.find_items,
            text,
            statuses=statuses,
            kind=kind,
            tier=tier,
            agent=agent,
            after=after,
            limit=limit,
        )

    def quarantine(self, *, limit: int = 100) -> list[Item]:
        """Items that a scan held back: visible here, never shown to a model."""
        return self._call(self.wrapped.quarantine, limit=limit)

    def release(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Let an item out of quarantine: for the person whose memory it is, or an operator, who has read it. No tool does it.

        The same words are not held back again; other words of the item are scanned as ever.

        Raises:
            NotFoundError: this user has no such item.
            InvalidInputError: the item is not in quarantine.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
        """
        return self._call(self.wrapped.release, item_id, expected_revision=expected_revision, actor=actor)

    def item(self, item_id: str) -> list[Item]:
        """Every revision of an item, oldest first; the last is what it is now.

        Raises:
            NotFoundError: this user has no such item, or it is another agent's.
        """
        return self._call(self.wrapped.item, item_id)

    def why(self, item_id: str) -> list[Because]:
        """The exact messages behind an item, oldest first; those of what it replaced too.

        Only messages of this user's sessions are given, to an agent those of its own; of others there is the quote.

        Raises:
            NotFoundError: this user has no such item.
        """
        return self._call(self.wrapped.why, item_id)

    def search(self, question: str, *, limit: int = 10) -> list[ItemHit]:
        """Active items that share words with a question, best first, archived ones too."""
        return self._call(self.wrapped.search, question, limit=limit)

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
        """What answers a question in messages, items and topics, each best first.

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
            self.wrapped.search_all, question, places=places, limit=limit, roles=roles, since=since, until=until
        )

    def budgets(self) -> tuple[Budget, ...]:
        """How much of its budget each tier of the always-injected block takes: the user tier's first, then agents'."""
        return self._call(self.wrapped.budgets)

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
        """Add what a person enters, word for word. What says the same already is only seen again.

        Of the agent tier it is a note of the agent that is named, or else of this handle's.

        What a scan finds a threat in is quarantined: it comes back with that status.

        Raises:
            InvalidInputError: it is empty, or says what was forgotten, or what an item of more authority denies.
            ForbiddenError: this handle writes for another agent only.
        """
        return self._call(
            self.wrapped.add, statement, tier=tier, kind=kind, agent=agent, valid_to=valid_to, actor=actor
        )

    def edit(self, item_id: str, statement: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Give an item another statement; its evidence stays.

        Args:
            item_id: Which.
            statement: What it says from now on.
            expected_revision: The revision that the caller saw; None takes any.
            actor: For the audit.

        Raises:
            NotFoundError: this user has no such item.
            ConflictError: the item is at another revision; the message says what it is now. Nothing was changed.
        """
        return self._call(self.wrapped.edit, item_id, statement, expected_revision=expected_revision, actor=actor)

    def forget(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> Item:
        """Erase an item with all its revisions, out of topics and dreams too; its id stays. Errors as in `edit`.

        The messages that said it stay; see `Session.erase`.
        """
        return self._call(self.wrapped.forget, item_id, expected_revision=expected_revision, actor=actor)

    def forget_topic(
        self,
        name: str,
        *,
        tier: Tier | None = None,
        agent: str | None = None,
        expected_revision: int | None = None,
        actor: str = "user",
    ) -> tuple[TopicId, ...]:
        """Erase the topics with this name, with all their revisions, out of dreams too; their items stay.

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
            self.wrapped.forget_topic, name, tier=tier, agent=agent, expected_revision=expected_revision, actor=actor
        )

    def agent_index(self, agent: str) -> AgentIndex:
        """What one agent has for itself: the topics of its own tier, by name, and how many active items.

        Raises:
            ForbiddenError: this handle sees another agent only.
        """
        return self._call(self.wrapped.agent_index, agent)

    def forget_agent(self, agent: str, *, actor: str = "user") -> AgentForgotten:
        """Erase all that one agent has for itself, its topics and items, in one change; everything else stays.

        Raises:
            ForbiddenError: this handle writes for another agent only.
        """
        return self._call(self.wrapped.forget_agent, agent, actor=actor)

    def undo(self, item_id: str, *, expected_revision: int | None = None, actor: str = "user") -> list[Item]:
        """Take back the last change of an item, with what changed beside it; the item first. Errors as in `edit`."""
        return self._call(self.wrapped.undo, item_id, expected_revision=expected_revision, actor=actor)

    def topics(self, *, include_expired: bool = False) -> list[Topic]:
        """The topics that hold now, by tier and name.

        Args:
            include_expired: Those past their end, too.
        """
        return self._call(self.wrapped.topics, include_expired=include_expired)

    def topic_index(self) -> TopicIndex:
        """The topics that hold now, by name, and where memory stands; those past their end are not shown."""
        return self._call(self.wrapped.topic_index)

    def get_topic(self, name: str, *, tier: Tier | None = None, agent: str | None = None) -> list[Topic]:
        """Every revision of the one topic that a name means, oldest first; the last is what it says now.

        Where several have the name: one that is active, and of the user tier, if there is one.

        Raises:
            NotFoundError: there is none, or it is past its end, or erased.
            ForbiddenError: this handle sees another agent only.
        """
        return self._call(self.wrapped.get_topic, name, tier=tier, agent=agent)

    def topic(self, name: str) -> list[Topic]:
        """Every revision of the topics with a name, oldest first.

        Raises:
            NotFoundError: there never was one.
        """
        return self._call(self.wrapped.topic, name)

    def dream(self, *, agent: str | None = None, actor: str | None = None) -> Dream | None:
        """Consolidate now what no dream has read yet; None when there is nothing, or one is on its way.

        Args:
            agent: With whom; None for this handle's agent.
            actor: Who asked for it, for the audit, beside the dreamer itself.

        Raises:
            ForbiddenError: this handle is of another agent.
        """
        return self._call(self.wrapped.dream, agent=agent, actor=actor)

    def dream_diff(self, dream_id: str) -> tuple[TopicDiff, ...]:
        """What a dream changes of each topic, on which items, and what the new text has lost. Errors as `get_dream`."""
        return self._call(self.wrapped.dream_diff, dream_id)

    def dreams(self, *, limit: int = 100) -> list[Dream]:
        """Dreams, newest first: what each wrote, from which items, and what it cost."""
        return self._call(self.wrapped.dreams, limit=limit)

    def get_dream(self, dream_id: str) -> Dream:
        """One dream.

        Raises:
            NotFoundError: this user has no such dream, or it is another agent's.
        """
        return self._call(self.wrapped.get_dream, dream_id)

    def approve(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Carry out a proposed dream.

        Raises:
            NotFoundError: this user has no such dream.
            ConflictError: it is not proposed, or memory has moved on too far.
        """
        return self._call(self.wrapped.approve, dream_id, actor=actor)

    def reject(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Drop a proposed dream. Errors as in `approve`."""
        return self._call(self.wrapped.reject, dream_id, actor=actor)

    def revert(self, dream_id: str, *, actor: str = "user") -> Dream:
        """Bring back the topics that a dream changed. Errors as in `approve`."""
        return self._call(self.wrapped.revert, dream_id, actor=actor)

    def extractions(self, *, after: int = 0, limit: int = 100) -> list[Extraction]:
        """Every pass over messages, and what it found; `after` is the last ordinal of the page before."""
        return self._call(self.wrapped.extractions, after=after, limit=limit)

    def latest_extractions(self, *, before: int | None = None, limit: int = 100) -> list[Extraction]:
        """The same from the newest on; `before` is the last ordinal of the page before."""
        return self._call(self.wrapped.latest_extractions, before=before, limit=limit)

    def audit_page(
        self, *, action: AuditAction | None = None, before: AuditPlace | None = None, limit: int = 100
    ) -> AuditPage:
        """What was read, written and erased, from the newest on, and whether sessions that it names are gone.

        Args:
            action: Only this one.
            before: The place that the page before gave.
            limit: The most to give.
        """
        return self._call(self.wrapped.audit_page, action=action, before=before, limit=limit)

    def audit(self, *, before: datetime | AuditEntry | None = None, limit: int = 100) -> list[AuditEntry]:
        """What was read, written and erased, by whom, newest first.

        Args:
            before: Only what was before a moment; or the last entry of the page before, for the next one.
            limit: The most to give.
        """
        return self._call(self.wrapped.audit, before=before, limit=limit)

    def note_read(self, *, actor: str, about: Sequence[str] = ()) -> None:
        """Record in the audit that this memory was read, for programs that show it: a server, an export of one's own.

        Args:
            actor: Who read.
            about: What, in ids or the path of a request; never words of it.
        """
        self._call(self.wrapped.note_read, actor=actor, about=about)


class SyncMemoryFiles(Blocking[MemoryFiles]):
    """`MemoryFiles` with methods that block."""

    def call(self, command: JsonObject) -> ToolAnswer:
        """What a command of the memory tool is answered. Never raises what a model or a store did wrong: the answer says it.

        Args:
            command: The input of a call of the tool: `command`, and what that command takes.
        """
        return self._call(self.wrapped.call, command)

    def view(self, path: str, view_range: tuple[int, int] | None = None) -> str:
        """A file with line numbers from 1, or a folder two levels deep.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: the path or the range is none.
        """
        return self._call(self.wrapped.view, path, view_range)

    def entries(self) -> list[FileEntry]:
        """All files by path, topics included."""
        return self._call(self.wrapped.entries)

    def create(self, path: str, content: str) -> str:
        """A new file.

        Raises:
            InvalidInputError: the path is none, or there is a file or folder already, or a scan finds a threat in the text.
            LimitError: it is too long, or one too many.
        """
        return self._call(self.wrapped.create, path, content)

    def replace(self, path: str, old: str, new: str) -> str:
        """Put a text in place of another one, which stands in the file once.

        Raises:
            NotFoundError: there is no such file, or it has no such text.
            InvalidInputError: the text stands there more than once; or as `create`.
            LimitError: as `create`.
        """
        return self._call(self.wrapped.replace, path, old, new)

    def insert(self, path: str, after_line: int, text: str) -> str:
        """Put a text after a line; 0 is before the first one.

        Raises:
            NotFoundError: there is no such file.
            InvalidInputError: there is no such line; or as `create`.
            LimitError: as `create`.
        """
        return self._call(self.wrapped.insert, path, after_line, text)

    def delete(self, path: str) -> str:
        """Remove a file, or a folder with all that is in it. Of either nothing stays in the store.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: it can only be read.
        """
        return self._call(self.wrapped.delete, path)

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file, or a folder with all that is in it.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: a path is none, or can only be read, or there is something at the new path.
        """
        return self._call(self.wrapped.rename, old_path, new_path)


class SyncMemoryTools(Blocking[MemoryTools]):
    """`MemoryTools` with methods that block."""

    def begin_turn(self) -> None:
        """Forget the failures of the turn before."""
        self._run(self.wrapped.begin_turn)

    def schemas(self) -> list[JsonObject]:
        """The schemas of all tools."""
        return self._run(self.wrapped.schemas)

    def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """What a tool answers. Never raises what a caller or a store did wrong: the answer says it."""
        return self._call(self.wrapped.call, name, arguments)

    def memory_add(self, statement: str, *, tier: Tier = "agent", kind: ItemKind = "fact") -> ToolAnswer:
        """Note a statement."""
        return self._call(self.wrapped.memory_add, statement, tier=tier, kind=kind)

    def memory_replace(self, old_text: str, statement: str, *, tier: Tier | None = None) -> ToolAnswer:
        """Give the one entry that has a text another statement."""
        return self._call(self.wrapped.memory_replace, old_text, statement, tier=tier)

    def memory_remove(self, old_text: str, *, tier: Tier | None = None) -> ToolAnswer:
        """Take the one entry that has a text out of the block."""
        return self._call(self.wrapped.memory_remove, old_text, tier=tier)

    def memory_batch(self, operations: Sequence[Operation]) -> ToolAnswer:
        """Do all of the operations, or none."""
        return self._call(self.wrapped.memory_batch, operations)

    def memory_list(self, tier: Tier | None = None) -> ToolAnswer:
        """The entries of the block, with how full it is."""
        return self._call(self.wrapped.memory_list, tier)

    def memory_search(self, query: str, limit: int = DEFAULT_COUNT) -> ToolAnswer:
        """The entries that share words with a question, best first, archived ones too."""
        return self._call(self.wrapped.memory_search, query, limit)

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
        return self._call(self.wrapped.history_search, query, limit, roles=roles, since=since, until=until)

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
        return self._call(self.wrapped.history_read, first, last, session, page=page, part=part)


class SyncReplay(Blocking[Replay]):
    """`Replay` with methods that block."""

    def turns(self) -> Generator[ReplayTurn, None, None]:
        """Play all messages, and give every request that a live session would have sent.

        A request is due before each message of the model, and once more at the end.

        Raises:
            InvalidInputError: a message does not fit the log.
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        return self._iterate(self._run(self.wrapped.turns))

    def report(self) -> ReplayReport:
        """What the replay did, with everything verified that its session holds. O(log)."""
        return self._call(self.wrapped.report)


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
            self.wrapped.make, name, scope, is_read_only=is_read_only, expires_at=expires_at, lifetime=lifetime
        )

    def check(self, secret: str) -> ApiKey:
        """The key that a secret is of, now. Costs one read, and once a minute a write.

        Raises:
            UnauthenticatedError: no key has this secret, or the key is expired or revoked.
        """
        return self._call(self.wrapped.check, secret)

    def list_api_keys(self, *, after: str | None = None, limit: int = 100) -> list[ApiKey]:
        """API keys in the order of their making, revoked and expired ones too; `after` is the last id of the page before.

        Raises:
            NotFoundError: no key has the id `after`.
        """
        return self._call(self.wrapped.list_api_keys, after=after, limit=limit)

    def get(self, text: str) -> ApiKey:
        """The key with this id, or the one with this name that is not revoked. O(keys).

        Raises:
            NotFoundError: there is none.
        """
        return self._call(self.wrapped.get, text)

    def revoke(self, text: str, *, even_last: bool = False) -> ApiKey:
        """End the key with this id or name, at once and for ever. One that is revoked already stays as it is.

        Args:
            text: Its id or its name.
            even_last: Also the last key that works and may do everything; a server makes another when it begins anew.

        Raises:
            NotFoundError: there is none.
            ConflictError: it is the last key that works and may do everything.
        """
        return self._call(self.wrapped.revoke, text, even_last=even_last)

    def ensure_first(self) -> MadeApiKey | None:
        """A new admin key where none works that may write; None where there is one. Two at once make one."""
        return self._call(self.wrapped.ensure_first)


class SyncRequests(Blocking[Requests]):
    """`Requests` with methods that block."""

    def begin(self, key_id: ApiKeyId, idempotency_key: str, request_hash: str) -> KnownRequest | KeptAnswer:
        """Take the place of a write, to be finished or given up; or the answer that it had before.

        Raises:
            InvalidInputError: the key has another form, or was sent with another request.
            ConflictError: the same write is being carried out.
            OutcomeUnknownError: the same write never ended.
        """
        return self._call(self.wrapped.begin, key_id, idempotency_key, request_hash)

    def finish(self, request: KnownRequest, answer: KeptAnswer) -> None:
        """Keep what the write was answered with."""
        self._call(self.wrapped.finish, request, answer)

    def give_up(self, request: KnownRequest) -> None:
        """Free the place of a write that was not carried out."""
        self._call(self.wrapped.give_up, request)

    def is_untouched(self, written: Written) -> bool:
        """Whether it is certain that a piece of work wrote nothing."""
        return self._run(self.wrapped.is_untouched, written)


class SyncUsageStore(Blocking[UsageStore]):
    """`UsageStore` with methods that block."""

    def record_call(self, call: ModelCall) -> None:
        """Store the record of one call.

        Raises:
            ConflictError: a call with this id was recorded before.
        """
        self._call(self.wrapped.record_call, call)

    def sum_cost_usd(self, *, since: datetime | None = None, compaction_id: CompactionId | None = None) -> float:
        """The known cost of all calls since a moment, of one compaction, or both; 0 when there are none.

        A call of unknown cost counts 0.
        """
        return self._call(self.wrapped.sum_cost_usd, since=since, compaction_id=compaction_id)

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
            NotFoundError: no call has the id `after`.
        """
        return self._call(
            self.wrapped.list_calls,
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
        return self._call(self.wrapped.claim_lease, name, holder=holder, secs=secs)

    def renew_lease(self, name: LeaseName, *, holder: str, secs: float) -> bool:
        """Have a lease for so long from now on; False where the holder has it no more."""
        return self._call(self.wrapped.renew_lease, name, holder=holder, secs=secs)

    def release_lease(self, name: LeaseName, *, holder: str) -> None:
        """Give a lease back; nothing happens where the holder has it no more."""
        self._call(self.wrapped.release_lease, name, holder=holder)
