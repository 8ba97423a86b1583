"""Users over HTTP."""

from pydantic import Field

from everfold.core.users import NAME_CHANNEL, User
from everfold.server.shapes.shape import Given, GivenName, NextCursor, Shape, Time

_ID = "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"


class UserShape(Shape):
    """A person."""

    id: str = Field(description="A UUID, for ever the same.", examples=[_ID])
    name: str = Field(description="The display name; empty where none was given.", examples=["Ada"])
    is_default: bool = Field(description="Whom `default` names.", examples=[True])
    bindings: list[str] = Field(description="Where they are reached, each `CHANNEL:ID`.", examples=[["telegram:12345"]])
    created_at: Time


class UserPage(Shape):
    """Users in the order in which they became known; of a search those whose name begins with it come first."""

    users: list[UserShape]
    default_user_id: str = Field(description="Whom `default` names.", examples=[_ID])
    next_cursor: NextCursor


class NewUser(Given):
    """A person to be made known."""

    name: GivenName = Field(examples=["Ada"])
    bindings: list[GivenName] = Field(default=[], examples=[["telegram:12345"]])


class UserChange(Given):
    """What is to change of a person; what is left out stays."""

    name: GivenName | None = Field(default=None, examples=["Ada L."])
    bindings: list[GivenName] | None = Field(default=None, examples=[["telegram:12345", "mail:ada@example.org"]])


def show_user(user: User) -> UserShape:
    """A user as the API gives them; the names they are reached by are no bindings there."""
    return UserShape(
        id=user.id,
        name=user.name,
        is_default=user.is_default,
        bindings=[str(one) for one in user.bindings if one.channel != NAME_CHANNEL],
        created_at=user.created_at,
    )
