"""Rows and values: how what the core knows is written in columns."""

import json
import re
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import cast, get_args

from everfold.adapters.sql.database import SqlValue
from everfold.adapters.sql.packed_messages import unpack_message
from everfold.adapters.sql.packing import inflate, unpack_row
from everfold.adapters.sql.quoted_lines import lines_from_blob, lines_to_blob
from everfold.core.compaction.certificate import certificate_from_text
from everfold.core.compaction.folding import Digest
from everfold.core.compaction.record import Compaction, plan_from_bytes, report_from_text
from everfold.core.compaction.transitions import CompactionState, WorkState
from everfold.core.digests.drafts import draft_from_bytes
from everfold.core.digests.pools import RollupPool
from everfold.core.log.appending import Appended
from everfold.core.log.budget import Policy, upgrade_ratios
from everfold.core.log.messages import Cut, Kind, Message, Note, WireFormat
from everfold.core.log.prompts import Prompt
from everfold.core.log.sessions import Segment, SessionRecord, SessionSettings, StartedBy
from everfold.core.log.wire import read_wire
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, decode_json, dump_json
from everfold.core.primitives.origins import Origin, Source

Row = tuple[object, ...]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KINDS = frozenset(get_args(Kind))
_ORIGINS = frozenset(get_args(Origin))
_MARK = b"\xff"
"""No text begins with this byte in UTF-8. Source: RFC 3629."""


def to_micros(moment: datetime) -> int:
    """A moment as whole microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def to_duration(secs: float) -> int:
    """A duration as whole microseconds."""
    return round(secs * 1_000_000)


def from_micros(micros: object) -> datetime:
    """The moment that `to_micros` counted, in UTC."""
    return _EPOCH + timedelta(microseconds=cast("int", micros))


def find_moment(micros: object) -> datetime | None:
    """The moment in a column that may be empty."""
    return None if micros is None else from_micros(micros)


def from_blob(blob: object) -> object:
    """The value that `dump_json` wrote."""
    return json.loads(cast("bytes", blob).decode("utf-8", "surrogatepass"))


# --- messages ---------------------------------------------------------------------------------------------------------


def make_mark() -> bytes:
    """A client id that no client can give, for a message that has none."""
    return _MARK + secrets.token_bytes(16)


def message_row(
    user_key: int, session_key: int, appended: Appended, *, mark: bytes | None = None
) -> tuple[SqlValue, ...]:
    """The columns of a new message, in the order of `insert_message`; the mark stands for a client id that it lacks."""
    message = appended.message
    view = message.view
    return (
        user_key,
        session_key,
        message.seq,
        message.kind,
        message.origin,
        message.source,
        view.format,
        view.role,
        text_to_blob(view.name),
        to_micros(message.said_at),
        mark if appended.client_id is None else text_to_blob(appended.client_id),
        message.tokens,
        message.raw_tokens,
        appended.sum_tokens,
        appended.turn_seq,
        appended.turns_count,
        int(message.is_boundary),
        int(message.keep),
        bytes.fromhex(message.content_hash),
        json.dumps([call.name for call in view.calls]) if view.calls else None,
        cuts_to_blob(message.cuts),
        lines_to_blob(message.lines, message.origin, appended.content),
        appended.content,
    )


def text_to_blob(text: str | None) -> bytes | None:
    """A text with every code point, lone surrogates too."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def blob_to_text(blob: object) -> str | None:
    """The text that `text_to_blob` wrote."""
    return None if blob is None else cast("bytes", blob).decode("utf-8", "surrogatepass")


def told_to_text(told: str) -> str:
    """What another program said as a column of text takes it: NUL and halves of characters are replaced."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", told)


def read_client_id(blob: object) -> str | None:
    """The client id that a client gave; None where there is none, or a mark."""
    return None if blob is None or cast("bytes", blob).startswith(_MARK) else blob_to_text(blob)


def cuts_to_blob(cuts: Sequence[Cut]) -> bytes | None:
    """Cuts as a blob; None for none."""
    return dump_json([[cut.part, cut.start, cut.end, cut.arguments] for cut in cuts]) if cuts else None


def _cuts(blob: object) -> tuple[Cut, ...]:
    if blob is None:
        return ()
    rows = cast("list[tuple[int, int, int, str | None]]", from_blob(blob))
    return tuple(Cut(part=part, start=start, end=end, arguments=arguments) for part, start, end, arguments in rows)


def read_message(row: Row) -> Message:
    """A message from the columns of `read_messages`."""
    (
        seq,
        kind,
        origin,
        source,
        wire_format,
        said_at,
        content,
        tokens,
        raw_tokens,
        is_boundary,
        hash_,
        keep,
        cuts,
        lines,
    ) = row
    _expect_known(kind, origin, tokens, raw_tokens)
    plain = unpack_message(content)
    wire = cast("JsonObject", decode_json(cast("bytes", plain)))
    moment = from_micros(said_at)
    return Message(
        seq=cast("int", seq),
        kind=cast("Kind", kind),
        origin=cast("Origin", origin),
        source=cast("Source", source),
        said_at=moment,
        wire=wire,
        view=read_wire(wire, wire_format=cast("WireFormat", wire_format)),
        tokens=cast("int", tokens),
        raw_tokens=cast("int", raw_tokens),
        is_boundary=bool(is_boundary),
        content_hash=cast("bytes", hash_).hex(),
        keep=bool(keep),
        cuts=_cuts(cuts),
        lines=lines_from_blob(lines, plain, seq=cast("int", seq), origin=cast("Origin", origin), said_at=moment),
    )


def _expect_known(kind: object, origin: object, *counts: object) -> None:
    """Refuse what no message has: a window or a digest made of it would fail far from here.

    Raises:
        ValueError: the row is damaged.
    """
    if kind not in _KINDS or origin not in _ORIGINS:
        raise ValueError(f"a message of kind {kind!r} and origin {origin!r}")
    for count in counts:
        if type(count) is not int:
            raise ValueError(f"a message with {count!r} tokens")


def read_note(row: Row) -> Note:
    """A note from the columns of `read_notes`."""
    (
        seq,
        kind,
        origin,
        speaker,
        said_at,
        tokens,
        raw_tokens,
        is_boundary,
        keep,
        hash_,
        sum_,
        turn_seq,
        turns,
        calls,
        lines,
        content,
    ) = row
    _expect_known(kind, origin, tokens, raw_tokens, sum_)
    moment = from_micros(said_at)
    return Note(
        seq=cast("int", seq),
        kind=cast("Kind", kind),
        origin=cast("Origin", origin),
        name=blob_to_text(speaker),
        said_at=moment,
        tokens=cast("int", tokens),
        raw_tokens=cast("int", raw_tokens),
        is_boundary=bool(is_boundary),
        keep=bool(keep),
        content_hash="" if hash_ is None else cast("bytes", hash_).hex(),
        sum_tokens=cast("int", sum_),
        turn_seq=cast("int", turn_seq),
        turns_count=cast("int", turns),
        calls=() if calls is None else tuple(json.loads(cast("str", calls))),
        lines=lines_from_blob(lines, content, seq=cast("int", seq), origin=cast("Origin", origin), said_at=moment),
    )


# --- sessions ---------------------------------------------------------------------------------------------------------


def settings_to_text(settings: SessionSettings) -> str:
    """Settings as JSON text."""
    value = {
        "limit_tokens": settings.limit_tokens,
        "system": settings.prompt.system,
        "tools": list(settings.prompt.tools),
        "policy": asdict(settings.policy),
    }
    return json.dumps(value, separators=(",", ":"))


def _settings(text: object) -> SessionSettings:
    value = json.loads(cast("str", text))
    value["policy"] = upgrade_ratios(value["policy"])
    return SessionSettings(
        limit_tokens=value["limit_tokens"],
        prompt=Prompt(system=value["system"], tools=tuple(value["tools"])),
        policy=Policy(**value["policy"]),
    )


def lineage_to_text(lineage: Sequence[Segment]) -> str:
    """A lineage as JSON text."""
    return json.dumps([[segment.session_id, segment.last_seq, segment.last_ordinal] for segment in lineage])


def lineage_from_text(text: object) -> tuple[Segment, ...]:
    """The lineage that `lineage_to_text` wrote."""
    rows = json.loads(cast("str", text))
    return tuple(Segment(session_id=id_, last_seq=last, last_ordinal=ordinal) for id_, last, ordinal in rows)


def read_session(row: Row) -> SessionRecord:
    """A session from the columns of `find_session`."""
    _, id_, user_id, agent_id, parent_id, branch_seq, started_by, created_at, is_current = row[:9]
    lineage, settings, thread, title = row[9:]
    return SessionRecord(
        id=SessionId(cast("str", id_)),
        user_id=UserId(cast("str", user_id)),
        agent_id=AgentId(cast("str", agent_id)),
        parent_id=None if parent_id is None else SessionId(cast("str", parent_id)),
        branch_seq=cast("int", branch_seq),
        started_by=cast("StartedBy", started_by),
        created_at=from_micros(created_at),
        lineage=lineage_from_text(lineage),
        settings=_settings(settings),
        is_current=bool(is_current),
        session_key=cast("str", thread),
        title=cast("str", title),
    )


# --- compaction -------------------------------------------------------------------------------------------------------


def read_compaction(row: Row) -> Compaction:
    """A compaction from the first sixteen columns of `find_compaction`."""
    id_, session_id, ordinal, state, plan, begun_at, ended_at, attempts, lease_until, certificate, report = row[:11]
    digest, extraction, problem, revises, draft = row[11:16]
    return Compaction(
        id=CompactionId(cast("str", id_)),
        session_id=SessionId(cast("str", session_id)),
        ordinal=cast("int", ordinal),
        state=cast("CompactionState", state),
        plan=plan_from_bytes(unpack_row(cast("bytes", plan))),
        begun_at=from_micros(begun_at),
        ended_at=find_moment(ended_at),
        attempts=cast("int", attempts),
        lease_until=find_moment(lease_until),
        certificate=None if certificate is None else certificate_from_text(inflate(cast("bytes", certificate))),
        report=None if report is None else report_from_text(cast("str", report)),
        digest=cast("WorkState", digest),
        extraction=cast("WorkState", extraction),
        problem=cast("str", problem),
        revises=None if revises is None else CompactionId(cast("str", revises)),
        draft=None if draft is None else draft_from_bytes(cast("bytes", draft)),
    )


def digest_values(digest: Digest) -> dict[str, str | int | bytes | None]:
    """The columns of a digest by name, without its owner."""
    pool = None
    if digest.pool is not None:
        pool = zlib.compress(dump_json(digest.pool.to_json()), 1)
    return {
        "id": digest.id,
        "compaction_id": digest.compaction_id,
        "kind": digest.kind,
        "generator": digest.generator,
        "first_seq": digest.first_seq,
        "last_seq": digest.last_seq,
        "tokens": digest.tokens,
        "content_hash": digest.content_hash,
        "reads": json.dumps(digest.reads, separators=(",", ":")),
        "text": digest.text.encode("utf-8", "surrogatepass"),
        "pool": pool,
    }


def read_digest(row: Row) -> Digest:
    """A digest from the columns of `read_digest`."""
    id_, compaction_id, kind, generator, first_seq, last_seq, tokens, content_hash, reads, text, pool = row
    return Digest(
        id=cast("str", id_),
        compaction_id=cast("str", compaction_id),
        kind="rollup" if kind == "rollup" else "digest",
        generator="abstractive" if generator == "abstractive" else "extractive",
        first_seq=cast("int", first_seq),
        last_seq=cast("int", last_seq),
        text=cast("bytes", text).decode("utf-8", "surrogatepass"),
        tokens=cast("int", tokens),
        content_hash=cast("str", content_hash),
        reads=tuple(json.loads(cast("str", reads))),
        pool=None if pool is None else RollupPool.from_json(from_blob(zlib.decompress(cast("bytes", pool)))),
    )
