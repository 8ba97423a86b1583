"""Items in SQL: their revisions, where they are quoted, and the search over them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, groupby, islice, product
from typing import cast

from everfold.adapters.sql.database import Bound, Database, Row, SqlValue, TermCounts
from everfold.adapters.sql.matching import key_words, write_item_scope
from everfold.adapters.sql.owners import find_agent_key, find_user_key, get_agent_key
from everfold.adapters.sql.packing import pack_row, unpack_revisions, unpack_row
from everfold.core.memory.items import Item, ItemId, ItemStatus, Shelf, index_item
from everfold.core.memory.records import MemoryVersion, RelatedItems
from everfold.core.memory.rows import item_from_bytes, item_to_bytes
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchQuery, choose_terms, part_terms
from everfold.errors import ConflictError, NotFoundError

LIKE_ENTRIES_COUNT = 500
"""How many entries of the index `find_related` reads by rank: a word of more items tells no subject. So each costs the same,
however many similar items there are. Source: own measurement, 1,000 appends of similar notes over 3,000 items."""
NO_AGENT = -1
"""The place of an agent that nothing was ever stored for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which items a listing is of; see `ItemStore.list_items`."""

    statuses: tuple[ItemStatus, ...]
    is_block: bool
    changed_after: int | None
    after: ItemId | None
    limit_count: int

    @property
    def runs(self) -> list[tuple[ItemStatus, Shelf]]:
        """The statuses and shelves that it is of."""
        shelves: tuple[Shelf, ...] = ("block",) if self.is_block else ("block", "archive")
        return list(product(dict.fromkeys(self.statuses), shelves))

    @property
    def takes_one_query(self) -> bool:
        """Whether one query reads the items, at one moment by itself."""
        return self.changed_after is not None or len(self.runs) == 1


def find_place(database: Database, agent_id: AgentId | None) -> int | None:
    """The place of what one agent has for itself; None for the owner, who is given every place."""
    if agent_id is None:
        return None
    agent_key = find_agent_key(database, agent_id)
    return NO_AGENT if agent_key is None else agent_key


def write_item(
    database: Database, user_key: int, item: Item, *, written_revision: int, forgets: bool
) -> Sequence[Bound]:
    """Write one more revision of an item; of what is erased all that was before goes.

    Returns:
        What is to be run to write its evidence and its words.
    """
    place = 0 if item.tier == "user" else get_agent_key(database, item.agent_id)
    content = item_to_bytes(item)
    item_key = _make_room(database, user_key, item, content, forgets=forgets)
    values: dict[str, SqlValue] = {
        "id": item.id,
        "user_key": user_key,
        "place": place,
        "status": item.status,
        "shelf": item.shelf,
        "identity": item.identity,
        "revision": item.revision,
        "written_revision": written_revision,
        "content": pack_row(content),
    }
    if item_key is None:
        item_key = database.insert("insert_item", **values)
        if not item_key:
            owner_key, revision = cast("tuple[int, int]", (database.row("find_item", item_id=item.id) or ())[1:3])
            check_follows(item.id, item.revision, found=revision, is_own=owner_key == user_key)
    else:
        database.run("update_item", **values)
    quoted: list[dict[str, SqlValue]] = [
        {"user_key": user_key, "item_key": item_key, "session_id": one.session_id, "seq": one.seq}
        for one in item.evidence
    ]
    asked: list[Bound] = [("insert_evidence", one) for one in quoted]
    if item.status == "active":
        words = key_words(user_key, index_item(item))
        scope = write_item_scope(user_key, place=place)
        asked.append(("insert_item_words", {"item_key": item_key, "own": words, "scope": scope}))
    return asked


def _make_room(database: Database, user_key: int, item: Item, content: bytes, *, forgets: bool) -> int | None:
    """Put the newest revision of an item among the ones before, or drop them all; the item's key if it is there.

    A first revision has none before.
    """
    if item.revision == 1:
        return None
    row = database.row("find_item", item_id=item.id)
    if row is None:
        return None
    item_key, owner_key, revision, status, _ = cast("tuple[int, int, int, str, int]", row)
    check_follows(item.id, item.revision, found=revision, is_own=owner_key == user_key)
    keys = {"user_key": user_key, "item_key": item_key}
    if forgets:
        database.run("delete_item_revisions", **keys)
        database.run("delete_evidence", **keys)
    else:
        older = pack_row(_read_content(database, **keys), content)
        database.run("keep_item_revision", **keys, revision=revision, content=older)
    if status == "active":
        database.run("delete_item_words", **keys)
    return item_key


def check_follows(id_: str, revision: int, *, found: int, is_own: bool) -> None:
    """Refuse a revision that does not come after the newest one, and an id that another user's memory has."""
    if not is_own:
        raise refuse_taken(id_)
    if found >= revision:
        raise ConflictError(f"{id_} is at revision {found} already, the new one is {revision}; read it again", id=id_)


def refuse_taken(id_: str) -> ConflictError:
    """The error for an id of an export that is in the store already; no other way brings one."""
    return ConflictError(
        f"this store has {id_} of the export already; import into another store, or wipe the user who has it", id=id_
    )


def list_items(database: Database, user_id: UserId, agent_id: AgentId | None, asked: ItemFilter) -> list[Item]:
    """See `ItemStore.list_items`. O(items given), for each status and shelf, or O(items changed) where those are asked for."""
    user_key, place = find_user_key(database, user_id), find_place(database, agent_id)
    after_key = 0 if asked.after is None else _get_listed_key(database, user_key, place, asked.after)
    if user_key is None:
        return []
    if asked.changed_after is None:
        rows = _list_runs(database, user_key, place, asked, after_key)
    else:
        rows = _list_changed(database, user_key, place, asked, after_key)
    return [_read_item(content) for _, content in islice(rows, asked.limit_count)]


def _list_runs(
    database: Database, user_key: int, place: int | None, asked: ItemFilter, after_key: int
) -> Iterable[tuple[int, bytes]]:
    """Keys and contents in order: each status and shelf is a run of its own in an index, and the runs are merged."""
    asking = [_ask_run(user_key, place, run, after_key=after_key, limit_count=asked.limit_count) for run in asked.runs]
    return merge(*cast("list[list[tuple[int, bytes]]]", database.rows_all(asking)))


def _ask_run(
    user_key: int, place: int | None, run: tuple[ItemStatus, Shelf], *, after_key: int, limit_count: int
) -> Bound:
    """Asks for the items of one status and shelf."""
    bound: dict[str, SqlValue] = {
        "user_key": user_key,
        "place": place,
        "status": run[0],
        "shelf": run[1],
        "after": after_key,
        "limit_count": limit_count,
    }
    return "list_items" if place is None else "list_placed_items", bound


def _list_changed(
    database: Database, user_key: int, place: int | None, asked: ItemFilter, after_key: int
) -> list[tuple[int, bytes]]:
    rows = database.rows("list_changed_items", user_key=user_key, changed_after=asked.changed_after)
    return sorted(
        (cast("int", key), cast("bytes", content))
        for key, status, found_place, shelf, content in rows
        if (status, shelf) in asked.runs
        and (place is None or found_place in (0, place))
        and cast("int", key) > after_key
    )


def _read_item(content: SqlValue) -> Item:
    return item_from_bytes(unpack_row(cast("bytes", content)))


def _read_content(database: Database, *, user_key: int, item_key: int) -> bytes:
    (content,) = cast("tuple[bytes]", database.row("read_item", user_key=user_key, item_key=item_key))
    return unpack_row(content)


def _get_item_keys(database: Database, item_id: ItemId) -> dict[str, int]:
    """What a query binds to find what is an item's."""
    row = database.row("find_item", item_id=item_id)
    if row is None:
        raise _no_item(item_id)
    return {"item_key": cast("int", row[0]), "user_key": cast("int", row[1])}


def _get_listed_key(database: Database, user_key: int | None, place: int | None, item_id: ItemId) -> int:
    """The key of an item that a list of theirs may hold."""
    row = database.row("find_item", item_id=item_id)
    if row is None or row[1] != user_key or (place is not None and row[4] not in (0, place)):
        raise _no_item(item_id)
    return cast("int", row[0])


def _no_item(item_id: ItemId) -> NotFoundError:
    return NotFoundError(f"there is no item {item_id!r}; use the id of one that was listed", item=item_id)


def read_items(database: Database, user_id: UserId, agent_id: AgentId | None, item_ids: Sequence[ItemId]) -> list[Item]:
    """See `ItemStore.read_items`."""
    user_key = find_user_key(database, user_id) if item_ids else None
    if user_key is None:
        return []
    place = find_place(database, agent_id)
    rows = database.rows("read_items", user_key=user_key, place=place, ids=json.dumps(item_ids))
    found = {item.id: item for item in (_read_item(row[0]) for row in rows)}
    return [found[item_id] for item_id in dict.fromkeys(item_ids) if item_id in found]


def list_revisions(database: Database, item_id: ItemId) -> list[Item]:
    """See `ItemStore.list_revisions`."""
    keys = _get_item_keys(database, item_id)
    older = [cast("bytes", row[0]) for row in database.rows("list_item_revisions", **keys)]
    (newest,) = cast("tuple[bytes]", database.row("read_item", **keys))
    return [item_from_bytes(content) for content in unpack_revisions(older, newest)]


def list_histories(database: Database, user_id: UserId, item_ids: Sequence[ItemId]) -> list[list[Item]]:
    """See `ItemStore.list_histories`."""
    user_key = find_user_key(database, user_id) if item_ids else None
    if user_key is None:
        return []
    rows = database.rows("list_item_histories", user_key=user_key, ids=json.dumps(item_ids))
    ordered = sorted(cast("list[tuple[int, bytes, int | None, bytes | None]]", rows), key=lambda row: (row[0], row[2]))
    found: dict[ItemId, list[Item]] = {}
    for _, group in groupby(ordered, key=lambda row: row[0]):
        newest, _, older = zip(*(row[1:] for row in group), strict=True)
        contents = unpack_revisions([content for content in older if content is not None], newest[0])
        revisions = [item_from_bytes(content) for content in contents]
        found[revisions[-1].id] = revisions
    return [found[item_id] for item_id in item_ids if item_id in found]


def find_quoting(database: Database, session_id: SessionId, seqs: Sequence[int] | None) -> list[Item]:
    """See `ItemStore.find_quoting`."""
    if seqs is None:
        rows = database.rows("find_items_of_session", session_id=session_id)
    else:
        asked: list[dict[str, SqlValue]] = [{"session_id": session_id, "seq": seq} for seq in seqs]
        rows = list(chain.from_iterable(database.rows_each("find_quoting_items", asked)))
    items = (_read_item(content) for (content,) in rows)
    return list({item.id: item for item in items}.values())


def search_items(
    database: Database, query: SearchQuery, user_id: UserId, agent_id: AgentId | None, *, limit_count: int
) -> list[tuple[Item, float]]:
    """See `ItemStore.search_items`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    place = find_place(database, agent_id)
    words = database.words
    counts = words.read_counts(query, database.rows_all(words.ask_counts("item", query, user_key, place=place)))
    chosen = choose_terms(query, counts.words, row_count=counts.whole.documents_count)
    if not chosen.terms:
        return []
    rows = words.find_items(chosen, user_key, place=place, counts=counts, limit_count=limit_count)
    return [(_read_item(content), cast("float", score)) for content, score in rows]


def find_related(
    database: Database,
    user_id: UserId,
    agent_id: AgentId | None,
    *,
    identities: Sequence[str] = (),
    messages: Sequence[tuple[SessionId, int]] = (),
    queries: Sequence[SearchQuery] = (),
    like_count: int = 0,
    block_count: int = 0,
) -> RelatedItems:
    """See `ItemStore.find_related`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return RelatedItems()
    place = find_place(database, agent_id)
    counting = [
        database.words.ask_counts("item", query, user_key, most_count=LIKE_ENTRIES_COUNT + 1) for query in queries
    ]
    asked: list[Bound] = [
        ("read_version_of_memory", {"user_key": user_key}),
        _ask_run(user_key, place, ("active", "block"), after_key=0, limit_count=block_count),
    ]
    asked += [("find_same_items", {"user_key": user_key, "identity": identity}) for identity in identities]
    asked += [("find_gone_items", {"user_key": user_key, "session_id": one, "seq": seq}) for one, seq in messages]
    found = iter(database.rows_all([*asked, *chain.from_iterable(counting)]))
    version, block = read_version(next(found)), next(found)
    same = _read_keyed(islice(found, len(identities)))
    gone = _read_keyed(islice(found, len(messages)))
    like: dict[bytes, None] = {}
    for query, counted in zip(queries, counting, strict=True):
        counts = database.words.read_counts(query, list(islice(found, len(counted))))
        like |= dict.fromkeys(_find_like(database, query, counts, user_key, place, like_count))
    return RelatedItems(
        version=version,
        same=same,
        like=tuple(map(_read_item, like)),
        block=tuple(_read_item(content) for _, content in block),
        gone=gone,
    )


def _read_keyed(found: Iterable[Sequence[Row]]) -> tuple[Item, ...]:
    """The items of rows of keys and contents, by their keys, each once."""
    contents = dict(cast("Iterable[tuple[int, bytes]]", chain.from_iterable(found)))
    return tuple(_read_item(contents[key]) for key in sorted(contents))


def read_version(rows: Sequence[Row]) -> MemoryVersion:
    """Where memory stands, from the row of a user; at the beginning where there is none."""
    if not rows:
        return MemoryVersion()
    return MemoryVersion(revision=cast("int", rows[0][0]), epoch=cast("int", rows[0][1]))


def _find_like(
    database: Database,
    query: SearchQuery,
    counts: TermCounts,
    user_key: int,
    place: int | None,
    limit_count: int,
) -> list[bytes]:
    """The contents of active items that share words with a query: rare ones, then common ones."""
    rare, common = part_terms(query, counts.words, entries_count=LIKE_ENTRIES_COUNT)
    rows: list[Row] = []
    if rare.terms:
        rows += database.words.find_items(rare, user_key, place=place, counts=counts, limit_count=limit_count)
    if common.terms and len(rows) < limit_count:
        rows += database.words.find_newest_items(common, user_key, place=place, limit_count=limit_count)
    return list(islice(dict.fromkeys(cast("bytes", row[0]) for row in rows), limit_count))
