"""History: the history tools in one reply, which the gateway offers to the model and answers itself."""

import json
from dataclasses import dataclass, field
from typing import Final

from everfold.core.conversations.history_calls import (
    Round,
    extend_body,
    offer,
    put_rounds,
    split_calls,
    write_reply,
    write_round,
)
from everfold.core.conversations.replies import Reply
from everfold.core.conversations.requests import ClientRequest
from everfold.core.log.messages import CallPart
from everfold.core.primitives.json_values import JsonObject
from everfold.core.text.tokens import estimate_text_tokens
from everfold.core.windows.window import Window
from everfold.errors import InvalidInputError
from everfold.server.gateway.conversation import Conversation
from everfold.services.memory.memory_tools import MemoryTools

MOST_ROUNDS: Final = 8
"""So many replies that call our tools are answered before the client gets what was said."""
_NO_ROOM: Final = (
    "Not done: what was found does not fit into the rest of the context. Ask for less: a lower limit, or one message."
)
_LAST: Final = "[No more history calls are answered in this reply. Answer the user now.]"


@dataclass(slots=True, kw_only=True)
class History:
    """The history tools in one reply.

    Attributes:
        request: With our tools in it.
        names: Those of our tools that it offers.
        tools: Answer the calls.
        conversation: Whose history it is.
        body: What the provider is sent next.
        free_tokens: What still fits into a request.
        rounds: The replies so far, from the first one that called our tools.
        is_extended: More goes to the provider than the window and the client's own messages.
    """

    request: ClientRequest
    names: frozenset[str]
    tools: MemoryTools
    conversation: Conversation
    body: JsonObject = field(default_factory=dict)
    free_tokens: int = 0
    rounds: list[Round] = field(default_factory=list)
    is_extended: bool = False
    _client_call_id: str = ""

    async def begin(self, body: JsonObject, window: Window) -> JsonObject:
        """What goes to the provider: the request, with what was read earlier in this turn at its place."""
        held = await self.conversation.list_held_rounds()
        self.is_extended = bool(held or self.rounds)
        self.free_tokens = window.estimate.budget_tokens - window.estimate.tokens
        self.free_tokens -= sum([one.tokens for one in held]) + sum([one.tokens for one in self.rounds])
        self.body = put_rounds(self.request.form, body, held)
        for one in self.rounds:
            self.body = extend_body(self.request.form, self.body, one)
        return self.body

    async def answer(self, reply: Reply) -> bool:
        """Answer the calls of our tools in a reply; whether the provider is to be asked again."""
        form, wire = self.request.form, reply.wire
        if wire is None or not reply.is_whole:
            return False
        try:
            own, others = split_calls(form, wire, self.names)
        except InvalidInputError:  # it is passed on as it is
            return False
        self._client_call_id = others[0].id if others else ""
        if not own:
            self.rounds += [write_reply(form, wire)] if self.rounds else []
            return False
        await self.conversation.note_epoch()
        results = [(call, await self._call(call)) for call in own]
        self._add(write_round(form, wire, results, has_others=bool(others)))
        return not others and len(self.rounds) <= MOST_ROUNDS

    def _add(self, made: Round) -> None:
        self.rounds.append(made)
        self.is_extended = True
        self.free_tokens -= made.tokens
        self.body = extend_body(self.request.form, self.body, made)

    async def _call(self, call: CallPart) -> str:
        """What a call gives, as far as it fits."""
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return "Not done: the arguments must be a JSON object."
        text = (await self.tools.call(call.name, arguments)).text
        if estimate_text_tokens(text) > self.free_tokens:
            text = _NO_ROOM
        return f"{text}\n{_LAST}" if len(self.rounds) >= MOST_ROUNDS - 1 else text

    def hold(self) -> None:
        """Hold what was read for the rest of the turn, where the client brings the results of its own calls next."""
        if self.rounds and self._client_call_id:
            self.conversation.hold_rounds(self._client_call_id, tuple(self.rounds))


def begin_history(conversation: Conversation, request: ClientRequest, *, crosses_sessions: bool) -> History | None:
    """The history tools of a request; None where it is offered none."""
    offered, names = offer(request)
    if not names:
        return None
    tools = conversation.session.tools(only_here=not crosses_sessions)
    return History(request=offered, names=names, tools=tools, conversation=conversation)
