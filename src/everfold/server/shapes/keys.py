"""Keys over HTTP."""

from datetime import timedelta

from pydantic import Field

from everfold.core.access import AccessKey
from everfold.server.shapes.shape import Given, Shape, Time


class KeyShape(Shape):
    """A key, without its secret."""

    id: str = Field(examples=["key_01"])
    name: str = Field(examples=["the phone of Ada"])
    scope: str = Field(description="`admin`, `user:ID` or `agent:NAME`.", examples=["admin"])
    read_only: bool = Field(description="It may only ask, with GET.")
    created_at: Time
    expires_at: Time | None = Field(description="From when on it is refused; null for never.")
    revoked_at: Time | None
    last_used_at: Time | None = Field(description="Up to a minute before its last use.")


class KeyPage(Shape):
    """Keys in the order of their making, revoked and expired ones too."""

    keys: list[KeyShape]
    next_cursor: str | None = Field(description="Give it as `cursor` for the next page; null on the last one.")


class NewKey(Given):
    """A key to be made."""

    name: str = Field(min_length=1, max_length=100, examples=["the phone of Ada"])
    scope: str = Field(
        default="admin",
        description="`admin`, `user:NAME` (a name, `default` or an id) or `agent:NAME`.",
        examples=["user:default"],
    )
    read_only: bool = False
    expires_in_days: float | None = Field(default=None, gt=0, le=36_500, examples=[90])

    @property
    def lifetime(self) -> timedelta | None:
        """For how long it works; None for ever."""
        return None if self.expires_in_days is None else timedelta(days=self.expires_in_days)


class MadeKeyShape(KeyShape):
    """A new key with its secret, which is shown this one time."""

    secret: str = Field(examples=["ef_u2cVY7WcS3nLNB1hKfqk4v1gJx0m3Z8d5wTQ9yRzAEo"])


class SignIn(Given):
    """What the dashboard is signed in with."""

    key: str = Field(min_length=1, max_length=200, examples=["ef_u2cVY7WcS3nLNB1hKfqk4v1gJx0m3Z8d5wTQ9yRzAEo"])


class Who(Shape):
    """Who asks, and what answers."""

    key: KeyShape
    version: str = Field(description="Of the server.", examples=["0.1.0"])
    default_user_id: str = Field(description="Whom `default` names.", examples=["6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"])


def show_key(key: AccessKey) -> KeyShape:
    """A key as the API gives it."""
    return KeyShape.model_validate(_values(key))


def show_made_key(key: AccessKey, secret: str) -> MadeKeyShape:
    """A new key with its secret."""
    return MadeKeyShape.model_validate({**_values(key), "secret": secret})


def _values(key: AccessKey) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "scope": str(key.scope),
        "read_only": key.scope.is_read_only,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }
