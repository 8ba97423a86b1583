"""Users over HTTP."""

from pydantic import Field

from everfold.core.access.users import NAME_CHANNEL, User
from everfold.server.schemas.schema import Given, GivenName, many, project, wrap


class NewUser(Given):
    """A person to be made known."""

    name: GivenName = Field(examples=["Ada"])
    bindings: list[GivenName] = Field(default=[], examples=[["telegram:12345"]])


class UserChange(Given):
    """What is to change of a person; what is left out stays."""

    name: GivenName | None = Field(default=None, examples=["Ada L."])
    bindings: list[GivenName] | None = Field(default=None, examples=[["telegram:12345", "mail:ada@example.org"]])


UserSchema = project(
    "User",
    User,
    "id name is_default bindings created_at",
    bindings=(
        list[str],
        lambda user: [str(one) for one in user.bindings if one.channel != NAME_CHANNEL],
        "Where they are reached, each `CHANNEL:ID`.",
    ),
)
UserPageSchema = wrap(
    "UserPage",
    "Users in the order in which they became known; of a search those whose name begins with it come first.",
    users=many(UserSchema),
    default_user_id=str,
    next_cursor=str | None,
)
