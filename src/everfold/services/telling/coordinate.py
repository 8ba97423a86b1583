"""Coordinate: call the hooks of every plug-in, in their order, so that none can harm another or the session.

A call is for one plug-in: it has that plug-in's own counters, its own time limit, and its error stays its own. A plug-in
that does not have a hook is not called, and without a plug-in for it nothing is made, awaited or locked.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from weakref import WeakValueDictionary

from anyio import Lock, move_on_after

from everfold.core.extraction.hints import join_hints
from everfold.core.log.sessions import SessionRecord
from everfold.core.observation.events import HookFailed
from everfold.core.observation.hooks import HOOK_OF, NO_HINTS, Counters, Hints, HookCall, PendingFold, SessionSwitch
from everfold.core.primitives.ids import SessionId
from everfold.errors import HookError, InvalidInputError
from everfold.ports.hooks import Hooks
from everfold.services.telling.stopping import FAULTS, Stopping

DEFAULT_TIMEOUT_SECS = 10.0

MOST_SESSIONS = 4096
"""How many sessions' counters are held at most; those used longest ago are forgotten first."""

_FAILED = object()
"""Stands in the place of an answer when a plug-in gave none."""


class Coordinator:
    """The plug-ins of one engine, behind one object.

    Args:
        plugins: Called in this order, one after the other.
        timeout_secs: For each call of each plug-in.
        strict: Refuse a compaction when no plug-in's `on_pre_compress` succeeded.
        publish: Told of each failure.

    Attributes:
        is_on: There is a plug-in with at least one hook.
        is_strict: Nothing may leave the window, but for an overflow, before a plug-in's `on_pre_compress` succeeded.

    Raises:
        InvalidInputError: one of the plug-ins is none.
    """

    def __init__(
        self,
        plugins: Sequence[Hooks],
        *,
        timeout_secs: float,
        strict: bool,
        publish: Callable[[HookFailed], None],
    ) -> None:
        for index, plugin in enumerate(plugins):
            if not isinstance(plugin, Hooks):
                raise InvalidInputError(
                    f"hooks[{index}] is not a plug-in; expected an instance of a subclass of everfold.Hooks, got {plugin!r}"
                )
        self._timeout_secs = timeout_secs
        self.is_strict = strict
        self._publish = publish
        self._names = {id(plugin): str(plugin.name) for plugin in plugins}
        self._having = {
            kind: tuple(it for it in plugins if getattr(type(it), hook) is not getattr(Hooks, hook))
            for kind, hook in HOOK_OF.items()
        }
        self.is_on = any(self._having.values())
        self._counters: OrderedDict[SessionId, dict[int, Counters]] = OrderedDict()
        self._switching: WeakValueDictionary[tuple[str, str], Lock] = WeakValueDictionary()

    def hears(self, kind: type[HookCall]) -> bool:
        """Some plug-in has the hook that takes this, so that it is worth making."""
        return bool(self._having[kind])

    @property
    def is_asked_before_folds(self) -> bool:
        """`on_pre_compress` is to be called before a fold: a plug-in has it, or strict asks for one that has."""
        return self.is_strict or self.hears(PendingFold)

    async def ask(self, fold: PendingFold) -> Hints:
        """Ask for hints, and let the plug-ins save what they need, before anything leaves.

        Raises:
            HookError: strict, and no plug-in succeeded; nothing may be folded.
        """
        plugins = self._having[PendingFold]
        if not plugins and not self.is_strict:
            return NO_HINTS
        answers: list[tuple[str, str]] = []
        for plugin in plugins:
            hint = await self._call(plugin, fold)
            if isinstance(hint, str):
                answers.append((self._names[id(plugin)], hint))
            elif hint is not _FAILED:
                self._report(plugin, fold, TypeError(f"the hint is a {type(hint).__name__}"))
        if self.is_strict and not answers:
            raise HookError(
                f"session {fold.session.id}: compaction {fold.compaction_id} folds nothing: none of {len(plugins)} plug-ins "
                f"passed on_pre_compress in {self._timeout_secs:g} s; fix one, or set hooks.strict = false",
                session=fold.session.id,
                compaction=fold.compaction_id,
            )
        return Hints(text=join_hints(answers), called_count=len(plugins), succeeded_count=len(answers))

    async def call(self, told: HookCall) -> None:
        """Call the hook that takes this, of every plug-in that has it. A switch takes the counters along first."""
        if isinstance(told, SessionSwitch) and told.previous_id is not None:
            self._carry_counters(told, told.previous_id)
        for plugin in self._having[type(told)]:
            await self._call(plugin, told)

    @asynccontextmanager
    async def switching(self, user_id: str, agent_id: str) -> AsyncIterator[None]:
        """Held around a switch and its hooks, so that two switches of one user and agent are told in their order."""
        if not self.is_on:
            yield
            return
        lock = self._switching.setdefault((user_id, agent_id), Lock())
        async with lock:
            yield

    async def _call(self, plugin: Hooks, told: HookCall) -> object:
        """What the plug-in answers, or `_FAILED`. Only a cancellation of the caller passes through."""
        counters = self._take_counters(told.session, plugin)
        answer: object = _FAILED
        stopping = Stopping()
        try:
            with move_on_after(self._timeout_secs) as scope:
                answer = await getattr(plugin, HOOK_OF[type(told)])(replace(told, counters=counters))
        except FAULTS as error:
            await stopping.pass_on(error)
            self._report(plugin, told, error)
        if scope.cancelled_caught:
            self._report(plugin, told, None)
        return answer

    def _report(self, plugin: Hooks, told: HookCall, error: BaseException | None) -> None:
        self._publish(
            HookFailed(
                session_id=told.session.id,
                plugin=self._names[id(plugin)],
                hook=HOOK_OF[type(told)],
                error_name="timeout" if error is None else type(error).__name__,
                error=error,
            )
        )

    def _take_counters(self, session: SessionRecord, plugin: Hooks) -> Counters:
        by_plugin = self._counters.setdefault(session.id, {})
        self._counters.move_to_end(session.id)
        if len(self._counters) > MOST_SESSIONS:
            self._counters.popitem(last=False)
        return by_plugin.setdefault(id(plugin), {})

    def _carry_counters(self, switch: SessionSwitch, previous_id: SessionId) -> None:
        """A branch begins with what its parent counts, and the parent goes on; else there is one session to count for."""
        if switch.cause == "branch":
            found = self._counters.get(previous_id, {})
            counters = {plugin: dict(counts) for plugin, counts in found.items()}
        else:
            counters = self._counters.pop(previous_id, {})
        if counters and not switch.is_reset:
            self._counters[switch.session.id] = counters
