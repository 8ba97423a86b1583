"""Hooks: the moments of a session at which plug-ins are called."""

from everfold.core.observation.hooks import MemoryWrite, PendingFold, SessionEnd, SessionSwitch, TurnEnd, TurnStart


class Hooks:
    """A plug-in: make a subclass with the hooks that it needs, and pass it to `everfold.open(hooks=[...])`.

    Plug-ins are called in the order in which they were given, for at most `hooks.timeout_secs` each. One that raises or
    takes longer is reported, and the others are still called. Everything is stored before a hook is called, except that
    `on_pre_compress` is called before a message is folded.

    Code that does not await cannot be stopped, and blocks the event loop.
    """

    @property
    def name(self) -> str:
        """The name that hints and reports show; the name of the class unless a subclass says otherwise."""
        return type(self).__name__

    async def on_pre_compress(self, fold: PendingFold) -> str:  # noqa: ARG002 - what a subclass takes
        """Save what must not be lost of the messages, and return a hint for the model that writes their digest, or ""."""
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
        """An append changed memory; called for agents with structured memory only."""
