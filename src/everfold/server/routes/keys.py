"""API keys: who may ask, and signing the dashboard in with one."""

from fastapi import Depends, Request, Response

from everfold.core.access.api_keys import ApiKey
from everfold.server.access import AnyKey, AsAdmin, Context, let_anybody
from everfold.server.answers import SecretAnswer
from everfold.server.middleware import COOKIE, name_client
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor
from everfold.server.queries import KeyText
from everfold.server.reference import read_version
from everfold.server.routing import Fields, make_router
from everfold.server.runtime import Runtime
from everfold.server.schemas.keys import ApiKeyPageSchema, ApiKeySchema, MadeApiKeySchema, NewApiKey, SignIn, WhoSchema
from everfold.services.access.api_keys import MadeApiKey

router = make_router("access")

_COOKIE_SECS = 30 * 86_400
"""How long a browser stays signed in; the key itself may end sooner. Source: own choice."""


@router.post("/api/login", response_model=WhoSchema, dependencies=[Depends(let_anybody)])
async def sign_in(runtime: Context, given: SignIn, request: Request, response: Response) -> Fields:
    """Sign a browser in with an API key; it is kept in a cookie that scripts cannot read."""
    key = await runtime.identify(given.api_key, name_client(request))
    response.set_cookie(
        COOKIE,
        given.api_key,
        max_age=_COOKIE_SECS,
        httponly=True,
        samesite="strict",
        secure=runtime.is_https,
    )
    return await _tell_who(runtime, key)


@router.post("/api/logout", status_code=204, dependencies=[Depends(let_anybody)])
async def sign_out(response: Response) -> None:
    """Sign a browser out; its cookie is cleared."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


@router.get("/api/me", response_model=WhoSchema)
async def tell_me(caller: AnyKey, runtime: Context) -> Fields:
    """Tell which API key is used, and what it may do."""
    return await _tell_who(runtime, caller.key)


@router.get("/api/api-keys", response_model=ApiKeyPageSchema)
async def list_api_keys(_: AsAdmin, runtime: Context, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Fields:
    """List API keys, the oldest first, revoked and expired ones too."""
    keys = await runtime.engine.admin.api_keys.list_api_keys(after=cursor, limit=limit)
    return {"api_keys": keys, "next_cursor": next_cursor(keys, limit, lambda last: last.id)}


@router.post("/api/api-keys", response_model=MadeApiKeySchema, response_class=SecretAnswer, status_code=201)
async def make_key(_: AsAdmin, runtime: Context, new: NewApiKey) -> MadeApiKey:
    """Create an API key; its secret is shown once.

    A repeat with the same idempotency key gets 409 without the secret: revoke that API key, and create another.
    """
    return await runtime.engine.admin.api_keys.make(
        new.name, new.scope, is_read_only=new.read_only, lifetime=new.lifetime
    )


@router.delete("/api/api-keys/{key}", response_model=ApiKeySchema)
async def revoke_api_key(_: AsAdmin, runtime: Context, key: KeyText) -> ApiKey:
    """Revoke an API key by its id, at once and for good; a revoked or expired one stays as it is.

    The last working admin API key is not revoked: that is a 409. Create another one first.
    """
    return await runtime.engine.admin.api_keys.revoke(key)


async def _tell_who(runtime: Runtime, key: ApiKey) -> Fields:
    default = await runtime.engine.get_user()
    return {"api_key": key, "version": read_version(), "default_user_id": default.id}
