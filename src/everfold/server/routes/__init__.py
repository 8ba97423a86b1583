"""The routes, a file a subject."""

from collections.abc import Sequence

from fastapi import APIRouter

from everfold.server.routes import health, keys, memory, messages, sessions, users

ROUTERS: Sequence[APIRouter] = (
    users.router,
    memory.router,
    sessions.router,
    messages.router,
    keys.router,
    health.router,
)
"""All of them, in the order of the reference."""
