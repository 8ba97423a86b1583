"""A window as a request of OpenAI's Responses API.

What came in this form goes as it came: reasoning beside the items that it led to, items of the provider's own tools, and
items that are not known here. Of a reply that broke off after its reasoning the reasoning is left out, since the API
refuses it without the item that follows. A call that only its own kind of output can answer (a computer, a shell) and that
was never answered is named in a text.

Source: OpenAI API reference, "Create a model response"; its refusals "No tool output found for function call" and "reasoning was
provided without its required following item".
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import Final, cast

from everfold.core.log.files import File, find_file
from everfold.core.log.messages import CallPart, ImagePart, OpaquePart, ThinkingPart
from everfold.core.log.responses import (
    PROGRAM,
    find_pairing_id,
    find_settled,
    is_output,
    list_reply_items,
    set_pairing_id,
)
from everfold.core.primitives.json_values import JsonObject, JsonValue, clean_json, clean_text
from everfold.core.text.frames import EMPTY_TEXT
from everfold.core.windows.entries import Renderable
from everfold.core.windows.openai import (
    fit_arguments,
    fit_id,
    fit_name,
    list_attached,
    openai_tool,
    read_answer,
    show_image_url,
)
from everfold.core.windows.speech import (
    Shown,
    ShownAnswer,
    ShownCall,
    ShownDocument,
    ShownText,
    Speech,
    find_unread,
    speak,
    texts_of,
    write_document,
)

_TEXT_OUTPUTS: Final = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
"""The calls that a text answers, with the type of its item."""
_USER_OPAQUE: Final = frozenset({"input_file", "input_audio"})


def render_responses(window: Renderable) -> JsonObject:
    """The window as a request: `input`, with `instructions` and `tools` where the session has them."""
    speeches = speak(window)
    writer = _Writer(_find_programs(speeches))
    for at, speech in enumerate(speeches):
        answers = speeches[at + 1].items if at + 1 < len(speeches) and speeches[at + 1].role == "results" else ()
        writer.write(speech, [item for item in answers if isinstance(item, ShownAnswer)])
    request: JsonObject = {"input": cast("list[JsonValue]", writer.items)}
    instructions = "\n".join(writer.instructions)
    if instructions.strip() or window.prompt.system:
        request["instructions"] = "\n".join(filter(None, (clean_text(window.prompt.system or ""), instructions)))
    if window.prompt.tools:
        request["tools"] = [_tool(tool) for tool in window.prompt.tools]
    return request


class _Writer:
    """Writes items, those of whole programs only, and keeps which call ids are taken and what answers each of the step."""

    def __init__(self, programs: Collection[str]) -> None:
        self.programs = programs
        self.items: list[JsonObject] = []
        self.instructions: list[str] = []
        self.taken_ids: set[str] = set()
        self.step: dict[str, tuple[str, str]] = {}

    def write(self, speech: Speech, answers: Sequence[ShownAnswer]) -> None:
        match speech.role:
            case "system" if speech.place == "system":
                self.instructions += texts_of(speech.items)
            case "system":
                role = speech.message.wire.get("role", "system") if speech.message else "system"
                self.items.append({"role": role, "content": "\n".join(texts_of(speech.items)) or EMPTY_TEXT})
            case "user":
                self._say(speech)
            case "assistant":
                self._reply(speech, answers)
            case "results":
                self.items += [item for answer in answers_of(speech) if (item := self._answer(answer)) is not None]

    def _say(self, speech: Speech) -> None:
        parts: list[JsonValue] = [_user_part(item) for item in speech.items]
        last = self.items[-1] if self.items else {}
        if speech.place == "suffix" and last.get("role") == "user" and isinstance(content := last.get("content"), list):
            content.extend(parts)
        else:
            self.items.append({"role": "user", "content": parts})

    def _reply(self, speech: Speech, answers: Sequence[ShownAnswer]) -> None:
        self.step = {}
        seq = speech.message.seq if speech.message else 0
        for item in speech.items:
            if isinstance(item, ShownCall):
                self._take_call(item.part, seq, answers)
        for call_id in sorted(find_settled(items_of(speech))):
            self.step[call_id] = (self._take_id(call_id, seq), "")
        written = list(self._copy(speech) if _is_whole(speech) else self._write_shown(speech.items))
        while written and written[-1].get("type") == "reasoning":
            written.pop()
        self.items += written or [{"role": "assistant", "content": EMPTY_TEXT}]

    def _take_call(self, part: CallPart, seq: int, answers: Sequence[ShownAnswer]) -> None:
        """Give a call an id that no other one has, and the type of what answers it; none where nothing can."""
        kind = str(part.raw.get("type"))
        kind = kind if _is_item(part) else "function_call"
        answer = next((one for one in answers if one.call_id == part.id), None)
        native = answer.part.raw if answer is not None and answer.part is not None else None
        if kind in _TEXT_OUTPUTS:
            self.step[part.id] = (self._take_id(part.id, seq), _TEXT_OUTPUTS[kind])
        elif native is not None and find_pairing_id(native) is not None and answer is not None and answer.text is None:
            self.step[part.id] = (self._take_id(part.id, seq), "")

    def _take_id(self, own: str, seq: int) -> str:
        """The id of a call in this request: its own, unless another call has that."""
        call_id = fit_id(own)
        if call_id in self.taken_ids:
            text = f"{seq}/{own}".encode("utf-8", "surrogatepass")
            call_id = f"call_{hashlib.sha256(text).hexdigest()[:32]}"
        self.taken_ids.add(call_id)
        return call_id

    def _copy(self, speech: Speech) -> Iterator[JsonObject]:
        """The items of a reply as they came."""
        for item in items_of(speech):
            call_id = None if item.get("type", "message") in ("message", "reasoning") else find_pairing_id(item)
            if item.get("type", "message") == "message" and not item.get("content"):
                yield {"role": "assistant", "content": EMPTY_TEXT}
            elif item.get("type") in PROGRAM and _name_program(item) not in self.programs:
                yield _name_content(str(item["type"]))
            elif call_id is None:
                yield _clean(item)
            elif call_id not in self.step:
                yield _name_content(str(item.get("type"))) if is_output(item) else _name_call(str(item.get("type")))
            else:
                yield self._fit(_clean(item), call_id)

    def _fit(self, item: JsonObject, call_id: str) -> JsonObject:
        """A call under the id that it has in this request, with a name and arguments that the API takes."""
        item = set_pairing_id(item, self.step[call_id][0])
        if item.get("type") == "function_call":
            item["name"], item["arguments"] = fit_name(str(item.get("name"))), fit_arguments(str(item.get("arguments")))
        return item

    def _write_shown(self, shown: Sequence[Shown]) -> Iterator[JsonObject]:
        """A reply of another form, or one of which a part is left out."""
        for item in shown:
            match item:
                case ShownText():
                    yield {"role": "assistant", "content": item.text}
                case ShownDocument():
                    yield {"role": "assistant", "content": write_document(item)}
                case ShownCall():
                    yield self._write_call(item)
                case ThinkingPart() if item.raw.get("type") == "reasoning":
                    yield _clean(item.raw)
                case OpaquePart():
                    yield _name_content(item.type)
                case _:
                    continue

    def _write_call(self, item: ShownCall) -> JsonObject:
        part = item.part
        if part.id not in self.step:
            return _name_call(str(part.raw.get("type")))
        if _is_item(part) and part.raw.get("type") != "function_call":
            changed: JsonObject = {"input": item.arguments} if part.raw.get("type") == "custom_tool_call" else {}
            return set_pairing_id({**_clean(part.raw), **changed}, self.step[part.id][0])
        call: JsonObject = {"type": "function_call", "call_id": self.step[part.id][0], "name": fit_name(part.name)}
        return {**call, "arguments": fit_arguments(item.arguments)}

    def _answer(self, answer: ShownAnswer) -> JsonObject | None:
        if answer.call_id not in self.step:
            return None
        call_id, kind = self.step[answer.call_id]
        raw = answer.part.raw if answer.part is not None else None
        if raw is not None and find_pairing_id(raw) is not None and answer.text is None:
            shown = set_pairing_id(_clean(raw), call_id)
            return shown if shown.get("output") or "output" not in shown else {**shown, "output": EMPTY_TEXT}
        attached: list[JsonValue] = [_user_part(part) for part in list_attached(answer)]
        text = read_answer(answer)
        texts: list[JsonValue] = [{"type": "input_text", "text": text}] if text != EMPTY_TEXT else []
        output: JsonValue = [*texts, *attached] if attached else text
        return {"type": kind, "call_id": call_id, "output": output}


def items_of(speech: Speech) -> list[JsonObject]:
    """The items of a reply that came in this form."""
    return list_reply_items(speech.message.wire) if speech.message is not None and _is_native(speech) else []


def answers_of(speech: Speech) -> Iterator[ShownAnswer]:
    """The answers of a step."""
    return (item for item in speech.items if isinstance(item, ShownAnswer))


def _is_native(speech: Speech) -> bool:
    return speech.message is not None and speech.message.view.format == "responses"


def _is_whole(speech: Speech) -> bool:
    return _is_native(speech) and speech.message is not None and not speech.message.cuts


def _find_programs(speeches: Sequence[Speech]) -> frozenset[str]:
    """The ids of the programs that are shown with their outputs, and of those that still run at the end."""
    whole: set[str] = set()
    running: set[str] = set()
    for speech in speeches:
        if speech.role == "user" and speech.place != "suffix":
            running.clear()
        for item in items_of(speech) if _is_whole(speech) else ():
            name = _name_program(item)
            if item.get("type") == "program":
                running.add(name)
            elif item.get("type") == "program_output" and name in running:
                running.discard(name)
                whole.add(name)
    return frozenset(whole | running)


def _name_program(item: JsonObject) -> str:
    """What pairs a program with its output; the log takes their ids as they come, so one may be anything."""
    return str(item.get("call_id"))


def _is_item(part: CallPart) -> bool:
    """Whether a call came as an item of this form, and not as a call of chat or a block of Anthropic's."""
    return find_pairing_id(part.raw) == part.id and part.raw.get("type") not in ("function", "custom", "tool_use")


def _name_content(kind: str) -> JsonObject:
    return {"role": "assistant", "content": f"[content of type {clean_text(kind)}]"}


def _name_call(kind: str) -> JsonObject:
    return {"role": "assistant", "content": f"[{clean_text(kind)}: never answered]"}


def _clean(value: JsonObject) -> JsonObject:
    return cast("JsonObject", clean_json(value))


def _user_part(item: Shown) -> JsonObject:
    match item:
        case ShownText():
            raw = item.part.raw if item.part is not None else None
            if raw is not None and raw.get("type") == "input_text":
                return {**_clean(raw), "text": item.text}
            return {"type": "input_text", "text": item.text}
        case ImagePart() if item.raw.get("type") == "input_image":
            return _clean(item.raw)
        case ImagePart():
            return _image(item)
        case ShownDocument():
            file = find_unread(item)
            return {"type": "input_text", "text": write_document(item)} if file is None else _file(file)
        case OpaquePart() if item.type in _USER_OPAQUE:
            return _clean(item.raw)
        case OpaquePart() if (file := find_file(item.raw)) is not None:
            return _file(file)
        case OpaquePart():
            return {"type": "input_text", "text": f"[content of type {clean_text(item.type)}]"}
        case _:
            return {"type": "input_text", "text": EMPTY_TEXT}


def _file(file: File) -> JsonObject:
    if file.data is not None:
        data = f"data:{file.media_type};base64,{file.data}"
        return {"type": "input_file", "filename": file.name, "file_data": data}
    if file.url is not None:
        return {"type": "input_file", "file_url": file.url}
    if file.file_id is not None:
        return {"type": "input_file", "file_id": file.file_id}
    return {"type": "input_text", "text": file.marker}


def _image(part: ImagePart) -> JsonObject:
    url = show_image_url(part)
    if url is None:
        return {"type": "input_text", "text": "[content of type image]"}
    detail = part.detail if part.detail in ("low", "high") else "auto"
    return {"type": "input_image", "image_url": url, "detail": detail}


def _tool(tool: JsonValue) -> JsonValue:
    """A tool schema in this form, whichever it was given in."""
    tool = openai_tool(tool)
    if isinstance(tool, dict) and isinstance(function := tool.get("function"), dict):
        return {"type": "function", **function}
    return tool
