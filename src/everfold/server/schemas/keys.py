"""API keys over HTTP."""

from datetime import timedelta

from pydantic import Field

from everfold.core.access.api_keys import ApiKey
from everfold.server.schemas.schema import Given, many, project, wrap
from everfold.services.access.api_keys import MadeApiKey


class NewApiKey(Given):
    """An API key to be made."""

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


class SignIn(Given):
    """What the dashboard is signed in with."""

    api_key: str = Field(min_length=1, max_length=200, examples=["ef_u2cVY7WcS3nLNB1hKfqk4v1gJx0m3Z8d5wTQ9yRzAEo"])


ApiKeySchema = project(
    "ApiKey",
    ApiKey,
    "id name scope read_only=scope.is_read_only created_at expires_at revoked_at last_used_at",
    "An API key, without its secret.",
    words={"read_only": "It may only ask, with GET."},
    scope=(str, lambda key: str(key.scope), "`admin`, `user:ID` or `agent:NAME`."),
)
ApiKeyPageSchema = wrap(
    "ApiKeyPage",
    "API keys in the order of their making, revoked and expired ones too.",
    api_keys=many(ApiKeySchema),
    next_cursor=str | None,
)
MadeApiKeySchema = project("MadeApiKey", MadeApiKey, "secret", base=ApiKeySchema, at="api_key")
WhoSchema = wrap(
    "Who",
    "The API key of the request, and the server.",
    api_key=ApiKeySchema,
    version=(str, "Of the server."),
    default_user_id=str,
)
