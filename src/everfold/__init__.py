"""Everfold: a context and memory engine for long-running LLM agents.

A conversation folds so that it always fits the model's context limit; nothing that was said is lost.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfold import errors
    from everfold.adapters.system.otel import OtelTracer
    from everfold.admin import Admin, BrowsedSession
    from everfold.bootstrap import open, open_sync  # noqa: A004 - `everfold.open` is what a user types
    from everfold.config import Settings, load_settings
    from everfold.core.access.api_keys import ApiKey, Scope
    from everfold.core.access.users import Binding, User
    from everfold.core.compaction.folding import CompactionReport, Fold
    from everfold.core.compaction.record import Compaction
    from everfold.core.log.messages import Message
    from everfold.core.log.sessions import SessionRecord
    from everfold.core.memory.items import Evidence, Item
    from everfold.core.memory.records import AuditEntry, Extraction
    from everfold.core.memory.topics import Dream, Topic
    from everfold.core.observation.events import Event
    from everfold.core.observation.hooks import MemoryWrite, PendingFold, SessionEnd, SessionSwitch, TurnEnd, TurnStart
    from everfold.core.observation.usage import ModelCall
    from everfold.core.windows.rendering import render
    from everfold.core.windows.reports import WindowReport
    from everfold.core.windows.window import Window
    from everfold.engine import Everfold
    from everfold.inspection import Inspection
    from everfold.integration import Integration
    from everfold.memory import Because, Memory
    from everfold.ports.hooks import Hooks
    from everfold.services.access.api_keys import ApiKeys, MadeApiKey
    from everfold.services.forgetting.erase import Erased
    from everfold.services.forgetting.prove_absent import WordPlace
    from everfold.services.forgetting.wipe import ErasedSession, Wiped
    from everfold.services.inspection.verify import Verification
    from everfold.services.memory.memory_files import MemoryFiles
    from everfold.services.memory.memory_tools import MemoryTools
    from everfold.services.memory.tool_answers import ToolAnswer
    from everfold.services.sessions.read import Page
    from everfold.services.sessions.search import SearchHit
    from everfold.services.sessions.search_all import Found, ItemHit, TopicHit
    from everfold.session import Session
    from everfold.sync_classes import (
        SyncAdmin,
        SyncApiKeys,
        SyncEverfold,
        SyncInspection,
        SyncIntegration,
        SyncMemory,
        SyncMemoryFiles,
        SyncMemoryTools,
        SyncReplay,
        SyncSession,
    )

_HOMES = {
    "ApiKey": "everfold.core.access.api_keys",
    "Admin": "everfold.admin",
    "AuditEntry": "everfold.core.memory.records",
    "Because": "everfold.memory",
    "Binding": "everfold.core.access.users",
    "BrowsedSession": "everfold.admin",
    "Compaction": "everfold.core.compaction.record",
    "CompactionReport": "everfold.core.compaction.folding",
    "Dream": "everfold.core.memory.topics",
    "Erased": "everfold.services.forgetting.erase",
    "ErasedSession": "everfold.services.forgetting.wipe",
    "Everfold": "everfold.engine",
    "Evidence": "everfold.core.memory.items",
    "Extraction": "everfold.core.memory.records",
    "Fold": "everfold.core.compaction.folding",
    "Found": "everfold.services.sessions.search_all",
    "Event": "everfold.core.observation.events",
    "Hooks": "everfold.ports.hooks",
    "Inspection": "everfold.inspection",
    "Integration": "everfold.integration",
    "Item": "everfold.core.memory.items",
    "ItemHit": "everfold.services.sessions.search_all",
    "ApiKeys": "everfold.services.access.api_keys",
    "MadeApiKey": "everfold.services.access.api_keys",
    "Memory": "everfold.memory",
    "MemoryFiles": "everfold.services.memory.memory_files",
    "MemoryTools": "everfold.services.memory.memory_tools",
    "MemoryWrite": "everfold.core.observation.hooks",
    "Message": "everfold.core.log.messages",
    "ModelCall": "everfold.core.observation.usage",
    "OtelTracer": "everfold.adapters.system.otel",
    "Page": "everfold.services.sessions.read",
    "PendingFold": "everfold.core.observation.hooks",
    "Scope": "everfold.core.access.api_keys",
    "SearchHit": "everfold.services.sessions.search",
    "Session": "everfold.session",
    "SessionEnd": "everfold.core.observation.hooks",
    "SessionRecord": "everfold.core.log.sessions",
    "SessionSwitch": "everfold.core.observation.hooks",
    "Settings": "everfold.config",
    "SyncAdmin": "everfold.sync_classes",
    "SyncEverfold": "everfold.sync_classes",
    "SyncInspection": "everfold.sync_classes",
    "SyncIntegration": "everfold.sync_classes",
    "SyncApiKeys": "everfold.sync_classes",
    "SyncMemory": "everfold.sync_classes",
    "SyncMemoryFiles": "everfold.sync_classes",
    "SyncMemoryTools": "everfold.sync_classes",
    "SyncReplay": "everfold.sync_classes",
    "SyncSession": "everfold.sync_classes",
    "ToolAnswer": "everfold.services.memory.tool_answers",
    "Topic": "everfold.core.memory.topics",
    "TopicHit": "everfold.services.sessions.search_all",
    "TurnEnd": "everfold.core.observation.hooks",
    "TurnStart": "everfold.core.observation.hooks",
    "User": "everfold.core.access.users",
    "Verification": "everfold.services.inspection.verify",
    "Window": "everfold.core.windows.window",
    "WindowReport": "everfold.core.windows.reports",
    "Wiped": "everfold.services.forgetting.wipe",
    "WordPlace": "everfold.services.forgetting.prove_absent",
    "load_settings": "everfold.config",
    "open": "everfold.bootstrap",
    "open_sync": "everfold.bootstrap",
    "render": "everfold.core.windows.rendering",
}

__all__ = [
    "Admin",
    "ApiKey",
    "ApiKeys",
    "AuditEntry",
    "Because",
    "Binding",
    "BrowsedSession",
    "Compaction",
    "CompactionReport",
    "Dream",
    "Erased",
    "ErasedSession",
    "Event",
    "Everfold",
    "Evidence",
    "Extraction",
    "Fold",
    "Found",
    "Hooks",
    "Inspection",
    "Integration",
    "Item",
    "ItemHit",
    "MadeApiKey",
    "Memory",
    "MemoryFiles",
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
    "SyncAdmin",
    "SyncApiKeys",
    "SyncEverfold",
    "SyncInspection",
    "SyncIntegration",
    "SyncMemory",
    "SyncMemoryFiles",
    "SyncMemoryTools",
    "SyncReplay",
    "SyncSession",
    "ToolAnswer",
    "Topic",
    "TopicHit",
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
