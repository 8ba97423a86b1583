"""Everfold: a context and memory engine for long-running LLM agents.

A conversation folds so that it always fits the model's context limit; nothing that was said is lost.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfold import errors
    from everfold.adapters.system.otel import OtelTracer
    from everfold.bootstrap import open, open_sync  # noqa: A004 - `everfold.open` is what a user types
    from everfold.config import Settings, load_settings
    from everfold.core.access import AccessKey, Scope
    from everfold.core.events import CompactionEvent
    from everfold.core.folding import CompactionReport, Fold
    from everfold.core.happenings import Happening
    from everfold.core.hooks import MemoryWrite, PendingFold, SessionEnd, SessionSwitch, TurnEnd, TurnStart
    from everfold.core.items import Evidence, Item
    from everfold.core.memory import AuditEntry, Extraction
    from everfold.core.messages import Message
    from everfold.core.rendering import render
    from everfold.core.sessions import SessionRecord
    from everfold.core.topics import Dream, Topic
    from everfold.core.usage import ModelCall
    from everfold.core.users import Binding, User
    from everfold.core.window import Window, WindowReport
    from everfold.engine import Everfold
    from everfold.memory import Because, Memory
    from everfold.ports.hooks import Hooks
    from everfold.services.erase import Erased
    from everfold.services.keys import Keys, MadeKey
    from everfold.services.memory_tools import MemoryTools, ToolAnswer
    from everfold.services.prove_absent import WordPlace
    from everfold.services.read import Page
    from everfold.services.search import SearchHit
    from everfold.services.verify import Verification
    from everfold.services.wipe import ErasedSession, Wiped
    from everfold.session import Session

_HOMES = {
    "AccessKey": "everfold.core.access",
    "AuditEntry": "everfold.core.memory",
    "Because": "everfold.memory",
    "Binding": "everfold.core.users",
    "CompactionEvent": "everfold.core.events",
    "CompactionReport": "everfold.core.folding",
    "Dream": "everfold.core.topics",
    "Erased": "everfold.services.erase",
    "ErasedSession": "everfold.services.wipe",
    "Everfold": "everfold.engine",
    "Evidence": "everfold.core.items",
    "Extraction": "everfold.core.memory",
    "Fold": "everfold.core.folding",
    "Happening": "everfold.core.happenings",
    "Hooks": "everfold.ports.hooks",
    "Item": "everfold.core.items",
    "Keys": "everfold.services.keys",
    "MadeKey": "everfold.services.keys",
    "Memory": "everfold.memory",
    "MemoryTools": "everfold.services.memory_tools",
    "MemoryWrite": "everfold.core.hooks",
    "Message": "everfold.core.messages",
    "ModelCall": "everfold.core.usage",
    "OtelTracer": "everfold.adapters.system.otel",
    "Page": "everfold.services.read",
    "PendingFold": "everfold.core.hooks",
    "Scope": "everfold.core.access",
    "SearchHit": "everfold.services.search",
    "Session": "everfold.session",
    "SessionEnd": "everfold.core.hooks",
    "SessionRecord": "everfold.core.sessions",
    "SessionSwitch": "everfold.core.hooks",
    "Settings": "everfold.config",
    "ToolAnswer": "everfold.services.memory_tools",
    "Topic": "everfold.core.topics",
    "TurnEnd": "everfold.core.hooks",
    "TurnStart": "everfold.core.hooks",
    "User": "everfold.core.users",
    "Verification": "everfold.services.verify",
    "Window": "everfold.core.window",
    "WindowReport": "everfold.core.window",
    "Wiped": "everfold.services.wipe",
    "WordPlace": "everfold.services.prove_absent",
    "load_settings": "everfold.config",
    "open": "everfold.bootstrap",
    "open_sync": "everfold.bootstrap",
    "render": "everfold.core.rendering",
}

__all__ = [
    "AccessKey",
    "AuditEntry",
    "Because",
    "Binding",
    "CompactionEvent",
    "CompactionReport",
    "Dream",
    "Erased",
    "ErasedSession",
    "Everfold",
    "Evidence",
    "Extraction",
    "Fold",
    "Happening",
    "Hooks",
    "Item",
    "Keys",
    "MadeKey",
    "Memory",
    "MemoryTools",
    "MemoryWrite",
    "Message",
    "ModelCall",
    "OtelTracer",
    "Page",
    "PendingFold",
    "Scope",
    "SearchHit",
    "Session",
    "SessionEnd",
    "SessionRecord",
    "SessionSwitch",
    "Settings",
    "ToolAnswer",
    "Topic",
    "TurnEnd",
    "TurnStart",
    "User",
    "Verification",
    "Window",
    "WindowReport",
    "Wiped",
    "WordPlace",
    "errors",
    "load_settings",
    "open",
    "open_sync",
    "render",
]


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("everfold.errors")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'everfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
