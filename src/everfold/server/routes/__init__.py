"""The routes, a file a subject."""

from collections.abc import Sequence

from fastapi import APIRouter

from everfold.server.routes import events, memory, messages, sessions, users, windows

ROUTERS: Sequence[APIRouter] = (
    users.router,
    memory.router,
    sessions.router,
    messages.router,
    windows.router,
    events.router,
)
"""All of them, in the order of the reference."""
