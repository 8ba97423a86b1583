"""Joined replies: several answers of a provider as the one that the client gets, plain or streamed, less the calls of ours.

A stream is joined while it passes: what a client shows of a reply is never kept back. Only the end of each answer is, since more may
follow; it is dropped where it does. Events that need no change pass as the bytes that they came in.

Source: the streamed events of OpenAI (chat completions, Responses) and Anthropic (messages).
"""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Final, Protocol, cast

from everfold.core.conversations.history_calls import choose_ending, is_hidden, join_bodies
from everfold.core.conversations.replies import Reply, StreamedReply, encode_body, read_reply
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonObject, JsonValue, list_objects, parse_json, read_object
from everfold.errors import InvalidInputError

Taken = tuple[list[JsonObject], JsonObject | None]
"""What the client gets in place of an event, and what of it is kept back, since another answer may follow."""


class JoinedReply(Protocol):
    """Answers as they come, and what the client gets of them."""

    def feed(self, data: bytes) -> bytes:
        """Take what has come of an answer; gives what the client gets of it now."""

    def end_round(self) -> Reply:
        """What the answer that has come says; the next one may follow."""

    def finish(self) -> bytes:
        """What the client still gets, after the last answer."""

    def read(self) -> Reply:
        """What the client has of it all."""


def begin_joining(form: WireFormat, names: Collection[str], *, is_streamed: bool) -> JoinedReply:
    """The joined reply of a request."""
    return _JoinedStream(form, names) if is_streamed else _JoinedPlain(form, names)


class _JoinedPlain:
    """Plain answers: the client gets one once the last one is there."""

    def __init__(self, form: WireFormat, names: Collection[str]) -> None:
        self._form = form
        self._names = names
        self._pieces: list[bytes] = []
        self._raw = b""
        self._bodies: list[JsonObject] = []

    def feed(self, data: bytes) -> bytes:
        self._pieces.append(data)
        return b""

    def end_round(self) -> Reply:
        self._raw, self._pieces = b"".join(self._pieces), []
        body = _read_object(self._raw)
        reply = read_reply(self._form, body)
        if body is not None and reply.wire is not None:
            self._bodies.append(body)
        return reply

    def finish(self) -> bytes:
        joined = self._join()
        return self._raw if joined is None else encode_body(joined)

    def read(self) -> Reply:
        joined = self._join()
        return Reply() if joined is None else read_reply(self._form, joined)

    def _join(self) -> JsonObject | None:
        if not self._bodies:
            return None
        joined = join_bodies(self._form, self._bodies, self._names)
        return self._bodies[-1] if joined == self._bodies[-1] else joined


class _Joiner(Protocol):
    """What becomes of the events of one form."""

    def begin(self) -> None:
        """Begin an answer."""

    def take(self, event: JsonObject) -> Taken:
        """What becomes of an event."""

    def end(self, event: JsonObject) -> JsonObject:
        """An event that was kept back, as the client gets it at the end."""


class _JoinedStream:
    """Streamed answers."""

    def __init__(self, form: WireFormat, names: Collection[str]) -> None:
        self._joiner = _JOINERS[form](names)
        self._joiner.begin()
        self._form = form
        self._own = StreamedReply(form)
        self._given = StreamedReply(form)
        self._rest = b""
        self._late = b""
        self._held: list[tuple[bytes, JsonObject | None]] = []
        self._last: list[tuple[bytes, JsonObject | None]] = []

    def feed(self, data: bytes) -> bytes:
        self._own.feed(data)
        return self._pass(data)

    def _pass(self, data: bytes) -> bytes:
        *lines, rest = (self._rest + data).split(b"\n")
        passed, block = b"", b""
        for line in lines:
            block += line + b"\n"
            if not line.strip():
                passed += self._take(block)
                block = b""
        self._rest = block + rest
        self._given.feed(passed)
        return passed

    def _take(self, block: bytes) -> bytes:
        event = _read_event(block)
        if event is None:
            if b"[DONE]" not in block:
                return block
            self._held.append((block, None))
            return b""
        passed, held = self._joiner.take(event)
        if held is not None:
            self._held.append((block if held is event else _write_event(held, block), held))
        return b"".join([block if one is event else _write_event(one, block) for one in passed])

    def end_round(self) -> Reply:
        reply = self._own.read()
        self._late = self._pass(b"\n\n") if self._rest.strip() else b""
        self._own = StreamedReply(self._form)
        self._joiner.begin()
        self._last, self._held, self._rest = self._held, [], b""
        return reply

    def finish(self) -> bytes:
        passed = b""
        for block, event in self._last:
            made = event if event is None else self._joiner.end(event)
            passed += block if made is event or made is None else _write_event(made, block)
        self._given.feed(passed)
        return self._late + passed

    def read(self) -> Reply:
        return self._given.read()


def _read_object(data: bytes) -> JsonObject | None:
    try:
        value = parse_json(data.decode("utf-8"))
    except (InvalidInputError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _read_event(block: bytes) -> JsonObject | None:
    data = b"\n".join([line[5:].strip() for line in block.splitlines() if line.startswith(b"data:")])
    return _read_object(data) if data.startswith(b"{") else None


def _write_event(event: JsonObject, before: bytes) -> bytes:
    """An event in place of another one; named where that one was."""
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    return f"event: {event['type']}\n".encode() + data if before.startswith(b"event:") else data


class _ChatJoiner:
    """Chunks of chat completions: one id, one role, calls counted anew, and a blank line between the texts of two answers."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._id: JsonValue = None
        self._calls_count = 0
        self._places: dict[JsonValue, int | None] = {}
        self._round = 0
        self._said_in = 0

    def begin(self) -> None:
        self._round += 1
        self._places = {}

    def take(self, event: JsonObject) -> Taken:
        choices = list_objects(event.get("choices"))
        if not choices:
            return ([], event) if event.get("usage") else ([event], None)
        if self._round == 1:
            self._id = event.get("id")
        choice = choices[0]
        delta = read_object(choice.get("delta"))
        edited = self._edit(delta)
        if choice.get("finish_reason") is not None:
            return self._split(event, choice, edited)
        if not edited and delta:
            return [], None
        is_same = edited == delta and event.get("id") == self._id
        return [event if is_same else self._write(event, {**choice, "delta": edited})], None

    def _split(self, event: JsonObject, choice: JsonObject, edited: JsonObject) -> Taken:
        """The end of an answer: it is kept back, and what is said in the same chunk passes before it."""
        said: JsonObject = {name: value for name, value in edited.items() if value not in (None, "", [])}
        end: JsonObject = {**event, "choices": [{**choice, "delta": {}}]} if said else event
        return [self._write(event, {**choice, "delta": said, "finish_reason": None})] if said else [], end

    def _write(self, event: JsonObject, choice: JsonObject) -> JsonObject:
        made: JsonObject = {**event, "choices": [choice]}
        return {**made, "id": self._id} if self._id is not None else made

    def _edit(self, delta: JsonObject) -> JsonObject:
        edited = dict(delta)
        if self._round > 1:
            edited.pop("role", None)
        if isinstance(text := delta.get("content"), str) and text:
            if self._said_in not in (0, self._round):
                edited["content"] = f"\n\n{text}"
            self._said_in = self._round
        elif self._round > 1:
            edited.pop("content", None)
        if "tool_calls" in delta:
            calls = [made for call in list_objects(delta["tool_calls"]) if (made := self._edit_call(call))]
            edited["tool_calls"] = cast("list[JsonValue]", calls)
            if not calls:
                del edited["tool_calls"]
        return edited

    def _edit_call(self, call: JsonObject) -> JsonObject | None:
        index = call.get("index", len(self._places))
        if index not in self._places:
            self._places[index] = None if is_hidden(call, self._names) else self._calls_count
            self._calls_count += self._places[index] is not None
        place = self._places[index]
        return None if place is None else {**call, "index": place}

    def end(self, event: JsonObject) -> JsonObject:
        choices = list_objects(event.get("choices"))
        if not choices:
            return event if event.get("id") in (None, self._id) else {**event, "id": self._id}
        reason = choices[0].get("finish_reason")
        ending = choose_ending(reason, has_calls=self._calls_count > 0)
        if ending == reason and event.get("id") == self._id:
            return event
        return self._write(event, {**choices[0], "finish_reason": ending})


class _AnthropicJoiner:
    """Events of messages: one beginning, and blocks counted anew."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._places: dict[JsonValue, int | None] = {}
        self._blocks_count = 0
        self._has_calls = False
        self._round = 0

    def begin(self) -> None:
        self._round += 1
        self._places = {}

    def take(self, event: JsonObject) -> Taken:
        match event.get("type"):
            case "message_delta" | "message_stop":
                return [], event
            case "message_start" if self._round > 1:
                return [], None
            case "content_block_start":
                self._place(event.get("index"), read_object(event.get("content_block")))
        if "index" not in event:
            return [event], None
        place = self._places.get(event["index"])
        if place is None:
            return [], None
        return [event if event["index"] == place else {**event, "index": place}], None

    def _place(self, index: JsonValue, block: JsonObject) -> None:
        if is_hidden(block, self._names):
            self._places[index] = None
            return
        self._has_calls = self._has_calls or block.get("type") == "tool_use"
        self._places[index] = self._blocks_count
        self._blocks_count += 1

    def end(self, event: JsonObject) -> JsonObject:
        delta = read_object(event.get("delta"))
        if event.get("type") != "message_delta" or "stop_reason" not in delta:
            return event
        stop = choose_ending(delta["stop_reason"], has_calls=self._has_calls)
        return event if stop == delta["stop_reason"] else {**event, "delta": {**delta, "stop_reason": stop}}


class _ResponsesJoiner:
    """Events of responses: one beginning, items and events counted anew, and all items at the end."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._places: dict[JsonValue, int | None] = {}
        self._items_count = 0
        self._events_count = 0
        self._items: list[JsonObject] = []
        self._done: list[JsonObject] = []
        self._has_joined = False
        self._round = 0

    def begin(self) -> None:
        self._round += 1
        self._places, self._done = {}, []

    def take(self, event: JsonObject) -> Taken:
        match event.get("type"):
            case "response.completed" | "response.incomplete" | "response.failed":
                self._collect(read_object(event.get("response")))
                return [], event
            case "response.created" | "response.queued" | "response.in_progress" if self._round > 1:
                return [], None
            case "response.output_item.added" | "response.output_item.done" as kind:
                item = read_object(event.get("item"))
                self._place(event.get("output_index"), item)
                self._done += [item] if kind.endswith("done") else []
        if "output_index" not in event:
            return [self._count(event)], None
        place = self._places.get(event["output_index"], self._items_count)
        if place is None:
            return [], None
        return [self._count(event if event["output_index"] == place else {**event, "output_index": place})], None

    def _place(self, index: JsonValue, item: JsonObject) -> None:
        if index in self._places:
            return
        if is_hidden(item, self._names):
            self._places[index], self._has_joined = None, True
            return
        self._places[index] = self._items_count
        self._items_count += 1

    def _collect(self, response: JsonObject) -> None:
        self._has_joined = self._has_joined or self._round > 1
        items = list_objects(response.get("output")) or self._done
        self._items += [item for item in items if not is_hidden(item, self._names)]

    def _count(self, event: JsonObject) -> JsonObject:
        number = self._events_count
        self._events_count += 1
        if event.get("sequence_number", number) == number:
            return event
        return {**event, "sequence_number": number}

    def end(self, event: JsonObject) -> JsonObject:
        event = self._count(event)
        if not self._has_joined:
            return event
        response = {**read_object(event.get("response")), "output": cast("list[JsonValue]", self._items)}
        return {**event, "response": response}


_JOINERS: Final[Mapping[WireFormat, Callable[[Collection[str]], _Joiner]]] = {
    "openai": _ChatJoiner,
    "responses": _ResponsesJoiner,
    "anthropic": _AnthropicJoiner,
}
