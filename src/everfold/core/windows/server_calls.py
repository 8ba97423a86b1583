"""Calls that Anthropic itself runs, and their results: shown together, or both as the names of what is left out.

A result may come in a later message than its call: a paused turn goes on in a reply of its own, and a program waits for
the results of the client's tools. So calls are paired within one turn of the assistant, which only words of the user
end. A call that the end of the window leaves open stays as it came: sent back so, the turn goes on.

Source: Anthropic API reference: "Server tools", `pause_turn`; "Programmatic tool calling".
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from everfold.core.log.messages import OpaquePart
from everfold.core.primitives.json_values import clean_text
from everfold.core.windows.speech import Shown, ShownCall, ShownText, Speech

RESULT: Final = "_tool_result"
"""How the types of the results end, those of tomorrow too; `tool_result` itself is the client's."""
_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})


def follow_calls(waiting: dict[str, OpaquePart], part: OpaquePart) -> OpaquePart | None:
    """Note a call that waits, or take out the one that a result answers; gives what can have no other half any more."""
    if part.type in _CALLS:
        call_id = str(part.raw.get("id"))
        unpaired = waiting.get(call_id)
        waiting[call_id] = part
        return unpaired
    is_result = part.type.endswith(RESULT)
    return part if is_result and waiting.pop(str(part.raw.get("tool_use_id")), None) is None else None


def name_unpaired(speeches: Sequence[Speech]) -> list[Speech]:
    """The speeches with a text for each call without its result, and each result without its call.

    A call of the client's that came from a call which is named so no longer says where it came from.
    """
    named: list[Speech] = []
    for _, turn in groupby(speeches, key=lambda speech: speech.role in ("assistant", "results")):
        own = list(turn)
        is_last = len(named) + len(own) == len(speeches)
        unpaired = _find_unpaired(own, keeps_open=is_last)
        named += [_name(speech, unpaired) for speech in own] if unpaired else own
    return named


def _find_unpaired(turn: Sequence[Speech], *, keeps_open: bool) -> list[OpaquePart]:
    waiting: dict[str, OpaquePart] = {}
    parts = [part for speech in turn for part in list_server_parts(speech)]
    unpaired = [found for part in parts if (found := follow_calls(waiting, part)) is not None]
    return unpaired if keeps_open else [*unpaired, *waiting.values()]


def list_server_parts(speech: Speech) -> Iterator[OpaquePart]:
    """The blocks that are sent as they came."""
    if speech.role == "assistant" and speech.message is not None and speech.message.view.format == "anthropic":
        yield from (item for item in speech.items if isinstance(item, OpaquePart))


def _name(speech: Speech, unpaired: Sequence[OpaquePart]) -> Speech:
    return replace(speech, items=tuple([_name_item(item, unpaired) for item in speech.items]))


def _name_item(item: Shown, unpaired: Sequence[OpaquePart]) -> Shown:
    if isinstance(item, OpaquePart) and any(item is part for part in unpaired):
        return ShownText(f"[content of type {clean_text(item.type)}]")
    if isinstance(item, ShownCall) and isinstance(caller := item.part.raw.get("caller"), dict):
        is_lost = any(caller.get("tool_id") == part.raw.get("id") for part in unpaired)
        raw = {key: value for key, value in item.part.raw.items() if key != "caller" or not is_lost}
        return replace(item, part=replace(item.part, raw=raw))
    return item
