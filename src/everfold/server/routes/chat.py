"""Chat: an agent answers, and what happens meanwhile streams."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from everfold.core.primitives.ids import AgentId
from everfold.engine import DEFAULT_USER
from everfold.errors import EverfoldError
from everfold.server.access import AgentText, AnyKey, Context, forbid
from everfold.server.chats import Question, Talk
from everfold.server.problems import request_id_of, tell_error, tell_failure
from everfold.server.routing import make_router
from everfold.server.schemas.streams import (
    OPENED,
    AskedChat,
    AskedStop,
    Stopped,
    show_chat_event,
    show_done,
    show_problem,
)
from everfold.server.scoping import find_session, read_owner
from everfold.server.stopping_answers import stop_answer

router = make_router("chat")

_logger = logging.getLogger("everfold.server")


async def open_talk(caller: AnyKey, runtime: Context, agent: AgentText, asked: AskedChat) -> AsyncIterator[Talk]:
    """A chat that is ready to answer, opened before the stream begins, so that a refusal has a status of its own.

    Raises:
        ForbiddenError: the key is of another user or agent, or chooses a model and is not of the scope admin.
        NotFoundError: there is no such session that the key sees.
    """
    owner = await read_owner(caller, runtime.engine, asked.user, agent)
    if asked.session_id is not None:
        await find_session(caller, runtime.engine, asked.session_id, agent=agent)
    if asked.model is not None and not caller.is_admin:
        raise forbid(caller, "only API keys of the scope admin choose the model")
    question = Question(
        user_id=owner.user_id or (await runtime.engine.get_user(DEFAULT_USER)).id,
        agent_id=AgentId(agent),
        text=asked.message,
        session_id=asked.session_id,
        model=asked.model,
    )
    async with runtime.chats.open(
        runtime.engine, runtime.settings, question, clock=runtime.clock, ids=runtime.ids
    ) as talk:
        yield talk


@router.post("/api/agents/{agent}/chat", response_class=EventSourceResponse)
async def chat(
    _: AnyKey, request: Request, talk: Annotated[Talk, Depends(open_talk)]
) -> AsyncIterator[ServerSentEvent]:
    """Send a message to an agent and stream the answer; each step is stored as it completes.

    Events: `text_delta`, `said`, `tool_called`, `tool_answered`, `compacted`, `refreshing`, `refreshed`, `retried` and
    `stopped`, each with the session's id; then `done`, or `problem` with a problem document. A client that disconnects
    stops the answer; its text so far is stored. A session gives one answer at a time.
    """
    yield OPENED
    try:
        async for event in talk.events:
            yield show_chat_event(event, talk.chat.session.id)
        state = await talk.chat.session.inspect.state()
        yield show_done(talk.chat.session.id, state.last_seq)
    except EverfoldError as error:
        yield show_problem(tell_error(error, request_id_of(request)))
    except Exception:
        _logger.exception("request %s failed in its stream", request_id_of(request))
        yield show_problem(tell_failure(request_id_of(request)))


@router.post("/api/agents/{agent}/chat/stop")
async def stop_chat(caller: AnyKey, runtime: Context, agent: AgentText, asked: AskedStop) -> Stopped:
    """Stop the running answer of a session; its text so far is stored.

    With PostgreSQL, also an answer of another server. With SQLite, 409 if another server answers.
    """
    session = await find_session(caller, runtime.engine, asked.session_id, agent=agent)
    return Stopped(stopped=await stop_answer(runtime, session))
