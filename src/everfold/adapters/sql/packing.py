"""Packing: rows of JSON in a small part of their size, and older revisions as what a newer one has otherwise.

A row is compressed with a dictionary of what every row says: the names of its fields, and what most have in them. An older
revision is compressed with the revision after it for a dictionary, so only what has changed takes room. A row that begins
with `{` is plain JSON, as all were before; the first byte of any other names the dictionary.

Source: RFC 1951 (DEFLATE); zlib's manual, `deflateSetDictionary`: the likeliest strings stand at its end.
"""

import zlib
from typing import Final, TypeAlias

SqlValue: TypeAlias = int | float | bytes | str | None

_MARK: Final = b"\x01"
_PLAIN: Final = b"{"
_MOST_DICTIONARY_BYTES: Final = 32_768
_DICTIONARY: Final = (
    b'{"id":"ext_0","user_id":"","agent_id":"default","session_id":"ses_0","compaction_id":null,"first_seq":1,"last_seq":1,'
    b'"written_by":"heuristic","made_at":"2026-01-01T00:00:00.000000+00:00","items":["itm_0"],"counts":[1,0,0,0,0],'
    b'"refused_count":0}'
    b'{"at":"2026-01-01T00:00:00.000000+00:00","user_id":"","agent_id":null,"actor":"extraction","action":"extract","about":'
    b'["itm_0"],"counts":[["archived",1],["added",1],["changed",1],["superseded",1]]}'
    b'"kind":"open_item""kind":"decision""kind":"task""kind":"preference""tier":"agent""status":"superseded""status":"expired"'
    b'"status":"quarantined""status":"erased""written_by":"model""written_by":"user""origin":"assistant""origin":"external"'
    b'"is_explicit":true"revision":2"revision":3,"supersedes":"itm_0","superseded_by":"itm_0","shelf":"archive"'
    b'{"id":"itm_0","user_id":"","agent_id":"default","tier":"user","kind":"fact","statement":"I am ","evidence":[["ses_0",1,0'
    b',"","","user","2026-01-01T00:00:00.000000+00:00"]],"origin":"user","confidence":0.8,"valid_from":"2026-01-01T00:00:00.'
    b'000000+00:00","recorded_at":"2026-01-01T00:00:00.000000+00:00","last_seen_at":"2026-01-01T00:00:00.000000+00:00",'
    b'"changed_at":"2026-01-01T00:00:00.000000+00:00","identity":"","written_by":"heuristic","valid_to":null,"status":"active"'
    b',"shelf":"block","revision":1,"supersedes":null,"superseded_by":null,"is_explicit":false,"threats":[],"released":[]}'
)
"""Never changed: rows were packed with it. Another one gets another mark."""


def pack_row(content: bytes, newer: bytes = b"") -> bytes:
    """A row as it is stored, given the plain row that comes after it, if any. A packed one stays as it is."""
    if not content.startswith(_PLAIN):
        return content
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=_choose_dictionary(newer))
    packed = _MARK + packer.compress(content) + packer.flush()
    return packed if len(packed) < len(content) else content


def unpack_row(content: bytes, newer: bytes = b"") -> bytes:
    """The plain row that `pack_row` was given.

    Raises:
        zlib.error: the row is damaged.
    """
    if not content.startswith(_MARK):
        return content
    unpacker = zlib.decompressobj(-15, zdict=_choose_dictionary(newer))
    return unpacker.decompress(content[len(_MARK) :]) + unpacker.flush()


def unpack_revisions(older: list[bytes], newest: bytes) -> list[bytes]:
    """The plain rows of all revisions of one thing, oldest first, given the older ones and the newest as they are stored."""
    plain = [unpack_row(newest)]
    for content in reversed(older):
        plain.append(unpack_row(content, plain[-1]))
    return plain[::-1]


def _choose_dictionary(newer: bytes) -> bytes:
    return (_DICTIONARY + newer)[-_MOST_DICTIONARY_BYTES:]


def sql_pack_row(*values: SqlValue) -> SqlValue:
    """`pack_row` as the queries call it: of a row, stored or plain, and the plain one after it."""
    content, *newer = values
    if not isinstance(content, bytes):
        return content
    after = newer[0] if newer and isinstance(newer[0], bytes) else b""
    return pack_row(unpack_row(content), after)


def sql_unpack_row(*values: SqlValue) -> SqlValue:
    """`unpack_row` as the queries call it."""
    return unpack_row(values[0]) if isinstance(values[0], bytes) else values[0]


def deflate(text: str) -> bytes:
    """A text as a blob that takes less room, quickly made."""
    return zlib.compress(text.encode(), 1)


def inflate(blob: bytes) -> str:
    """The text that `deflate` was given.

    Raises:
        zlib.error: the blob is damaged.
    """
    return zlib.decompress(blob).decode()


def sql_deflate(*values: SqlValue) -> SqlValue:
    """`deflate` as the migrations call it."""
    return deflate(values[0]) if isinstance(values[0], str) else values[0]
