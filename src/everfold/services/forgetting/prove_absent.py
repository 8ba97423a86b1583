"""Prove that words are gone: everything that can be read of a user is looked through, and each place is named."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from everfold.core.conversations.hashes import hash_said
from everfold.core.log.client_lists import ClientMessage
from everfold.core.log.sessions import NO_END, SessionRecord
from everfold.core.primitives.ids import CompactionId, UserId
from everfold.core.text.searching import plan_exact_query
from everfold.ports.stores import Store
from everfold.services.forgetting.port_memory import read_memory
from everfold.services.sessions.list_compactions import iterate_compactions
from everfold.services.sessions.live import load_session
from everfold.services.sessions.shown import load_digest_texts, load_shown

_PAGE = 200
_SHORT_CHARS: Final = 12
"""A shorter word can stand in an id, a hash or a time by chance. Source: own choice; a chance of 16 ** -12 at each place."""
_MADE: Final = re.compile(
    r"datetime\.datetime\([^)]*\)|(?<=_)[0-9a-f]{30}(?![0-9a-f])|(?<![0-9a-f])[0-9a-f]{32}(?:[0-9a-f]{32})?(?![0-9a-f])"
    r"|(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])"
    r"|(?:(?<=\btokens=)|(?<=\bfactor=)|(?<=_secs=))\d+\.\d+"
)
"""Ids, hashes, times and the measured pace of a session, as they stand in what the store gives: no words of anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPlace:
    """Where a word is still read.

    Attributes:
        kind: `message`, `search`, `compaction`, `layout`, `digest`, `state`, `window`, `client_list`, `item`,
            `item_search`, `topic`, `title`, `dream`, `extraction`, `snapshot`, `recall`, `followed`, `file`, or `audit`.
        id: Of the session, compaction, digest, item, topic, dream or extraction; the path of a file.
        seq: The message, where there is one; else 0.
    """

    kind: str
    id: str
    word: str
    seq: int = 0


@dataclass(slots=True, kw_only=True)
class _Finder:
    """Looks for words in whatever it is shown, in any case, also where JSON escapes them.

    A short word counts where it stands outside of ids, hashes, times and measures.
    """

    words: tuple[str, ...]
    places: list[WordPlace] = field(default_factory=list)

    def look(self, kind: str, id_: str, value: object, *, seq: int = 0) -> None:
        text = str(value)
        said = _MADE.sub(" ", text)
        for word in self.words:
            if _holds(said if len(word) < _SHORT_CHARS else text, word.casefold()):
                self.places.append(WordPlace(kind=kind, id=id_, word=word, seq=seq))

    def look_at_hash(self, id_: str, message: ClientMessage) -> None:
        for word in self.words:
            if message.content in hash_said(word):
                self.places.append(WordPlace(kind="client_list", id=id_, word=word, seq=message.seq))


def _holds(text: str, folded: str) -> bool:
    escaped = json.dumps(folded)[1:-1]
    return any(folded in one or escaped in one for one in (text.casefold(), json.dumps(text).casefold()))


async def prove_absent(store: Store, user_id: UserId, words: Sequence[str]) -> list[WordPlace]:
    """Every place from which one of the words can still be read of a user; empty when they are gone. O(all of it).

    Looked through are messages, titles, windows, search rows, compactions, layouts, digests and states of every session, and of
    memory items, topics, dreams, extractions, snapshots, what turns show, files, search and audit, with all revisions. What a client of the gateway holds is kept as hashes:
    a word is looked for there as a message that says nothing else. Search is by word stems: a text that has the same stems in a row counts there.
    """
    finder = _Finder(words=tuple(word for word in words if word.strip()))
    for record in await store.list_sessions(user_id=user_id, agent_id=None, after=None, limit_count=NO_END):
        await _look_at_session(store, record, finder)
    await _look_at_memory(store, user_id, finder)
    for word in finder.words:
        query = plan_exact_query(word)
        for hit in await store.search(query, user_id=user_id, agent_id=None, session_id=None, limit_count=_PAGE):
            finder.places.append(WordPlace(kind="search", id=hit.session_id, word=word, seq=hit.seq))
        for item, _ in await store.search_items(query, user_id, None, limit_count=_PAGE):
            finder.places.append(WordPlace(kind="item_search", id=item.id, word=word))
    return list(dict.fromkeys(finder.places))


async def _look_at_session(store: Store, record: SessionRecord, finder: _Finder) -> None:
    state = await store.read_state(record.id)
    finder.look("state", record.id, state)
    finder.look("title", record.id, record.title)
    for first_seq in range(1, state.last_seq + 1, _PAGE):
        last_seq = min(first_seq + _PAGE - 1, state.last_seq)
        seqs = range(first_seq, last_seq + 1)
        for message in await store.read_messages(record.id, seqs, retracted=True):
            finder.look("message", record.id, (message.wire, message.view, message.lines), seq=message.seq)
        for note in await store.read_notes(record.id, seqs):
            finder.look("message", record.id, note, seq=note.seq)
        for content in await store.read_contents(record.id, first_seq, last_seq):
            finder.look("message", record.id, content.content.decode("utf-8", "replace"), seq=content.seq)
    async for compaction in iterate_compactions(store, record.id):
        finder.look("compaction", compaction.id, compaction)
        if compaction.certificate is not None:
            finder.look("layout", compaction.id, await store.read_layout(CompactionId(compaction.id)))
            ids = [id_ for id_, _ in compaction.certificate.digests]
            for digest in (await store.read_digests(ids)).values():
                finder.look("digest", digest.id, digest)
    finder.look("snapshot", record.id, await store.read_session_memory(record.id))
    finder.look("recall", record.id, await store.read_turn_recall(record.id))
    for held in (await store.read_client_list(record.id)).messages:
        finder.look_at_hash(record.id, held)
    followed = [one for one in await store.list_followed(record.user_id) if one.session_id == record.id]
    finder.look("followed", record.id, followed)
    await _look_at_window(store, record, finder)


async def _look_at_window(store: Store, record: SessionRecord, finder: _Finder) -> None:
    """What the session's layout and the messages behind it would show a model."""
    live = await load_session(store, record)
    messages = await load_shown(store, live)
    finder.look("window", record.id, live.layout)
    finder.look("window", record.id, await load_digest_texts(store, live))
    finder.look("window", record.id, [messages[seq] for seq in sorted(messages)])


async def _look_at_memory(store: Store, user_id: UserId, finder: _Finder) -> None:
    memory = await read_memory(store, user_id)
    rows: Iterable[tuple[str, str, object]] = (
        *(("item", item.id, item) for revisions in memory.items for item in revisions),
        *(("topic", topic.id, topic) for revisions in memory.topics for topic in revisions),
        *(("dream", dream.id, dream) for dream in memory.dreams),
        *(("extraction", one.id, one) for one in memory.extractions),
        *(("audit", f"{entry.at}", entry) for entry in memory.audit),
        *(("file", file.path, file) for file in memory.files),
    )
    for kind, id_, row in rows:
        finder.look(kind, id_, row)
