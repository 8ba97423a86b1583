"""Users: who they are, and where they are reached."""

from everfold.server.access import AnyKey, AsAdmin, Context, OfUser
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor
from everfold.server.routing import make_router
from everfold.server.shapes.users import NewUser, UserChange, UserPage, UserShape, show_user

router = make_router("users")


@router.get("/api/users")
async def list_users(caller: AnyKey, runtime: Context, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> UserPage:
    """Users in the order in which they became known; a user's key sees that user only."""
    engine = runtime.engine
    default = await engine.get_user()
    if caller.is_admin:
        users = await engine.list_users(after=cursor, limit=limit)
    else:
        users = [] if caller.user_id is None else [await engine.get_user(caller.user_id)]
    return UserPage(
        users=[show_user(user) for user in users],
        default_user_id=default.id,
        next_cursor=next_cursor(users, limit, users[-1].id) if users else None,
    )


@router.post("/api/users", status_code=201)
async def add_user(_: AsAdmin, runtime: Context, new: NewUser) -> UserShape:
    """Make a person known, who is reached by their name and at each binding."""
    return show_user(await runtime.engine.add_user(new.name, bindings=new.bindings))


@router.get("/api/users/{user}")
async def get_user(user_id: OfUser, runtime: Context) -> UserShape:
    """One person."""
    return show_user(await runtime.engine.get_user(user_id))


@router.patch("/api/users/{user}")
async def change_user(_: AsAdmin, user_id: OfUser, runtime: Context, change: UserChange) -> UserShape:
    """Change the display name or the bindings of a person; the names they had reach them still."""
    return show_user(await runtime.engine.change_user(user_id, name=change.name, bindings=change.bindings))
