"""What becomes of a client's event: its transcript is fed to the store, and some events have an answer.

Theory of operation. Every event first feeds what the transcript has grown by. A feed may be long, where a client is
connected in the middle of its work; so an event waits for it only a moment, and is answered from what is stored by then. The
events of one conversation take their turn, feeds and compactions in the order in which they came.
"""

import asyncio
import math
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from everfold.adapters.transcripts.files import TranscriptFile
from everfold.core.log.following import FollowedTranscript
from everfold.engine import Everfold
from everfold.integrations.coding_agents.connection import Connection
from everfold.services.turns.follow_transcript import Taken
from everfold.session import Session

FEED_SECS: Final = 0.15
"""So long a prompt waits for its transcript to be fed; what is said within a window is stored in less."""
COMPACT_SECS: Final = 2.0
"""So long a client's compaction, or its start after one, waits for ours."""

SOON_SECS: Final = 5.0
"""Codex starts once for each reason, one behind the other. Source: our trials with Codex 0.169."""

Event = Mapping[str, object]


@dataclass(slots=True, kw_only=True)
class _Talk:
    """One conversation of a client."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    taken: Taken | None = None
    is_compacted: bool = False
    handed: str = ""
    handed_at: float = -math.inf


@dataclass(slots=True, kw_only=True)
class Answering:
    """Answers the events of clients over one store.

    Attributes:
        tasks: What still runs beside the answers.
    """

    engine: Everfold
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _talks: dict[tuple[str, ...], _Talk] = field(default_factory=dict)

    async def answer(self, connection: Connection, event: Event) -> str:
        """What a client's model is told; empty for nothing."""
        if not isinstance(event.get("transcript_path"), str) or not isinstance(event.get("session_id"), str):
            return ""
        talk = self._find(connection, event)
        match event.get("hook_event_name"), event.get("source"):
            case "UserPromptSubmit", _:
                await self._begin(self._feed(connection, event, talk), wait_secs=FEED_SECS)
                return await self._recall(event, talk)
            case "PreCompact", _:
                await self._begin(self._compact(connection, event, talk), wait_secs=COMPACT_SECS)
            case "SessionStart", "compact":
                await self._begin(self._compact_once(connection, event, talk), wait_secs=COMPACT_SECS)
                return await self._hand_over(talk, event)
            case "SessionStart", "resume":
                await self._begin(self._feed(connection, event, talk), wait_secs=COMPACT_SECS)
                has_left = talk.taken is not None and talk.taken.left_seq > 0
                return await self._hand_over(talk, event) if has_left else ""
            case _:
                await self._begin(self._feed(connection, event, talk), wait_secs=0)
        return ""

    async def catch_up(self, connection: Connection) -> None:
        """Feed the transcripts that changed while no daemon ran."""
        for key, followed in await self.engine.list_followed(user=connection.user, agent=connection.agent):
            client, _, conversation = key.partition(":")
            if client == connection.client and _has_changed(followed):
                event = {"session_id": conversation, "transcript_path": followed.path}
                await self._begin(self._feed(connection, event, self._find(connection, event)), wait_secs=0)

    async def drain(self) -> None:
        """Wait for what still runs."""
        while self.tasks:
            await asyncio.wait(self.tasks)

    def _find(self, connection: Connection, event: Event) -> _Talk:
        key = (connection.client, connection.user, connection.agent, str(event["session_id"]))
        return self._talks.setdefault(key, _Talk())

    async def _begin(self, work: Coroutine[None, None, None], *, wait_secs: float) -> None:
        """Have something done, and wait for it for a moment."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        await asyncio.wait({task}, timeout=wait_secs)

    async def _feed(self, connection: Connection, event: Event, talk: _Talk) -> None:
        async with talk.lock:
            await self._take(connection, event, talk)

    async def _take(self, connection: Connection, event: Event, talk: _Talk) -> None:
        conversation = str(event["session_id"])
        transcript = TranscriptFile(
            file=Path(cast("str", event["transcript_path"])),
            client=connection.client,
            name=conversation,
            is_over=event.get("hook_event_name") == "SessionEnd",
        )
        if transcript.file.exists():
            talk.taken = await self.engine.follow_transcript(
                transcript,
                client=connection.client,
                conversation=conversation,
                user=connection.user,
                agent=connection.agent,
                limit=connection.limit_tokens,
            )

    async def _compact(self, connection: Connection, event: Event, talk: _Talk) -> None:
        """Fold all that the client is about to fold."""
        async with talk.lock:
            await self._take(connection, event, talk)
            session = await self._find_session(talk)
            if session is not None:
                await session.compact(keep_recent=1)
            talk.is_compacted = True

    async def _compact_once(self, connection: Connection, event: Event, talk: _Talk) -> None:
        """The same where no event before the client's compaction came here."""
        async with talk.lock:
            is_compacted, talk.is_compacted = talk.is_compacted, False
        if not is_compacted:
            await self._compact(connection, event, talk)
            talk.is_compacted = False

    async def _recall(self, event: Event, talk: _Talk) -> str:
        prompt, session = event.get("prompt"), await self._find_session(talk)
        if not isinstance(prompt, str) or session is None or talk.taken is None:
            return ""
        return await session.integration.recall_past(prompt, through=talk.taken.left_seq)

    async def _hand_over(self, talk: _Talk, event: Event) -> str:
        """The past as one text. A client that is resumed, or that asks twice for one start, has it already."""
        session = await self._find_session(talk)
        text = "" if session is None else await session.integration.hand_over()
        is_soon = time.monotonic() - talk.handed_at < SOON_SECS
        is_known = text == talk.handed and (is_soon or event.get("source") == "resume") and not _asks_again(event)
        if is_known:
            return ""
        talk.handed, talk.handed_at = text, time.monotonic()
        return text

    async def _find_session(self, talk: _Talk) -> Session | None:
        """The session of a conversation; None while nothing of it is stored."""
        if talk.taken is None or talk.taken.session_id is None:
            return None
        return await self.engine.session(id=talk.taken.session_id)


def _asks_again(event: Event) -> bool:
    """Whether a client keeps nothing of what it was told before, and asks for it again at each start."""
    return event.get("is_fresh") is True


def _has_changed(followed: FollowedTranscript) -> bool:
    path = Path(followed.path)
    return path.exists() and path.stat().st_size != followed.read_bytes
