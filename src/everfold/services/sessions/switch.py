"""Switch: open, follow, branch and resume sessions, and tell plug-ins and listeners of it.

Everything is published after the store has committed it, so that a listener finds the new session.
Nothing is flushed before a switch, because nothing is ever pending: every append was durable when it returned.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.observation.events import SessionSwitched
from everfold.core.observation.hooks import SessionEnd, SessionSwitch, SwitchCause
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.windows.window import Window
from everfold.services.sessions.live import LiveSession, Opening
from everfold.services.sessions.open_session import Opener
from everfold.services.telling.stream import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Switcher:
    """An opener that is heard."""

    opener: Opener
    stream: Stream

    def prepare(
        self,
        user_id: UserId,
        agent_id: AgentId,
        session_key: str,
        settings: SessionSettings,
        *,
        ensure_user_id: Callable[[], Awaitable[UserId]],
    ) -> LiveSession:
        """See `Opener.prepare`. It is told once it is stored."""
        opening = Opening(
            ensure_user_id=ensure_user_id,
            new_id=self.opener.new_id,
            switching=lambda: self.stream.plugins.switching(user_id, agent_id),
            tell=lambda record: self._tell(record, None, "open"),
        )
        return self.opener.prepare(user_id, agent_id, session_key, settings, opening)

    async def add(self, user_id: UserId, agent_id: AgentId, session_key: str, settings: SessionSettings) -> LiveSession:
        """A new, empty session; told only where it became the current one."""
        async with self.stream.plugins.switching(user_id, agent_id):
            live = await self.opener.add(user_id, agent_id, session_key, settings)
            if live.record.is_current:
                await self._tell(live.record, None, "open")
        return live

    async def new(self, live: LiveSession) -> LiveSession:
        """See `Opener.follow`."""
        return await self._follow(live, lambda: self.opener.follow(live, "new"), "new")

    async def reset(self, live: LiveSession) -> LiveSession:
        """See `Opener.follow`."""
        return await self._follow(live, lambda: self.opener.follow(live, "reset"), "reset")

    async def branch(self, live: LiveSession, seq: int) -> LiveSession:
        """See `Opener.branch`. The session that was branched goes on and has no end."""
        async with self.stream.plugins.switching(live.record.user_id, live.record.agent_id):
            branched = await self.opener.branch(live, seq, started_by="branch")
            await self._tell(branched.record, live.record, "branch")
        return branched

    async def rewind(self, live: LiveSession, seq: int) -> LiveSession:
        """See `Opener.branch`. What ends is the current session, which need not be the one that is rewound."""
        async with self.stream.plugins.switching(live.record.user_id, live.record.agent_id):
            before = await self._find_current(live.record)
            rewound = await self.opener.branch(live, seq, started_by="rewind")
            await self._tell(rewound.record, before, "rewind")
        return rewound

    async def rotate(self, live: LiveSession) -> LiveSession:
        """See `Opener.rotate`. A session that stays is not told."""
        return await self._follow(live, lambda: self.opener.rotate(live), "compaction")

    async def resume(self, record: SessionRecord) -> LiveSession:
        """See `Opener.resume`. A session that is current already is not switched to."""
        async with self.stream.plugins.switching(record.user_id, record.agent_id):
            before = await self._find_current(record)
            live = await self.opener.resume(record.id)
            if before is None or before.id != record.id:
                await self._tell(live.record, before, "resume")
        return live

    async def _follow(
        self, live: LiveSession, follow: Callable[[], Awaitable[LiveSession]], cause: SwitchCause
    ) -> LiveSession:
        async with self.stream.plugins.switching(live.record.user_id, live.record.agent_id):
            following = await follow()
            if following is not live:
                await self._tell(following.record, live.record, cause)
        return following

    async def _find_current(self, record: SessionRecord) -> SessionRecord | None:
        """The session that is about to end; read only if a listener is told of it."""
        if self.stream.plugins.is_on or self.stream.hears(SessionSwitched):
            return await self.opener.store.find_current_session(record.user_id, record.agent_id, record.session_key)
        return None

    async def _tell(self, record: SessionRecord, before: SessionRecord | None, cause: SwitchCause) -> None:
        """End what was before, then switch."""
        previous_id: SessionId | None = None if before is None else before.id
        self.stream.publish(
            SessionSwitched(session_id=record.id, parent_id=record.parent_id, previous_id=previous_id, cause=cause)
        )
        plugins = self.stream.plugins
        if not plugins.is_on:
            return
        if before is not None and cause != "branch":
            await plugins.call(SessionEnd(session=replace(before, is_current=False), cause=cause))
        await plugins.call(
            SessionSwitch(session=record, parent_id=record.parent_id, previous_id=previous_id, cause=cause)
        )


_MOVING = frozenset({"revision", "settled", "retry"})
"""Breaks that fold nothing; the last two stand in what a former release has stored."""


def is_rotation_due(live: LiveSession, window: Window) -> bool:
    """Whether a window shows a new compaction of a session that is at rest.

    A session whose step is open, or whose digest is on its way, is rotated at a later compaction.
    """
    triggers = {
        one.reason.removeprefix("compaction: ") for one in window.report.cache_breaks if "compaction: " in one.reason
    }
    is_at_rest = live.state.safe_seq == live.state.last_seq and not live.state.has_work
    return bool(triggers - _MOVING) and is_at_rest
