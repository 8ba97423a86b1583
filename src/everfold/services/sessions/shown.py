"""Shown: what the window of a session is made of, read and built again only where it has changed.

Under one layout a window only grows at its end. So the messages that were loaded, the body and the tail of one window
serve the next one, and a turn costs what is new in it, however long the log is.
"""

from collections.abc import Sequence

from everfold.core.compaction.planning import list_noted
from everfold.core.log.messages import Message
from everfold.core.text.frames import continuity_note
from everfold.core.windows.window import Body, Tail, build_body, build_tail, shown_seqs
from everfold.ports.stores import Store
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.remembered import LoadedUpTo, NotedMoment, ShownTail, TurnNote

SPARE_MESSAGES = 64
"""How many messages that are no longer shown may stay in memory before they are let go."""


async def load_shown(store: Store, live: LiveSession) -> dict[int, Message]:
    """The messages that the window shows, and maybe others. O(what is new) since a window under the same layout."""
    state, layout, before = live.state, live.layout, live.loaded
    seqs: Sequence[int] = (
        shown_seqs(state, layout)
        if before is None or not before.holds(state, layout)
        else range(before.last_seq + 1, state.safe_seq + 1)
    )
    messages = await live.load_messages(store, seqs)
    live.loaded = LoadedUpTo(layout, state.epoch, state.fixed_seq, state.safe_seq)
    return messages


async def load_body(store: Store, live: LiveSession, *, snapshot: str = "") -> Body:
    """What the layout shows of the past; built once for each layout, from messages that are loaded already."""
    body, state, layout = live.body, live.state, live.layout
    wanted = (snapshot, state.refresh_seq)
    if body is not None and body.layout is layout and wanted == (body.snapshot, body.refresh_seq):
        return body
    digest_ids = [shown.digest_id for shown in layout.ranges if shown.digest_id]
    digests = await live.load_digests(store, digest_ids)
    texts = {digest_id: digests[digest_id].text for digest_id in digest_ids}
    live.body = build_body(layout, live.messages, texts, snapshot=snapshot, refresh_seq=state.refresh_seq)
    return live.body


def note_turn(live: LiveSession) -> str:
    """The continuity note of the running turn: the same on every step of it, unless a compaction comes in between."""
    moment = NotedMoment(live.state.turn_seq, live.state.compaction_id)
    if live.noted is None or live.noted.moment != moment:
        noted = list_noted(live.state.awaited, live.layout)
        live.noted = TurnNote(moment, continuity_note([(one.first_seq, one.last_seq) for one in noted]))
    return live.noted.text


def build_shown_tail(live: LiveSession) -> Tail:
    """What the window shows after its body, from messages that are loaded already; what was shown stays."""
    state, layout, shown = live.state, live.layout, live.tail
    before = shown.tail if shown is not None and shown.layout is layout and shown.epoch == state.epoch else None
    tail = build_tail(state, layout, live.messages, before=before)
    live.tail = ShownTail(layout, state.epoch, tail)
    return tail


def let_go(live: LiveSession) -> None:
    """Forget what the window does not show, once that is much."""
    state, layout = live.state, live.layout
    shown_count = state.last_seq - max(layout.watermark, state.fixed_seq) + state.fixed_seq + len(layout.held)
    if len(live.messages) <= shown_count + SPARE_MESSAGES:
        return
    shown = set(shown_seqs(state, layout))
    live.messages = {seq: message for seq, message in live.messages.items() if seq in shown or seq > state.safe_seq}
    ids = {shown_range.digest_id for shown_range in layout.ranges}
    live.digests = {id_: digest for id_, digest in live.digests.items() if id_ in ids}
