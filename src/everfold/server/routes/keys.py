"""Keys: who may ask, and signing the dashboard in with one."""

from fastapi import Depends, Response

from everfold.core.access import AccessKey
from everfold.server.access import AnyKey, AsAdmin, Context, let_anybody
from everfold.server.gate import COOKIE
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor
from everfold.server.queries import KeyText
from everfold.server.reference import read_version
from everfold.server.routing import make_router
from everfold.server.runtime import Runtime
from everfold.server.shapes.keys import KeyPage, KeyShape, MadeKeyShape, NewKey, SignIn, Who, show_key, show_made_key

router = make_router("access")

_COOKIE_SECS = 30 * 86_400
"""How long a browser stays signed in; the key itself may end sooner. Source: own choice."""


@router.post("/api/login", dependencies=[Depends(let_anybody)])
async def sign_in(runtime: Context, given: SignIn, response: Response) -> Who:
    """Sign a browser in with a key: it is kept in a cookie that no script can read."""
    key = await runtime.identify(given.key)
    response.set_cookie(
        COOKIE,
        given.key,
        max_age=_COOKIE_SECS,
        httponly=True,
        samesite="strict",
        secure=runtime.is_https,
    )
    return await _tell_who(runtime, key)


@router.post("/api/logout", status_code=204, dependencies=[Depends(let_anybody)])
async def sign_out(response: Response) -> None:
    """Have a browser forget the key."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


@router.get("/api/me")
async def tell_me(caller: AnyKey, runtime: Context) -> Who:
    """Which key this is, and what answers."""
    return await _tell_who(runtime, caller.key)


@router.get("/api/keys")
async def list_keys(_: AsAdmin, runtime: Context, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> KeyPage:
    """Keys in the order of their making, revoked and expired ones too."""
    keys = await runtime.engine.keys.list_keys(after=cursor, limit=limit)
    return KeyPage(
        keys=[show_key(key) for key in keys], next_cursor=next_cursor(keys, limit, keys[-1].id) if keys else None
    )


@router.post("/api/keys", status_code=201)
async def make_key(_: AsAdmin, runtime: Context, new: NewKey) -> MadeKeyShape:
    """Make a key; its secret is told this one time."""
    made = await runtime.engine.keys.make(new.name, new.scope, is_read_only=new.read_only, lifetime=new.lifetime)
    return show_made_key(made.key, made.secret)


@router.delete("/api/keys/{key}")
async def revoke_key(_: AsAdmin, runtime: Context, key: KeyText) -> KeyShape:
    """End a key, by its id, at once and for ever; one that has ended stays as it is.

    The last key that works and may do everything is not ended: that is a 409, and another has to be made first.
    """
    return show_key(await runtime.engine.keys.revoke(key))


async def _tell_who(runtime: Runtime, key: AccessKey) -> Who:
    default = await runtime.engine.get_user()
    return Who(key=show_key(key), version=read_version(), default_user_id=default.id)
