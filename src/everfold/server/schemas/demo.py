"""The demo over HTTP."""

from pydantic import Field

from everfold.server.schemas.schema import Schema


class LoadedDemo(Schema):
    """What was loaded."""

    session_id: str = Field(description="The session of the long conversation.", examples=["ses_01"])
    messages_count: int = Field(description="Messages of both users.", examples=[494])
