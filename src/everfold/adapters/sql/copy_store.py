"""Copying a whole store: the steps, and the methods of a store that they are made of."""

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

from everfold.adapters.sql import copying
from everfold.adapters.sql.connections import Connections, reads, reads_at_once, writes, writes_placed
from everfold.adapters.sql.copying import TOLD_BY_REVISIONS, Table, get_key, match_tables
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError

Tell: TypeAlias = Callable[[str, int], None]
"""Told what is being copied, and how many rows of it have arrived in this run."""


class SqlCopying(Connections):
    """What copying needs of a store, on either side."""

    list_tables = reads(copying.list_tables)
    take_fingerprint = reads_at_once(copying.take_fingerprint)
    read_page = reads(copying.read_page)
    find_last_key = reads(copying.find_last_key)
    list_session_keys = reads(copying.list_sessions)
    is_copy_begun = reads(copying.is_copy_begun)
    begin_copy = writes(copying.begin_copy)
    write_page = writes(copying.write_page)
    index_messages = writes_placed(copying.index_messages)
    index_items = writes(copying.index_items)
    note_indexed = writes(copying.note_indexed)
    end_copy = writes(copying.end_copy)


async def copy_store(source: SqlCopying, target: SqlCopying, tell: Tell) -> dict[str, int]:
    """Copy everything from one store into an empty one, or go on with a copy that was stopped.

    Nothing may write to the source meanwhile: that is seen at the end, and the copy is refused then.

    Returns:
        The rows that arrived in this run, by table.

    Raises:
        ConflictError: the source is an unfinished copy; the target holds something else; or the source was written since
            the copy began.
    """
    if await source.is_copy_begun():
        raise ConflictError("the source is an unfinished copy: finish the `everfold store copy` into it first")
    tables = match_tables(await source.list_tables(), await target.list_tables())
    totals = await source.take_fingerprint(tables)
    fingerprint = f"{totals}; rows {await _hash_rows(source, tables)}"
    indexed_key = await target.begin_copy(tables, fingerprint)
    counts = {table.name: await _copy_table(source, target, table, tell) for table in tables}
    await _index(target, indexed_key, tell)
    if f"{await source.take_fingerprint(tables)}; rows {await _hash_rows(source, tables)}" != fingerprint:
        raise ConflictError(
            "the source was written while it was copied; stop its writers and copy it into a new database"
        )
    await target.end_copy(tables, totals)
    return counts


async def _hash_rows(source: SqlCopying, tables: Sequence[Table]) -> str:
    """What tells that no row was changed of the tables whose changes show nowhere else."""
    found = hashlib.sha256()
    for table in tables:
        after = None
        while table.name not in TOLD_BY_REVISIONS and (rows := await source.read_page(table, after)):
            found.update(repr(rows).encode("utf-8", "surrogatepass"))
            after = get_key(table, rows[-1])
    return found.hexdigest()


async def _copy_table(source: SqlCopying, target: SqlCopying, table: Table, tell: Tell) -> int:
    after, count = await target.find_last_key(table), 0
    while rows := await source.read_page(table, after):
        await target.write_page(table, rows)
        after, count = get_key(table, rows[-1]), count + len(rows)
        tell(table.name, count)
    return count


async def _index(target: SqlCopying, indexed_key: int, tell: Tell) -> None:
    """Write the words of messages and items, a session after the other."""
    last_key, count = indexed_key, 0
    while sessions := await target.list_session_keys(last_key):
        for session_key, session_id in sessions:
            await _index_session(target, SessionId(session_id))
            await target.note_indexed(session_key)
            last_key, count = session_key, count + 1
            tell("sessions searchable", count)
    item: tuple[int, int] | None = (0, 0)
    while item is not None:
        item = await target.index_items(item)


async def _index_session(target: SqlCopying, session_id: SessionId) -> None:
    seq: int | None = 1
    while seq is not None:
        seq = await target.index_messages(session_id, seq)
