"""Follow: store what a client's transcript has grown by since it was read last.

Theory of operation. The position in the file is kept in the store and moves once the messages before it are stored; so a
crash in between has some lines read again. Each message is stored under the id of its last line, and lines whose ids are
stored are left out, so that reading them again changes nothing, in whatever pieces they come. A message that its log
refuses is counted and passed over: the file is written by another program, and nothing here can mend it.

Of a file that is read anew, some of what the log does not know was read before: what was erased with an earlier session, or
the first lines of a reply that is stored under its last one. That is passed over: what stands before a line that the log
knows, and a reply, or anything where no line is known, that is no later than the newest message of the log. So are titles,
which have no time. The position moves only at the end then, so that a reading that breaks off begins anew again.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Protocol

from everfold.core.log.appending import Incoming
from everfold.core.log.following import FollowedTranscript
from everfold.core.log.titles import clean_title
from everfold.core.log.transcripts import Conversation, Growth, TranscriptMessage
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError, InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.sessions.import_transcript import leave_out_stored, read_messages
from everfold.services.sessions.live import LiveSession

BATCH_COUNT: Final = 50
"""Messages of one append: some ten milliseconds, between which others are served."""


class GrowingTranscript(Protocol):
    """A transcript file that its client still writes."""

    @property
    def path(self) -> str:
        """Where it is."""
        ...

    @property
    def file_id(self) -> str:
        """Tells the file from another one at the same path."""
        ...

    def find_line(self, at_bytes: int) -> int:
        """Where the first line from there on begins, or the file ends; elsewhere once its client took lines out of it."""
        ...

    def read(self, start_bytes: int) -> Growth:
        """What it holds from a line on, a piece at a time; nothing past its end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was taken from a transcript.

    Attributes:
        session_id: Where the messages of its main conversation are; None while there are none.
        left_seq: The last message that the client has taken out of its window.
        stored_count: How many messages were stored.
        skipped: How many lines were passed over, by type; `(refused)` for messages that the log refuses.
    """

    session_id: SessionId | None
    left_seq: int
    stored_count: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Follower:
    """Follows one transcript.

    Attributes:
        position: As it is stored, or will be.
        open_session: Opens the session of a conversation, by the part of its name after the transcript's own.
        append: Stores messages at the end of a session's log.
        add_title: Gives a session the title that its conversation has by now.
        read_until: Of a file that is read anew, when the newest message of its log was said.
    """

    store: Store
    clock: Clock
    position: FollowedTranscript
    open_session: Callable[[str], Awaitable[LiveSession]]
    append: Callable[[LiveSession, Sequence[Incoming]], Awaitable[list[int]]]
    add_title: Callable[[LiveSession, str], Awaitable[None]]
    read_until: datetime | None = None
    stored_count: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    async def follow(self, transcript: GrowingTranscript) -> Taken:
        """Store what is new, piece by piece, and keep where the file was read to."""
        await self._find_start(transcript)
        while True:
            growth = await asyncio.to_thread(transcript.read, self.position.read_bytes)
            if not growth.read_bytes:
                break
            await self._take(growth)
        if self.read_until is not None and self.position.read_bytes:
            await self._keep()
        position = self.position
        return Taken(
            session_id=position.session_id,
            left_seq=position.left_seq,
            stored_count=self.stored_count,
            skipped=self.skipped,
        )

    async def _find_start(self, transcript: GrowingTranscript) -> None:
        """Begin anew with another file, or one that was shortened, unless the file holds what was erased: then it has no id.

        A file that was read and has no session holds it too, under whatever id: older versions noted one again.
        """
        known, file_id = self.position, transcript.file_id
        start_bytes = await asyncio.to_thread(transcript.find_line, known.read_bytes)
        has_changed = bool(known.read_bytes) and (file_id, start_bytes) != (known.file_id, known.read_bytes)
        if known.holds_erased or (has_changed and known.session_id is None):
            file_id = ""
        elif has_changed and known.session_id is not None:
            start_bytes, self.read_until = 0, await self._find_newest(known.session_id)
        self.position = replace(known, path=transcript.path, file_id=file_id, read_bytes=start_bytes)
        if start_bytes != known.read_bytes and self.read_until is None:
            await self._keep()

    async def _find_newest(self, session_id: SessionId) -> datetime | None:
        """When the newest message of a log was said, also where it was erased; None for an empty log."""
        state = await self.store.read_state(session_id)
        notes = await self.store.read_notes(session_id, [state.last_seq])
        return notes[0].said_at if notes else None

    async def _take(self, growth: Growth) -> None:
        for conversation in growth.conversations:
            await self._store(await self.open_session(_name_part(conversation)), conversation)
        self.skipped += Counter(growth.skipped)
        self.position = replace(self.position, read_bytes=self.position.read_bytes + growth.read_bytes)
        if self.read_until is None:
            await self._keep()

    async def _store(self, live: LiveSession, conversation: Conversation) -> None:
        read_until = self.read_until
        new = await leave_out_stored(self.store, live, conversation.messages, now=read_until or self.clock.now())
        if read_until is not None:
            new = _leave_out_read(new, conversation.messages, read_until)
        for at in range(0, len(new), BATCH_COUNT):
            await self._append(live, new[at : at + BATCH_COUNT])
            await asyncio.sleep(0)
        if conversation.title is not None and live.opening is None and read_until is None:
            await self.add_title(live, clean_title(conversation.title))
        if not _name_part(conversation):
            await self._note_compactions(live, conversation)

    async def _append(self, live: LiveSession, batch: Sequence[TranscriptMessage]) -> None:
        """Append a batch; where one cannot be read or the log refuses it, one by one, without those."""
        try:
            await self.append(live, read_messages(batch, now=self.clock.now()))
            self.stored_count += len(batch)
        except (InvalidInputError, ConflictError):
            if len(batch) == 1:
                self.skipped["(refused)"] += 1
                return
            for one in batch:
                await self._append(live, [one])

    async def _note_compactions(self, live: LiveSession, conversation: Conversation) -> None:
        """Remember the session, and what the client has taken out of its window."""
        if live.opening is None:
            self.position = replace(self.position, session_id=live.record.id)
        for message in conversation.messages:
            if message.is_compaction and message.label is not None:
                places = await self.store.find_client_ids(live.record.id, [message.label, *message.kept_labels])
                first_seq = min((seq for seq, _ in places.values()), default=1)
                self.position = replace(self.position, left_seq=max(self.position.left_seq, first_seq - 1))

    async def _keep(self) -> None:
        """Store the position; a session that was erased meanwhile is not brought back."""
        try:
            await self.store.keep_followed(self.position)
        except NotFoundError:
            self.position = replace(self.position, session_id=None, left_seq=0, path="", file_id="")
            await self.store.keep_followed(self.position)


def _name_part(conversation: Conversation) -> str:
    """The name of a side chain; empty for the conversation that the transcript is about."""
    return conversation.name.partition("/")[2]


def _leave_out_read(
    new: Sequence[TranscriptMessage], messages: Sequence[TranscriptMessage], read_until: datetime
) -> list[TranscriptMessage]:
    """What a log lacks of the messages of a file that is read anew, without what was read before."""
    labels = {label for message in new for label in message.labels}
    known_line = max((one.line for one in messages if labels.isdisjoint(one.labels)), default=0)
    return [
        one
        for one in new
        if one.line >= known_line
        and ((known_line and one.wire.get("role") != "assistant") or (one.said_at or read_until) > read_until)
    ]
