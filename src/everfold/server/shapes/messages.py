"""Messages over HTTP: exactly as they were given, with what Everfold noted of them."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, SkipValidation

from everfold.core.extracts import ExtractLine, LineKind
from everfold.core.messages import Kind, Message, Part, Role, WireFormat
from everfold.core.origins import AUTHORITY, Origin, Source
from everfold.server.shapes.shape import Given, GivenTime, Shape, Time, show_time
from everfold.services.erase import Erased
from everfold.services.inspect_session import LogStretch
from everfold.services.read import MOST_READ, Page

_WIRE = {"role": "user", "content": "My locker is number 12."}
_SHORT_URL_CHARS = 2_000
"""A longer URL holds the image itself, which stands in the wire form."""


Wire = Annotated[dict[str, object], SkipValidation]
"""A message as a client gave it. The engine looks at it; nothing of it is copied or changed before."""


class NewMessages(Given):
    """Messages to be appended, all or none."""

    messages: list[Wire] = Field(
        min_length=1,
        description="In OpenAI chat or Anthropic messages form; stored exactly as given.",
        examples=[[_WIRE]],
    )
    origin: Origin | None = Field(
        default=None,
        description="Who speaks, where it is not what the role says: `external` for what was fetched from outside.",
    )
    source: Source = Field(default="said", description="Why it is in the log.")
    said_at: GivenTime | None = Field(default=None, description="When it was said; now when left out.")
    client_id: str | None = Field(
        default=None,
        min_length=1,
        description="Names this append; the same one again changes nothing and gives the same numbers.",
        examples=["telegram/4711"],
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


class Appended(Shape):
    """What became of the messages."""

    seqs: list[int] = Field(description="Their sequence numbers, in their order.", examples=[[1]])


class PartShape(Shape):
    """One part of a message. What does not belong to its kind is null; long content stands in the message's text."""

    kind: str = Field(
        description="`text`, `image`, `document`, `call`, `result`, `thinking` or `opaque`.", examples=["call"]
    )
    text: str | None = Field(default=None, description="Of a text.", examples=[None])
    id: str | None = Field(default=None, description="Of a call.", examples=["call_1"])
    name: str | None = Field(default=None, description="The tool that a call calls.", examples=["look_up"])
    arguments: str | None = Field(default=None, description="Of a call, as JSON text.", examples=["{}"])
    call_id: str | None = Field(default=None, description="The call that a result answers.", examples=[None])
    is_error: bool | None = Field(default=None, description="Of a result.", examples=[None])
    image_count: int | None = Field(default=None, description="The images in a result.", examples=[None])
    url: str | None = Field(default=None, description="Of an image that is elsewhere.", examples=[None])
    media_type: str | None = Field(default=None, description="Of an image.", examples=[None])
    title: str | None = Field(default=None, description="Of a document.", examples=[None])
    is_signed: bool | None = Field(default=None, description="Of thinking.", examples=[None])
    type: str | None = Field(default=None, description="Of a part that Everfold does not know.", examples=[None])


class LineShape(Shape):
    """An exact quote that was noted when the message arrived."""

    kind: LineKind
    score: int = Field(description="0 to 100: how much a careful person would want to keep it.", examples=[70])
    quote: str = Field(examples=["My locker is number 12."])
    start: int = Field(description="Where it stands in the text, in code points.", examples=[0])
    is_standing: bool = Field(description="It binds beyond its moment.", examples=[False])


class MessageShape(Shape):
    """One entry of the log."""

    seq: int = Field(examples=[1])
    role: Role = Field(examples=["user"])
    kind: Kind = Field(
        description="What it is in its session: a `notice` is in a user's role and nobody of the conversation said it.",
        examples=["user"],
    )
    origin: Origin = Field(examples=["user"])
    source: Source = Field(examples=["said"])
    authority: int = Field(description="How much it may decide: 0 from outside to 4 of the system.", examples=[3])
    format: WireFormat = Field(description="The form that it was given in.", examples=["openai"])
    tokens: int = Field(description="The whole message, by the fixed estimate.", examples=[11])
    visible_tokens: int = Field(description="What its form in the window costs.", examples=[11])
    said_at: Time
    text: str = Field(
        description="All that can be read in it; or one page of that, where a page was asked for.",
        examples=["My locker is number 12."],
    )
    wire: dict[str, object] | None = Field(
        description="The message exactly as it was given; null of an erased one, and beside a page.", examples=[_WIRE]
    )
    parts: list[PartShape]
    extract_lines: list[LineShape]
    is_kept: bool = Field(description="It asked to be pinned with `[[keep]]`.", examples=[False])
    is_erased: bool = Field(description="Only a tombstone is left.", examples=[False])


class MessageDetail(MessageShape):
    """One message, or a page of it."""

    page: int | None = Field(description="The page that `text` is; null for all of it.", examples=[None])
    pages_count: int | None = Field(examples=[None])


class MessagePage(Shape):
    """Messages in the order of the log, tombstones included."""

    messages: list[MessageShape]
    last_seq: int = Field(description="The newest message of the log; 0 for an empty one.", examples=[412])
    next_cursor: str | None = Field(
        description="Give it as `cursor` for what follows; null at the end.", examples=[None]
    )


class ErasedMessage(Shape):
    """What an erase of a message came to."""

    seq: int = Field(examples=[17])
    sessions: list[str] = Field(description="Every session whose log held it.", examples=[["ses_01"]])
    items: list[str] = Field(description="Items that nothing says any more; they are erased.", examples=[[]])
    kept: list[str] = Field(description="Items that other messages say too; they lost its quotes.", examples=[[]])
    topics: list[str] = Field(description="Topics that were made again, or erased.", examples=[[]])
    digests: list[str] = Field(description="Digests that were made again.", examples=[["evt_01.fine"]])
    superseded: list[str] = Field(
        description="Items that stay superseded by something that is erased; undo brings one back.", examples=[[]]
    )
    is_pending: bool = Field(description="The database's files still hold it until another reader lets go.")


def show_message(message: Message) -> dict[str, object]:
    """A message as a `MessageShape`, as plain JSON: its wire form is given back as it is, and not copied again."""
    return {
        "seq": message.seq,
        "role": message.view.role,
        "kind": message.kind,
        "origin": message.origin,
        "source": message.source,
        "authority": AUTHORITY[message.origin],
        "format": message.view.format,
        "tokens": message.raw_tokens,
        "visible_tokens": message.tokens,
        "said_at": show_time(message.said_at),
        "text": message.view.text,
        "wire": None if message.is_erased else message.wire,
        "parts": [_show_part(part) for part in message.view.parts],
        "extract_lines": [_show_line(line) for line in message.lines],
        "is_kept": message.keep,
        "is_erased": message.is_erased,
    }


def show_message_detail(message: Message, page: Page | None) -> dict[str, object]:
    """A message, or one page of it, as a `MessageDetail`."""
    shown = show_message(message)
    if page is None:
        return {**shown, "page": None, "pages_count": None}
    of_page: dict[str, object] = {
        "text": page.text,
        "wire": None,
        "parts": [],
        "page": page.page,
        "pages_count": page.page_count,
    }
    return {**shown, **of_page}


def _show_part(part: Part) -> dict[str, object]:
    match part.kind:
        case "text":
            return {"kind": part.kind, "text": part.text}
        case "call":
            return {"kind": part.kind, "id": part.id, "name": part.name, "arguments": part.arguments}
        case "result":
            named = {"call_id": part.call_id, "is_error": part.is_error, "image_count": part.image_count}
            return {"kind": part.kind, **named}
        case "image":
            url = part.url if part.url is not None and len(part.url) <= _SHORT_URL_CHARS else None
            return {"kind": part.kind, "url": url, "media_type": part.media_type}
        case "document":
            return {"kind": part.kind, "title": part.title}
        case "thinking":
            return {"kind": part.kind, "is_signed": part.is_signed}
        case "opaque":
            return {"kind": part.kind, "type": part.type}


def _show_line(line: ExtractLine) -> dict[str, object]:
    return {
        "kind": line.kind,
        "score": line.score,
        "quote": line.quote,
        "start": line.start,
        "is_standing": line.standing,
    }


def show_stretch(stretch: LogStretch) -> dict[str, object]:
    """Messages that were asked for, as a `MessagePage`."""
    end_seq = stretch.messages[-1].seq if stretch.messages else stretch.last_seq
    return {
        "messages": [show_message(message) for message in stretch.messages],
        "last_seq": stretch.last_seq,
        "next_cursor": str(end_seq) if end_seq < stretch.last_seq else None,
    }


def show_erased(erased: Erased) -> ErasedMessage:
    """What an erase of a message came to."""
    return ErasedMessage(
        seq=erased.seq,
        sessions=_texts(erased.sessions),
        items=_texts(erased.items),
        kept=_texts(erased.kept),
        topics=_texts(erased.topics),
        digests=_texts(erased.digests),
        superseded=_texts(erased.superseded),
        is_pending=erased.is_pending,
    )


def _texts(ids: Sequence[str]) -> list[str]:
    return [str(one) for one in ids]
