"""Take window: the window of a turn, measured as a span, with the change to a new session that it may bring."""

from typing import NamedTuple

from everfold.core.log.calibration import count_tokens
from everfold.core.observation.activity import SentWindow
from everfold.core.observation.spans import WINDOW, describe_window
from everfold.core.windows.window import Window
from everfold.ports.stores import Store
from everfold.services.memory.recollect import Recollector
from everfold.services.sessions.live import LiveSession, copy_session
from everfold.services.sessions.switch import Switcher, is_rotation_due
from everfold.services.telling.stream import Stream
from everfold.services.turns.attend import Attendant
from everfold.services.turns.background import Background
from everfold.services.turns.show import report_breaks, show_window


class Taken(NamedTuple):
    """A window, and the session that goes on behind it: another one where it was rotated."""

    window: Window
    live: LiveSession


async def take_window(  # noqa: PLR0913 - each is a part of the handle, or asked for
    store: Store,
    live: LiveSession,
    background: Background,
    *,
    limit_tokens: int | None,
    suffix: str | None,
    is_preview: bool,
    is_complete: bool,
    stream: Stream,
    attendant: Attendant | None,
    recollector: Recollector | None,
    switcher: Switcher | None,
) -> Taken:
    """What the model is shown next; `switcher` rotates the session once that is due, None for a session that stays.

    Raises:
        InvalidInputError: the limit is above the session's own.
        BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        OpenStepError: it must be complete, and a step waits for results.
    """
    background.worker.handover.pick_up(live)
    shown = await copy_session(store, live) if is_preview else live
    with stream.tracer.span(WINDOW) as span:
        window = await show_window(
            store,
            shown,
            background,
            limit_tokens=limit_tokens,
            suffix=suffix,
            is_preview=is_preview,
            is_complete=is_complete,
            attendant=attendant,
            recollector=recollector,
        )
        span.set_attributes(describe_window(live.record.id, window.report, is_preview=is_preview))
    if is_preview:
        return Taken(window, live)
    _count(live, window, stream)
    state, is_due = live.state, switcher is not None and is_rotation_due(live, window)
    current = await switcher.rotate(live) if switcher is not None and is_due else live
    await report_breaks(live, background, state)
    return Taken(window, current)


def _count(live: LiveSession, window: Window, stream: Stream) -> None:
    """Count a window as a request, beside one with the whole conversation."""
    state, report = live.state, window.report
    whole = live.settings.prompt_tokens + state.fixed_tokens + state.safe_sum_tokens
    sent = SentWindow(
        last_seq=state.last_seq,
        stable_tokens=report.tokens - report.by_slice.get("suffix", 0),
        whole_tokens=count_tokens(window.calibration, whole),
    )
    resent_tokens = sum(broken.resent_tokens for broken in report.cache_breaks)
    stream.tally.count_window(live.sent, sent, window_tokens=report.tokens, resent_tokens=resent_tokens)
    live.sent = sent
