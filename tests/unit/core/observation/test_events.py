"""Events hold ids and figures only."""

from dataclasses import fields
from datetime import datetime
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from everfold.core.compaction.folding import CompactionReport
from everfold.core.memory.topics import DreamId
from everfold.core.observation import events
from everfold.core.observation.events import (
    CompactionCommitted,
    Event,
    HookFailed,
    MemoryDelayed,
    SourceAsked,
    WorkFailed,
)
from everfold.core.observation.hooks import HOOK_OF, HookCall, HookName
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.ports.hooks import Hooks

IDS = {SessionId, CompactionId, UserId, AgentId, DreamId}
PLAIN = {int, float, bool, datetime, *IDS, CompactionReport, type(None), ...}
NAMED = {"reason", "purpose", "model", "error_code", "plugin", "error_name", "trigger", "source", "name"}
"""Texts that are codes and names; `trigger` is one in a report."""


@pytest.mark.parametrize("cls", get_args(Event))
def test_no_field_can_hold_words(cls: type) -> None:
    """Every field is a figure, an id, one of a few literals, or a code; an error is not part of what is shown."""
    hints = get_type_hints(cls)
    for field in fields(cls):
        kinds = set(get_args(hints[field.name])) if get_origin(hints[field.name]) is not Literal else set()
        kinds = kinds or {hints[field.name]}
        if cls in {HookFailed, MemoryDelayed, SourceAsked, WorkFailed} and field.name == "error":
            assert not field.repr
            continue
        words = {kind for kind in kinds if kind not in PLAIN and get_origin(kind) is not Literal}
        assert words <= ({str} if field.name in NAMED else set()), field.name


@pytest.mark.parametrize("cls", get_args(Event))
def test_the_kind_is_the_name(cls: type) -> None:
    """The kind by which events are told apart is the name of the class, and there is one for each."""
    kind = get_type_hints(cls)["kind"]
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__).lstrip("_")
    assert get_args(kind) == (words,)


def test_a_report_holds_figures() -> None:
    """The one value inside an event that is no plain one holds figures and a trigger."""
    hints = get_type_hints(CompactionReport)
    assert {name for name, kind in hints.items() if kind not in (int, float)} == {"trigger"}
    assert get_type_hints(CompactionCommitted)["report"] is CompactionReport


def test_every_event_is_listed() -> None:
    """Every class of the module with a kind is in `Event`, so that the stream takes it."""
    made = {it for it in vars(events).values() if isinstance(it, type) and "kind" in it.__annotations__}
    assert made == set(get_args(Event))


def test_every_hook_takes_one_value() -> None:
    """Each value that hooks are given names its hook, each hook has one, and a plug-in has that method."""
    assert set(HOOK_OF) == set(get_args(HookCall))
    assert sorted(HOOK_OF.values()) == sorted(get_args(HookName))
    for kind, hook in HOOK_OF.items():
        (taken,) = (hint for name, hint in get_type_hints(getattr(Hooks, hook)).items() if name != "return")
        assert taken is kind
