"""The routes, a file a subject."""

from collections.abc import Sequence

from fastapi import APIRouter

from everfold.server.routes import (
    agents,
    audit,
    chat,
    compactions,
    dashboard,
    demo,
    dreams,
    files,
    health,
    imports,
    items,
    keys,
    memory,
    messages,
    quarantine,
    search,
    sessions,
    sources,
    stream,
    system,
    topics,
    users,
    windows,
)

ROUTERS: Sequence[APIRouter] = (
    messages.router,
    windows.router,
    users.router,
    memory.router,
    audit.router,
    topics.router,
    items.router,
    dreams.router,
    files.router,
    quarantine.router,
    search.router,
    sessions.router,
    compactions.router,
    chat.router,
    stream.router,
    agents.router,
    sources.router,
    demo.router,
    imports.router,
    system.router,
    keys.router,
    health.router,
    dashboard.router,
)
"""All of them, in the order in which a request is compared with them: those of a turn first.

A path that is written out comes before one with a name in its place.
"""
