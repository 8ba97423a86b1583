"""A window as a row of speeches: what both providers' forms are made from.

Here calls meet their results: a result is paired by its id within its own step, calls without one get the fixed
synthetic result as soon as a message of another kind follows, and results without a waiting call become fenced data. A
row of speeches therefore never holds a call without its results directly after it.

Of an erased message nothing is said. Where it was a result, the calls that then wait in vain get a fixed text that says
so; where it made calls, their results become fenced data like any that no call waits for.

Source: DESIGN sections 3.1 and 3.6.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from everfold.core.log.extras import has_extras
from everfold.core.log.files import File, find_file, read_inner_texts
from everfold.core.log.messages import (
    CallPart,
    Cut,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ResultPart,
    TextPart,
    ThinkingPart,
    read_part,
)
from everfold.core.log.visible import ERASED_TEXT, INTERRUPTED_TEXT, cut_text, shows_extras
from everfold.core.primitives.json_values import clean_text
from everfold.core.sources.refreshing import find_source
from everfold.core.text.frames import EARLIER_TEXT, EMPTY_TEXT, OPENER_TEXT, fence_untrusted, name_earlier, name_refresh
from everfold.core.windows.entries import MessageEntry, RangeEntry, Renderable, TextEntry

Place = Literal["system", "body", "tail", "suffix"]


@dataclass(frozen=True, slots=True)
class ShownText:
    """Text to show; `part` is the part it came from, when it is that part's whole text."""

    text: str
    part: TextPart | None = None


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document; `text` replaces its text where a cut was made."""

    part: DocumentPart
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call with the arguments that are shown."""

    part: CallPart
    arguments: str


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The result of a call; `part` is None for a synthetic one, `text` is what is shown, None for the whole result.

    `message` is where a result came from that answers a call at its place.
    """

    call_id: str
    text: str | None
    part: ResultPart | None = None
    message: Message | None = None


Shown: TypeAlias = ShownText | ShownDocument | ShownCall | ShownAnswer | ImagePart | ThinkingPart | OpaquePart


@dataclass(frozen=True, slots=True)
class Speech:
    """What one party says at one place. `message` is its message, or None for words of Everfold's own."""

    role: Literal["system", "user", "assistant", "results"]
    place: Place
    items: tuple[Shown, ...]
    message: Message | None = None


def keeps_extras(message: Message | None, form: str) -> bool:
    """Whether what is shown of a message in this form has its extras: it came in the form, has some, and is whole."""
    return message is not None and message.view.format == form and has_extras(message.view) and shows_extras(message)


def speak(window: Renderable) -> list[Speech]:
    """The window as speeches, the dynamic suffix last. Starts with a user speech after the system ones; empty for no log."""
    speaker = _Speaker(window.fence_key)
    for entry in window.entries:
        match entry:
            case MessageEntry(slice="tail"):  # nearly all
                speaker.tail(entry.message)
            case MessageEntry(slice="fixed"):
                speaker.say("system", "system", entry.message)
            case MessageEntry():
                speaker.say("user", "body", entry.message)
            case RangeEntry():
                speaker.range(entry)
            case TextEntry():
                place: Place = "suffix" if entry.slice == "suffix" else "body"
                speaker.utter(Speech("user", place, (ShownText(clean_text(entry.text)),)))
    speaker.end_step()
    return speaker.speeches if window.is_empty else _with_opener(speaker.speeches)


def _with_opener(speeches: list[Speech]) -> list[Speech]:
    index = next((i for i, speech in enumerate(speeches) if speech.role != "system"), len(speeches))
    if index < len(speeches) and speeches[index].role == "user" and speeches[index].place != "suffix":
        return speeches
    place: Place = speeches[index].place if index < len(speeches) else "tail"
    opener = Speech("user", "tail" if place == "suffix" else place, (ShownText(OPENER_TEXT),))
    return [*speeches[:index], opener, *speeches[index:]]


class _Speaker:
    """Speaks a window entry by entry; `waiting` holds the calls of the running step that have no result yet."""

    def __init__(self, fence_key: str) -> None:
        self.fence_key = fence_key
        self.speeches: list[Speech] = []
        self.waiting: list[str] = []
        self.answers: list[ShownAnswer] = []
        self.aside: list[tuple[Message, tuple[Shown, ...]]] = []
        self.missing_text = INTERRUPTED_TEXT

    def utter(self, speech: Speech) -> None:
        if self.waiting or self.answers or self.aside:
            self.end_step()
        self.speeches.append(speech)

    def say(self, role: Literal["system", "user", "assistant"], place: Place, message: Message) -> None:
        if message.is_erased:
            self.end_step()
        else:
            self.utter(Speech(role, place, self._items(message), message))

    def range(self, entry: RangeEntry) -> None:
        kept = [message for message in entry.kept if message.kind != "system" and not message.is_erased]
        for message in entry.kept:
            if message.kind == "system":
                self.say("system", "body", message)
        items: list[Shown] = []
        if kept:
            items.append(ShownText(EARLIER_TEXT))
            for message in kept:
                if message.seq in entry.asked:
                    items.append(ShownText(clean_text(entry.asked[message.seq])))
                items.extend(self._items(message))
            items.append(ShownText(name_earlier([message.seq for message in kept])))
        if entry.digest_text:
            items.append(ShownText(clean_text(entry.digest_text)))
        if items:
            self.utter(Speech("user", "body", tuple(items)))

    def tail(self, message: Message) -> None:
        match message.kind:
            case "result" | "late" if message.is_erased:
                self._miss(message)
            case "result":
                self._answer(message)
            case "late":
                self.aside.append((message, (self._fence(message, _text_of(self._items(message))),)))
                if not self.waiting:
                    self.end_step()
            case "assistant":
                self.say("assistant", "tail", message)
                self.waiting = [call.id for call in message.view.calls]
            case "system":
                self.say("system", "tail", message)
            case _:
                self.say("user", "tail", message)

    def _answer(self, message: Message) -> None:
        beside: list[Shown] = []
        late: list[Shown] = []
        for part, item in zip(message.view.parts, self._items(message), strict=False):
            if isinstance(item, ShownAnswer) and item.call_id in self.waiting:
                self.waiting.remove(item.call_id)
                self.answers.append(replace(item, message=message))
            elif isinstance(part, ResultPart):
                late.append(item)
            else:
                beside.append(item)
        if late:
            beside.insert(0, self._fence(message, _text_of(late)))
        if beside:
            self.aside.append((message, tuple(beside)))
        if not self.waiting:
            self.end_step()

    def _miss(self, message: Message) -> None:
        """An erased result: which call it answered is not known any more, so all that wait get the same text."""
        if message.kind == "result" and self.waiting:
            self.missing_text = ERASED_TEXT
        if message.is_boundary:
            self.end_step()

    def end_step(self) -> None:
        """Answer what is still waiting, then say what came beside the results. A window may end with a closed step."""
        self.answers += [ShownAnswer(call_id, self.missing_text) for call_id in self.waiting]
        if self.answers:
            self.speeches.append(Speech("results", "tail", tuple(self.answers)))
        self.speeches += [Speech("user", "tail", items, message) for message, items in self.aside]
        self.waiting, self.answers, self.aside, self.missing_text = [], [], [], INTERRUPTED_TEXT

    def _fence(self, message: Message, text: str) -> ShownText:
        source = "outside" if message.origin == "external" else f"a late result, message {message.seq}"
        return ShownText(fence_untrusted(text, source=source, key=self.fence_key))

    def _fence_part(self, message: Message, part: Part, item: ShownText) -> ShownText:
        """One text from outside. What a context source said names it; the line that says so is Everfold's own."""
        if message.source != "refresh" or not isinstance(part, TextPart):
            return self._fence(message, item.text)
        if part.text == name_refresh(message.said_at):
            return item
        return ShownText(fence_untrusted(item.text, source=find_source(part), key=self.fence_key))

    def _items(self, message: Message) -> tuple[Shown, ...]:
        items = tuple([show_part(part) for part in message.view.parts])
        if message.cuts:
            cuts = {cut.part: cut for cut in message.cuts}
            items = tuple([_show_cut(message, at, cuts[at]) if at in cuts else it for at, it in enumerate(items)])
        if message.origin == "external" and message.kind == "notice":
            parts = zip(message.view.parts, items, strict=True)
            items = tuple(
                self._fence_part(message, part, it) if isinstance(it, ShownText) else it for part, it in parts
            )
        return items or (ShownText(EMPTY_TEXT),)


def _text_of(items: Iterable[Shown]) -> str:
    """What can be read of what is shown, results and documents with their cuts made."""
    texts: list[str] = []
    for item in items:
        match item:
            case ShownText():
                texts.append(item.text)
            case ShownAnswer() if item.part is not None:
                texts.append(clean_text(item.part.text) if item.text is None else item.text)
            case ShownDocument():
                texts.append(clean_text(item.part.text) if item.text is None else item.text)
            case _:
                continue
    return "\n".join(text for text in texts if text)


def write_document(document: ShownDocument) -> str:
    """A document as text, under its title: where a provider's form has no place for one."""
    text = document.part.text or "\n".join(read_inner_texts(document.part)) if document.text is None else document.text
    return clean_text(f"[{document.part.title}]\n{text}")


def find_unread(document: ShownDocument) -> File | None:
    """The file that a document is, where its text is not read; None where there is text, or nothing to send."""
    return find_file(document.part.raw) if not document.part.text and document.text is None else None


def show_part(part: Part) -> Shown:
    """A whole part as it is shown."""
    match part:
        case TextPart():
            text = clean_text(part.text) or EMPTY_TEXT
            return ShownText(text, part if text is part.text else None)
        case ResultPart():
            return ShownAnswer(part.call_id, None, part)
        case DocumentPart():
            return ShownDocument(part)
        case CallPart():
            return ShownCall(part, clean_text(part.arguments))
        case _:
            return part


def _show_cut(message: Message, index: int, cut: Cut) -> Shown:
    part = message.view.parts[index]
    match part:
        case TextPart():
            return ShownText(_cut(message, index, cut))
        case ResultPart():
            return ShownAnswer(part.call_id, _cut(message, index, cut), part)
        case DocumentPart():
            return ShownDocument(part, _cut(message, index, cut))
        case CallPart() if cut.arguments is not None:
            return ShownCall(part, clean_text(cut.arguments))
        case ImagePart():
            return ShownText(f"[an image of message {message.seq} is left out here; history has it]")
        case _:
            return show_part(part)


def _cut(message: Message, index: int, cut: Cut) -> str:
    text, offset = read_part(message.view.parts[index]), message.view.find_offset(index)
    return clean_text(cut_text(text, cut, seq=message.seq, offset=offset))


def texts_of(items: Iterable[Shown]) -> Iterator[str]:
    """The texts among what is shown, in order."""
    return (item.text for item in items if isinstance(item, ShownText))
