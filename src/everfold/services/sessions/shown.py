"""Shown: what the window of a session is made of, read again only where it has changed.

Under one layout a window only grows at its end. So what was loaded for one window serves the next one, and a turn costs
what is new in it, however long the log is.
"""

from collections.abc import Sequence

from everfold.core.compaction.planning import list_noted
from everfold.core.log.messages import Message
from everfold.core.text.frames import continuity_note
from everfold.core.windows.window import needed_seqs
from everfold.ports.stores import Store
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.remembered import LoadedUpTo, NotedMoment, TurnNote

SPARE_MESSAGES = 64
"""How many messages that are no longer shown may stay in memory before they are let go."""


async def load_shown(store: Store, live: LiveSession) -> dict[int, Message]:
    """The messages that the window shows, and maybe others. O(what is new) since a window under the same layout."""
    state, layout, before = live.state, live.layout, live.loaded
    if before is not None and before.holds(state, layout):
        seqs: Sequence[int] = range(before.last_seq + 1, state.safe_seq + 1)
    else:
        seqs = needed_seqs(state, layout)
        _let_go(live, seqs)
    messages = await live.load_messages(store, seqs)
    live.loaded = LoadedUpTo(layout, state.epoch, state.fixed_seq, state.safe_seq)
    return messages


async def load_digest_texts(store: Store, live: LiveSession) -> dict[str, str]:
    """The text of every digest that the layout shows, by id; only those that are not remembered are read."""
    shown_ids = [shown.digest_id for shown in live.layout.ranges if shown.digest_id]
    return {id_: digest.text for id_, digest in (await live.load_digests(store, shown_ids)).items()}


def _let_go(live: LiveSession, shown: Sequence[int]) -> None:
    """Forget what the window does not show, once that is much."""
    if len(live.messages) <= len(shown) + SPARE_MESSAGES:
        return
    kept = set(shown)
    live.messages = {seq: message for seq, message in live.messages.items() if seq in kept or seq > live.state.safe_seq}
    ids = {shown_range.digest_id for shown_range in live.layout.ranges}
    live.digests = {id_: digest for id_, digest in live.digests.items() if id_ in ids}


def note_turn(live: LiveSession) -> str:
    """The continuity note of the running turn: the same on every step of it, unless a compaction comes in between."""
    moment = NotedMoment(live.state.turn_seq, live.state.compaction_id)
    if live.noted is None or live.noted.moment != moment:
        noted = list_noted(live.state.awaited, live.layout)
        live.noted = TurnNote(moment, continuity_note([(one.first_seq, one.last_seq) for one in noted]))
    return live.noted.text
