"""Hooks: the moments of a session at which plug-ins are called."""

from everfold.core.observation.hooks import MemoryWrite, PendingFold, SessionEnd, SessionSwitch, TurnEnd, TurnStart


class Hooks:
    """One plug-in. Make a subclass with the hooks that it needs, and give it to `everfold.open(hooks=[...])`.

    A hook that a subclass does not have is never called. Each call is awaited where it happens, in the order in which
    plug-ins were given, for at most `hooks.timeout_secs`. One that raises or takes longer is reported. The others
    are called all the same, and the append or switch stays: everything is stored before a hook is called, except for
    `on_pre_compress`, which is called before a message is folded.

    Code that does not await cannot be stopped, and blocks the event loop.
    """

    @property
    def name(self) -> str:
        """The name that hints and reports show; the name of the class unless a subclass says otherwise."""
        return type(self).__name__

    async def on_pre_compress(self, fold: PendingFold) -> str:  # noqa: ARG002 - what a subclass takes
        """Save what must not be lost of the messages, and give a hint for the model that writes their digest, or ""."""
        return ""

    async def on_session_switch(self, switch: SessionSwitch) -> None:
        """Another session is used from now on. Comes after `on_session_end` of the one before."""

    async def on_session_end(self, end: SessionEnd) -> None:
        """A session stopped being the current one."""

    async def on_turn_start(self, turn: TurnStart) -> None:
        """A user message was appended."""

    async def on_turn_end(self, turn: TurnEnd) -> None:
        """An answer was appended."""

    async def on_memory_write(self, write: MemoryWrite) -> None:
        """Something was written to memory. Not called in this release, which has no memory."""
