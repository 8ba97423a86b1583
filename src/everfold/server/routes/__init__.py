"""The routes, a file a subject."""

from collections.abc import Sequence

from fastapi import APIRouter

from everfold.server.routes import (
    audit,
    dreams,
    items,
    memory,
    messages,
    quarantine,
    search,
    sessions,
    topics,
    users,
)

ROUTERS: Sequence[APIRouter] = (
    users.router,
    memory.router,
    audit.router,
    topics.router,
    items.router,
    dreams.router,
    quarantine.router,
    search.router,
    sessions.router,
    messages.router,
)
"""All of them, in the order of the reference; a path that is written out comes before one with a name in its place."""
