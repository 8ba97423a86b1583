"""API keys and known writes in SQL. Each function is one call of the port, inside the transaction that the store opened."""

from datetime import datetime
from typing import cast

from everfold.adapters.sql.codec import find_moment, from_micros, to_micros
from everfold.adapters.sql.database import NO_USER, Database, SqlValue
from everfold.adapters.sql.listing import find_settled_key
from everfold.core.access.api_keys import ApiKey, ApiKeyId, Scope, ScopeKind, is_admin, refuse_last_admin
from everfold.core.access.repeats import KeptAnswer, KnownRequest
from everfold.errors import ConflictError, NotFoundError


def add_api_key(database: Database, key: ApiKey) -> None:
    """See `AccessStore.add_api_key`."""
    if database.row("get_access_key", id=key.id) is not None:
        raise ConflictError(f"API key {key.id} exists already; give the new one another id", api_key=key.id)
    if find_api_key(database, key.secret_hash) is not None:
        raise ConflictError(f"API key {key.id} has the secret of another one; create a new one", api_key=key.id)
    named = None if key.revoked_at is not None else database.row("find_access_key_named", key_name=key.name)
    if named is not None:
        held_by = cast("str", named[0])
        raise ConflictError(
            f"the name {key.name!r} belongs to API key {held_by}; choose another one, or revoke that key",
            api_key=held_by,
        )
    database.run(
        "insert_access_key",
        id=key.id,
        key_name=key.name,
        scope_kind=key.scope.kind,
        scope_name=key.scope.name,
        is_read_only=int(key.scope.is_read_only),
        secret_hash=key.secret_hash,
        created_at=to_micros(key.created_at),
        expires_at=_micros(key.expires_at),
        revoked_at=_micros(key.revoked_at),
        last_used_at=_micros(key.last_used_at),
    )


def find_api_key(database: Database, secret_hash: str) -> ApiKey | None:
    """See `AccessStore.find_api_key`."""
    row = database.row("find_access_key", secret_hash=secret_hash)
    return None if row is None else _read_key(row)


def list_api_keys(database: Database, *, after: ApiKeyId | None, limit_count: int) -> list[ApiKey]:
    """See `AccessStore.list_api_keys`."""
    after_place = 0
    if after is not None:
        row = database.row("find_access_key_place", id=after)
        if row is None:
            raise _unknown(after)
        after_place = cast("int", row[0])
    last_key = find_settled_key(database, "api_keys")
    rows = database.rows("list_access_keys", after=after_place, last_key=last_key, limit_count=limit_count)
    return [_read_key(row) for row in rows]


def revoke_api_key(database: Database, key_id: ApiKeyId, *, revoked_at: datetime, keeps_admin: bool = False) -> ApiKey:
    """See `AccessStore.revoke_api_key`."""
    if keeps_admin:
        database.lock_user(NO_USER)
    key = _get_key(database, key_id)
    if keeps_admin and is_admin(key, revoked_at):
        other = database.row("find_other_admin_key", id=key_id, at=to_micros(revoked_at))
        if other is None:
            raise refuse_last_admin(key)
    database.run("revoke_access_key", id=key_id, revoked_at=to_micros(revoked_at))
    return _get_key(database, key_id)


def _get_key(database: Database, key_id: ApiKeyId) -> ApiKey:
    row = database.row("get_access_key", id=key_id)
    if row is None:
        raise _unknown(key_id)
    return _read_key(row)


def touch_api_key(database: Database, key_id: ApiKeyId, *, used_at: datetime) -> None:
    """See `AccessStore.touch_api_key`."""
    database.run("touch_access_key", id=key_id, used_at=to_micros(used_at))


def begin_request(database: Database, request: KnownRequest, *, kept_since: datetime) -> KnownRequest | None:
    """See `AccessStore.begin_request`."""
    key_id, idempotency_key = request.key
    database.run_all([("hold_off_erases", {}), ("forget_old_requests", {"kept_since": to_micros(kept_since)})])
    known = _find_request(database, request)
    if known is not None:
        return known
    is_first = database.run(
        "insert_known_request",
        key_id=key_id,
        idempotency_key=idempotency_key,
        request_hash=request.request_hash,
        made_at=to_micros(request.made_at),
    )
    return None if is_first else _find_request(database, request)


def _find_request(database: Database, request: KnownRequest) -> KnownRequest | None:
    key_id, idempotency_key = request.key
    row = database.row("find_known_request", key_id=key_id, idempotency_key=idempotency_key)
    return None if row is None else _read_request(request, row)


def finish_request(database: Database, request: KnownRequest, answer: KeptAnswer | None) -> None:
    """See `AccessStore.finish_request`."""
    key_id, idempotency_key = request.key
    made_at = to_micros(request.made_at)
    if answer is None:
        database.run("give_request_back", key_id=key_id, idempotency_key=idempotency_key, made_at=made_at)
        return
    database.run(
        "answer_request",
        key_id=key_id,
        idempotency_key=idempotency_key,
        made_at=made_at,
        status=answer.status,
        content_type=answer.content_type,
        location=answer.location,
        etag=answer.etag,
        body=answer.body,
    )


def begin_erase(database: Database) -> None:
    """Note that the transaction erases something; it ends by taking the bodies of all answers, which may quote it.

    Of several connections another one may read, until the commit, what is erased. A write that began before the last of
    these queries has its place by then, and keeps no body whenever it ends; a later one begins after the commit. Nearly
    all answers are taken before the writes that begin are held off. Millions of them make no erase fail.
    """
    database.mark_erased()
    names = "allow_many_answers", "forget_answers", "hold_off_requests", "forget_open_answers"
    database.run_last(*((name, {}) for name in names))


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _unknown(key_id: ApiKeyId) -> NotFoundError:
    return NotFoundError(f"there is no API key {key_id!r}; `everfold api-keys list` lists them", api_key=key_id)


def _read_key(row: tuple[SqlValue, ...]) -> ApiKey:
    id_, name, kind, scope_name, is_read_only, secret_hash, created_at, expires_at, revoked_at, last_used_at = row
    scope = Scope(
        kind=cast("ScopeKind", kind), name=cast("str", scope_name), is_read_only=bool(cast("int", is_read_only))
    )
    return ApiKey(
        id=ApiKeyId(cast("str", id_)),
        name=cast("str", name),
        scope=scope,
        secret_hash=cast("str", secret_hash),
        created_at=from_micros(created_at),
        expires_at=find_moment(expires_at),
        revoked_at=find_moment(revoked_at),
        last_used_at=find_moment(last_used_at),
    )


def _read_request(request: KnownRequest, row: tuple[SqlValue, ...]) -> KnownRequest:
    request_hash, made_at, status, content_type, location, etag, body = row
    answer = None
    if status is not None:
        answer = KeptAnswer(
            status=cast("int", status),
            content_type=cast("str", content_type),
            location=cast("str", location),
            etag=cast("str", etag),
            body=cast("bytes | None", body),
        )
    return KnownRequest(
        key=request.key, request_hash=cast("str", request_hash), made_at=from_micros(made_at), answer=answer
    )
