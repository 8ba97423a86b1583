"""Users: who they are, and where they are reached."""

from functools import partial

from fastapi import Response

from everfold.core.access.users import User, fold_name
from everfold.engine import Everfold
from everfold.server.access import AnyKey, AsAdmin, Caller, Context, OfUser
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor
from everfold.server.queries import NameQuery
from everfold.server.revisions import TAGGED, ExpectedTag, tag, told_race
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.schema import Schema
from everfold.server.schemas.users import NewUser, UserChange, UserPageSchema, UserSchema

router = make_router("users")


@router.get("/api/users", response_model=UserPageSchema)
async def list_users(
    caller: AnyKey, runtime: Context, q: NameQuery = "", limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Fields:
    """List users, the oldest first, or those with a name; a user's API key sees that user only."""
    default = await runtime.engine.get_user()
    users = await _list_seen(caller, runtime.engine, q, limit, cursor)
    return {
        "users": users,
        "default_user_id": default.id,
        "next_cursor": next_cursor(users, limit, lambda last: last.id),
    }


async def _list_seen(caller: Caller, engine: Everfold, named: str, limit: int, cursor: str | None) -> list[User]:
    """The users that an API key sees: an agent's sees none by name."""
    if caller.is_admin:
        return await engine.list_users(named=named, after=cursor, limit=limit)
    own = [] if caller.user_id is None else [await engine.get_user(caller.user_id)]
    return [user for user in own if fold_name(named) in fold_name(user.name) and cursor != user.id]


@router.post("/api/users", response_model=UserSchema, status_code=201)
async def add_user(_: AsAdmin, runtime: Context, new: NewUser, response: Response) -> User:
    """Add a user with a display name and bindings."""
    user = await runtime.engine.add_user(new.name, bindings=new.bindings)
    response.headers["Location"] = f"/api/users/{user.id}"
    tag(response, user.version)
    return user


@router.get("/api/users/{user}", response_model=UserSchema, responses=TAGGED)
async def get_user(user_id: OfUser, runtime: Context, response: Response) -> User:
    """Read one user."""
    user = await runtime.engine.get_user(user_id)
    tag(response, user.version)
    return user


@router.patch("/api/users/{user}", response_model=UserSchema, responses=TAGGED)
async def change_user(
    _: AsAdmin, user_id: OfUser, runtime: Context, change: UserChange, expected: ExpectedTag, response: Response
) -> User:
    """Change the display name or the bindings of a user; former names still work."""
    async with told_race(expected, partial(_read_now, runtime.engine, user_id)):
        user = await runtime.engine.change_user(
            user_id, name=change.name, bindings=change.bindings, expected_version=expected
        )
    tag(response, user.version)
    return user


async def _read_now(engine: Everfold, user_id: str) -> tuple[str, Schema]:
    user = await engine.get_user(user_id)
    return user.version, UserSchema.model_validate(user)
