"""Sessions and what is said in them, over HTTP."""

from pydantic import Field

from everfold.core.sessions import SessionRecord
from everfold.server.shapes.shape import Given, Shape, Time


class SessionShape(Shape):
    """One log between a user and an agent."""

    id: str = Field(examples=["ses_01"])
    user_id: str
    agent: str = Field(examples=["default"])
    is_current: bool = Field(description="New messages of this user to this agent go here.")
    parent_id: str | None = Field(description="What it follows, or branches off.")
    created_at: Time
    limit_tokens: int = Field(description="The model's context limit.")


class NewMessages(Given):
    """Messages to be appended, all or none."""

    messages: list[dict[str, object]] = Field(
        min_length=1,
        description="In OpenAI chat or Anthropic messages form; stored exactly as given.",
        examples=[[{"role": "user", "content": "My locker is number 12."}]],
    )
    client_id: str | None = Field(
        default=None, description="Names this append; the same one again changes nothing and gives the same numbers."
    )


class Appended(Shape):
    """What became of the messages."""

    seqs: list[int] = Field(description="Their sequence numbers, in their order.", examples=[[1]])


def show_session(record: SessionRecord) -> SessionShape:
    """A session as the API gives it."""
    return SessionShape(
        id=record.id,
        user_id=record.user_id,
        agent=record.agent_id,
        is_current=record.is_current,
        parent_id=record.parent_id,
        created_at=record.created_at,
        limit_tokens=record.settings.limit_tokens,
    )
