"""Messages over HTTP: exactly as they were given, with what Everfold noted of them."""

from typing import Annotated

from pydantic import Field, SkipValidation

from everfold.core.log.messages import (
    CallPart,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from everfold.core.primitives.origins import AUTHORITY, Origin, Source
from everfold.core.statements.extracts import ExtractLine
from everfold.server.schemas.schema import Given, GivenTime, many, project, wrap
from everfold.services.forgetting.erase import Erased
from everfold.services.forgetting.retract import MOST_RETRACTED, Retracted
from everfold.services.inspection.inspect_session import LogStretch, ReadMessage
from everfold.services.sessions.read import MOST_READ

_WIRE = {"role": "user", "content": "My locker is number 12."}
_SHORT_URL_CHARS = 2_000
"""A longer URL holds the image itself, which stands in the wire form."""

Wire = Annotated[dict[str, object], SkipValidation]
"""A message as a client gave it. The engine looks at it; nothing of it is copied or changed before."""


class NewMessages(Given):
    """Messages to be appended, all or none."""

    messages: list[Wire] = Field(
        min_length=1,
        description="In the form of OpenAI's chat, its Responses API or Anthropic's messages; stored exactly as given.",
        examples=[[_WIRE]],
    )
    origin: Origin | None = Field(
        default=None,
        description="Who speaks, where it is not what the role says: `external` for what was fetched from outside. Without "
        "it a tick is the system's, an injection external.",
    )
    source: Source = Field(default="said", description="Why it is in the log.")
    said_at: GivenTime | None = Field(default=None, description="When it was said; now when left out.")
    client_id: str | None = Field(
        default=None,
        min_length=1,
        description="Names this append; the same one again changes nothing and gives the same numbers.",
        examples=["telegram/4711"],
    )
    client_ids: list[str | None] | None = Field(
        default=None,
        description="Names each message, in place of `client_id`; null for one without a name. Messages that are stored are "
        "passed over, the rest is appended.",
        examples=[None],
    )


class AskedLookup(Given):
    """Which messages are looked for; at most 1,000."""

    client_id: list[str] = Field(default=[], description="As they were given with the messages.", examples=[["m-1"]])
    hash: list[str] = Field(default=[], description="SHA-256 of the stored JSON, in hex.", examples=[[]])


class NewRetraction(Given):
    """How much is taken back."""

    count: int = Field(
        default=1, ge=1, le=MOST_RETRACTED, description="The newest messages that are not retracted.", examples=[1]
    )
    last: int | None = Field(
        default=None, ge=1, description="Refused with 409 where the newest message is another one.", examples=[None]
    )


class AskedMessages(Given):
    """Which messages are asked for: a range, one with its neighbours, or those after one."""

    first: int | None = Field(default=None, ge=1, description="From this one on.")
    last: int | None = Field(default=None, ge=1, description="Up to this one, itself included.")
    around: int | None = Field(default=None, ge=1, description="This one with its neighbours.")
    before: int = Field(default=3, ge=0, le=MOST_READ, description="With `around`: how many before it.")
    after: int | None = Field(
        default=None, ge=0, description="With `around`: how many after it, 3 when left out. Else: those after this one."
    )
    limit: int = Field(default=100, ge=1, le=MOST_READ, description="How many at most, where `last` is left out.")
    cursor: int | None = Field(default=None, ge=0, description="`next_cursor` of the page before.")

    @property
    def neighbours_after(self) -> int:
        """How many after the one that is asked for."""
        return 3 if self.after is None else min(self.after, MOST_READ)

    @property
    def first_seq(self) -> int:
        """Where the range begins."""
        if self.cursor is not None:
            return self.cursor + 1
        return self.first or (self.after or 0) + 1

    @property
    def last_seq(self) -> int:
        """Where it ends."""
        return self.first_seq + self.limit - 1 if self.last is None else self.last


def _shorten_url(part: ImagePart) -> str | None:
    return part.url if part.url is not None and len(part.url) <= _SHORT_URL_CHARS else None


def _find_cursor(stretch: LogStretch) -> str | None:
    end_seq = stretch.messages[-1].seq if stretch.messages else stretch.last_seq
    return str(end_seq) if end_seq < stretch.last_seq else None


AppendedSchema = wrap(
    "Appended", "What became of the messages.", seqs=(list[int], "Their sequence numbers, in their order.")
)
LookupSchema = wrap(
    "Lookup", "Which messages are there.", seqs=(dict[str, int], "Their sequence numbers, by client id or hash.")
)
TextPartSchema = project("TextPart", TextPart, "kind text")
CallPartSchema = project("CallPart", CallPart, "kind id name arguments", words={"arguments": "As JSON text."})
ResultPartSchema = project(
    "ResultPart", ResultPart, "kind call_id is_error image_count", "A tool's result; its text is in the message's."
)
ImagePartSchema = project(
    "ImagePart", ImagePart, "kind url media_type", url=(str | None, _shorten_url, "Where it is elsewhere.")
)
DocumentPartSchema = project("DocumentPart", DocumentPart, "kind title", "A document; its text is in the message's.")
ThinkingPartSchema = project("ThinkingPart", ThinkingPart, "kind is_signed")
OpaquePartSchema = project("OpaquePart", OpaquePart, "kind type")
PartsSchema = many(
    TextPartSchema
    | CallPartSchema
    | ResultPartSchema
    | ImagePartSchema
    | DocumentPartSchema
    | ThinkingPartSchema
    | OpaquePartSchema
)
ExtractLineSchema = project(
    "ExtractLine",
    ExtractLine,
    "kind score quote start is_standing=standing",
    "An exact quote that was noted when the message arrived.",
    words={"start": "Where it stands in the text, in code points.", "quote": "Exactly what stands there."},
)
MessageSchema = project(
    "Message",
    Message,
    "seq role=view.role kind origin source authority format=view.format tokens=raw_tokens visible_tokens=tokens said_at "
    "text=view.text wire parts extract_lines=lines is_kept=keep is_erased is_retracted",
    words={
        "kind": "What it is in its session: a `notice` is in a user's role, and was not said by the user.",
        "format": "The form that it was given in.",
        "text": "All that can be read in it; or one page of that, where a page was asked for.",
    },
    extract_lines=ExtractLineSchema,
    parts=(PartsSchema, lambda message: message.view.parts, "What it consists of, in its order."),
    authority=(
        int,
        lambda message: AUTHORITY[message.origin],
        "How much it may decide: 0 from outside to 4 of the system.",
    ),
    wire=(
        Wire | None,
        lambda message: None if message.is_erased else message.wire,
        "The message exactly as it was given; null of an erased one, and beside a page.",
    ),
)
MessageDetailSchema = project(
    "MessageDetail",
    ReadMessage,
    "text wire parts page pages_count",
    base=MessageSchema,
    at="message",
    text=(
        str,
        lambda one: one.page.text if one.page else one.message.view.text,
        "All that can be read in it; or one page of that, where a page was asked for.",
    ),
    wire=(
        Wire | None,
        lambda one: None if one.page or one.message.is_erased else one.message.wire,
        "The message exactly as it was given; null of an erased one, and beside a page.",
    ),
    parts=(PartsSchema, lambda one: () if one.page else one.message.view.parts, "Empty beside a page."),
    page=(int | None, lambda one: one.page and one.page.page, "The page that `text` is; null for all of it."),
    pages_count=(int | None, lambda one: one.page and one.page.page_count, ""),
)
MessagePageSchema = project(
    "MessagePage",
    LogStretch,
    "messages last_seq next_cursor",
    messages=MessageSchema,
    words={"last_seq": "The newest message of the log; 0 for an empty one."},
    next_cursor=(str | None, _find_cursor, "Give it as `cursor` for what follows; null at the end."),
)
RetractedSchema = project("Retracted", Retracted, "seqs items restored")
ErasedMessageSchema = project(
    "ErasedMessage",
    Erased,
    "seq sessions items kept topics digests superseded is_pending",
    words={
        "superseded": "Items that stay superseded by something that is erased; undo brings one back.",
        "is_pending": "The database's files still hold it until another reader lets go.",
    },
)
