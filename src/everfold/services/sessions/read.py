"""Read: messages by range, around a message, and by page of an oversized one."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from everfold.core.log.messages import Message, Note
from everfold.core.log.pages import count_pages, cut_page
from everfold.core.log.visible import PAGE_CHARS
from everfold.errors import InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.sessions.live import LiveSession

MOST_READ = 1000
_LEAST_READ = 40
"""So many notes are read at once at least, where the newest of some messages are looked for."""
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a message's readable text. Pages count from 1."""

    seq: int
    page: int
    page_count: int
    text: str


async def read_range(
    store: Store, live: LiveSession, first_seq: int, last_seq: int, *, retracted: bool = False
) -> list[Message]:
    """The messages from `first_seq` to `last_seq`, both included; erased ones are left out.

    So are retracted ones, unless they are asked for.

    Raises:
        InvalidInputError: the range is empty or larger than `MOST_READ`.
    """
    require_range(live, first_seq, last_seq)
    await live.reload(store)
    last_seq = min(last_seq, live.state.last_seq)
    if live.opening is not None:
        return []
    return await store.read_messages(live.record.id, range(first_seq, last_seq + 1), retracted=retracted)


async def find_newest(store: Store, live: LiveSession, count: int, *, counts: Callable[[Note], bool]) -> list[int]:
    """The newest so many messages that count, rising; fewer where the log has no more. O(how far back they are)."""
    found: list[int] = []
    reach = max(count, _LEAST_READ)
    for last_seq in range(live.state.last_seq, 0, -reach):
        notes = await store.read_notes(live.record.id, range(max(last_seq - reach, 0) + 1, last_seq + 1))
        found = [*(note.seq for note in notes if counts(note)), *found]
        if len(found) >= count:
            break
    return found[-count:]


def require_range(live: LiveSession, first_seq: int, last_seq: int) -> None:
    """Refuse a range that cannot be read at once.

    Raises:
        InvalidInputError: it is empty or larger than `MOST_READ`.
    """
    if first_seq < 1 or last_seq < first_seq or last_seq - first_seq >= MOST_READ:
        raise InvalidInputError(
            f"session {live.record.id}: messages {first_seq} to {last_seq} cannot be read at once; "
            f"expected 1 <= first <= last and at most {MOST_READ} messages",
            session=live.record.id,
        )


async def look_up(
    store: Store, live: LiveSession, *, client_ids: Sequence[str], hashes: Sequence[str]
) -> dict[str, int]:
    """The messages with these client ids or hashes: their numbers by what they were asked for.

    Raises:
        InvalidInputError: more than `MOST_READ` are given, or one is no client id or no hash.
    """
    if len(client_ids) + len(hashes) > MOST_READ:
        raise InvalidInputError(
            f"session {live.record.id}: at most {MOST_READ} messages are looked up at once, "
            f"got {len(client_ids) + len(hashes)}",
            session=live.record.id,
        )
    for asked in (client_ids, hashes):
        if isinstance(asked, str) or not all(isinstance(one, str) for one in asked):
            raise InvalidInputError(
                f"session {live.record.id}: client ids and hashes are lists of texts, got {asked!r}"
            )
    for hash_ in hashes:
        if not _HASH.fullmatch(hash_):
            raise InvalidInputError(f"{hash_!r} is not a message hash; expected SHA-256 as 64 lower-case hex digits")
    session_id = live.record.id
    found = {id_: seq for id_, (seq, _) in (await store.find_client_ids(session_id, client_ids)).items()}
    return found | (await store.find_hashes(session_id, hashes) if hashes else {})


async def read_page(store: Store, live: LiveSession, seq: int, page: int) -> Page:
    """One page of a message's text, however long it is.

    Raises:
        NotFoundError: the session has no such message, or the message no such page.
    """
    if live.opening is not None:
        await live.reload(store)
    found = [] if live.opening else await store.read_messages(live.record.id, [seq], retracted=True)
    message = require_seq(found, live, seq)
    text = message.view.text
    page_count = count_pages(text)
    if not 1 <= page <= page_count:
        raise NotFoundError(
            f"session {live.record.id}: message {seq} has {page_count} pages of {PAGE_CHARS} characters, no page {page}",
            session=live.record.id,
            seq=seq,
        )
    return Page(seq=seq, page=page, page_count=page_count, text=cut_page(text, page))


def require_seq(messages: Sequence[Message], live: LiveSession, seq: int) -> Message:
    """The one with a number of the messages that were found.

    Raises:
        NotFoundError: it is not among them.
    """
    for message in messages:
        if message.seq == seq:
            return message
    raise NotFoundError(
        f"session {live.record.id} has no message {seq}; it has 1 to {live.state.last_seq}, except erased ones",
        session=live.record.id,
        seq=seq,
    )
