"""Items in SQL: their revisions, where they are quoted, and the search over them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, islice, product
from typing import cast

from everfold.adapters.sql.database import Database, Row, SqlValue
from everfold.adapters.sql.matching import key_words, write_item_scope
from everfold.adapters.sql.owners import find_agent_key, find_user_key, get_agent_key
from everfold.adapters.sql.packing import pack_row, unpack_revisions, unpack_row
from everfold.core.memory.items import Item, ItemId, ItemStatus, Shelf, index_item
from everfold.core.memory.rows import item_from_bytes, item_to_bytes
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchQuery, choose_terms, part_terms
from everfold.errors import ConflictError, NotFoundError

LIKE_ENTRIES_COUNT = 500
"""How many entries of the index `find_like` reads by rank: a word of more items tells no subject. So each costs the same,
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


def write_item(database: Database, user_key: int, item: Item, *, written_revision: int, forgets: bool) -> None:
    """One more revision of an item, with its evidence and its words; of what is erased all that was before goes."""
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
    database.run_each("insert_evidence", quoted)
    if item.status == "active":
        words = key_words(user_key, index_item(item))
        database.run("insert_item_words", item_key=item_key, own=words, scope=write_item_scope(user_key, place=place))


def _make_room(database: Database, user_key: int, item: Item, content: bytes, *, forgets: bool) -> int | None:
    """Put the newest revision of an item among the ones before, or drop them all; the item's key if it is there.

    A first revision has none before.
    """
    if item.revision == 1:
        return None
    row = database.row("find_item", item_id=item.id)
    if row is None:
        return None
    item_key, owner_key, revision, status = cast("tuple[int, int, int, str]", row)
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
        raise ConflictError(f"the id {id_} is taken; give the new one an id of its own", id=id_)
    if found >= revision:
        raise ConflictError(f"{id_} is at revision {found} already, the new one is {revision}; read it again", id=id_)


def list_items(database: Database, user_id: UserId, agent_id: AgentId | None, asked: ItemFilter) -> list[Item]:
    """See `ItemStore.list_items`. O(items given), for each status and shelf, or O(items changed) where those are asked for."""
    after_key = 0 if asked.after is None else _get_item_keys(database, asked.after)["item_key"]
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    place = find_place(database, agent_id)
    if asked.changed_after is None:
        rows = _list_runs(database, user_key, place, asked, after_key)
    else:
        rows = _list_changed(database, user_key, place, asked, after_key)
    return [_read_item(content) for _, content in islice(rows, asked.limit_count)]


def _list_runs(
    database: Database, user_key: int, place: int | None, asked: ItemFilter, after_key: int
) -> Iterable[tuple[int, bytes]]:
    """Keys and contents in order: each status and shelf is a run of its own in an index, and the runs are merged."""
    asking: list[dict[str, SqlValue]] = [
        {
            "user_key": user_key,
            "place": place,
            "status": status,
            "shelf": shelf,
            "after": after_key,
            "limit_count": asked.limit_count,
        }
        for status, shelf in asked.runs
    ]
    found = database.rows_each("list_items" if place is None else "list_placed_items", asking)
    return merge(*cast("list[list[tuple[int, bytes]]]", found))


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
        raise NotFoundError(f"there is no item {item_id!r}; use the id of one that was listed", item=item_id)
    return {"item_key": cast("int", row[0]), "user_key": cast("int", row[1])}


def list_revisions(database: Database, item_id: ItemId) -> list[Item]:
    """See `ItemStore.list_revisions`."""
    keys = _get_item_keys(database, item_id)
    older = [cast("bytes", row[0]) for row in database.rows("list_item_revisions", **keys)]
    (newest,) = cast("tuple[bytes]", database.row("read_item", **keys))
    return [item_from_bytes(content) for content in unpack_revisions(older, newest)]


def find_same(database: Database, user_id: UserId, identities: Sequence[str]) -> list[Item]:
    """See `ItemStore.find_same`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    asking: list[dict[str, SqlValue]] = [{"user_key": user_key, "identity": identity} for identity in identities]
    rows = chain.from_iterable(database.rows_each("find_same_items", asking))
    found = {cast("int", key): content for key, content in rows}
    return [_read_item(found[key]) for key in sorted(found)]


def find_quoting(database: Database, session_id: SessionId, seq: int | None) -> list[Item]:
    """See `ItemStore.find_quoting`."""
    if seq is None:
        rows = database.rows("find_items_of_session", session_id=session_id)
    else:
        rows = database.rows("find_quoting_items", session_id=session_id, seq=seq)
    return [_read_item(row[0]) for row in rows]


def search_items(
    database: Database, query: SearchQuery, user_id: UserId, agent_id: AgentId | None, *, limit_count: int
) -> list[tuple[Item, float]]:
    """See `ItemStore.search_items`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    place = find_place(database, agent_id)
    chosen = _choose_terms(database, query, user_key, place)
    if not chosen.terms:
        return []
    rows = database.words.find_items(chosen, user_key, place=place, limit_count=limit_count)
    return [(_read_item(content), cast("float", score)) for content, score in rows]


def find_like(
    database: Database, query: SearchQuery, user_id: UserId, agent_id: AgentId | None, *, limit_count: int
) -> list[Item]:
    """See `ItemStore.find_like`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    place = find_place(database, agent_id)
    rare, common = part_terms(query, _count_entries(database, query, user_key), entries_count=LIKE_ENTRIES_COUNT)
    rows: list[Row] = []
    if rare.terms:
        rows += database.words.find_items(rare, user_key, place=place, limit_count=limit_count)
    if common.terms and len(rows) < limit_count:
        rows += database.words.find_newest_items(common, user_key, place=place, limit_count=limit_count)
    contents = dict.fromkeys(cast("bytes", row[0]) for row in rows)
    return list(map(_read_item, islice(contents, limit_count)))


def _count_entries(database: Database, query: SearchQuery, user_key: int) -> dict[str, int]:
    """How many items hold each word of a query, or that they are more than `LIKE_ENTRIES_COUNT`."""
    words = list(query.words)
    most_count = LIKE_ENTRIES_COUNT + 1
    asking: list[dict[str, SqlValue]] = [
        {"word": key_words(user_key, word), "user_key": user_key, "most_count": most_count} for word in words
    ]
    found = database.rows_each("count_item_word_entries", asking)
    return {word: cast("int", rows[0][0]) for word, rows in zip(words, found, strict=True)}


def _choose_terms(database: Database, query: SearchQuery, user_key: int, place: int | None) -> SearchQuery:
    """The query without the terms that most items hold, where there are many; see `everfold.core.text.searching`."""
    words = list(query.words)
    scopes = [write_item_scope(user_key, place=one) for one in {0, place or 0}]
    asking = [*(key_words(user_key, word) for word in words), *scopes]
    found = database.rows_each("count_item_word", [{"word": word, "user_key": user_key} for word in asking])
    counts = [cast("int", rows[0][0]) if rows else 0 for rows in found]
    return choose_terms(query, dict(zip(words, counts, strict=False)), row_count=sum(counts[len(words) :]))
