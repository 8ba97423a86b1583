"""The routes, a file a subject."""

from collections.abc import Sequence

from fastapi import APIRouter

from everfold.server.routes import (
    agents,
    dashboard,
    health,
    keys,
    memory,
    messages,
    sessions,
    sources,
    system,
    users,
)

ROUTERS: Sequence[APIRouter] = (
    users.router,
    memory.router,
    sessions.router,
    messages.router,
    agents.router,
    sources.router,
    system.router,
    keys.router,
    health.router,
    dashboard.router,
)
"""All of them, in the order of the reference."""
