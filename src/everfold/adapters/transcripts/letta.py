"""Letta's agent file (`.af`): the messages of each agent, in a form near to OpenAI's chat.

A system message is the system prompt of the session, the newest one. What Letta puts into a user's place as JSON (`heartbeat`,
`login`, `system_alert`) is of system origin; a user's own message inside such JSON (`user_message`) is read out of it. The text
that an agent says through its tool `send_message` stays a call. The newer file has a list `agents`; the older one is one agent.

Source: Letta, "Agent File", and the schema of the file in its repository.
"""

from collections.abc import Iterator, Sequence

from everfold.adapters.transcripts.building import Call, ChatBuilder, Place, text_of
from everfold.adapters.transcripts.chat import find_time, read_time
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, name_of, refuse, title_of
from everfold.core.log.transcripts import Conversation
from everfold.core.primitives.json_values import JsonObject, JsonValue, parse_json
from everfold.errors import InvalidInputError

_ROLES = ("system", "user", "assistant", "tool", "approval", "function", "summary")


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row holds agents with messages, or is one."""
    value = rows[0].value
    if not isinstance(value, dict):
        return False
    agents = value.get("agents")
    if isinstance(agents, list):
        return any(isinstance(agent, dict) and isinstance(agent.get("messages"), list) for agent in agents)
    return isinstance(value.get("messages"), list) and "agent_type" in value


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read one conversation for each agent, named by its name.

    Raises:
        InvalidInputError: With ``line``, where a message is not what the format says.
    """
    return tuple(_read_agent(agent, line, name) for row in rows for agent, line in _list_agents(row))


def _list_agents(row: Row) -> Iterator[tuple[JsonObject, int]]:
    fields = expect_object(row.value, "this file", row.line)
    if not isinstance(fields.get("agents"), list):
        yield fields, row.line
        return
    for line, agent in row.elements("agents"):
        yield expect_object(agent, "this agent", line), line


def _read_agent(agent: JsonObject, line: int, name: str) -> Conversation:
    held = agent.get("messages")
    system = text_of(agent.get("system"))
    chat = ChatBuilder()
    for value in held if isinstance(held, list) else []:
        message = expect_object(value, "this message", line)
        if message.get("role") == "system":
            system = _text_of(message) or system
        else:
            _add(chat, message, line)
    return Conversation(
        name=name_of(agent.get("name"), name),
        messages=tuple(chat.messages),
        system=system or None,
        title=title_of(agent.get("name")) or None,
    )


def _add(chat: ChatBuilder, message: JsonObject, line: int) -> None:
    role = message.get("role")
    if role not in _ROLES:
        refuse(line, f"the role {role!r} is not one of a Letta message: expected {', '.join(_ROLES)}")
    said_at = read_time(message.get("created_at")) or find_time(message)
    place = Place(line=line, said_at=said_at, label=name_of(message.get("id"), "") or None)
    text = _text_of(message)
    made = message.get("tool_calls")
    calls = (
        [call for one in made if isinstance(one, dict) and (call := _read_call(one))] if isinstance(made, list) else []
    )
    if role == "user":
        _add_user(chat, text, place)
    elif role in ("tool", "function"):
        _add_results(chat, message, text, place)
    elif role == "summary":
        chat.say("user", text, place, origin="assistant")
    elif calls:
        chat.call(text, calls, place)
    else:
        chat.say("assistant", text, place)


def _add_user(chat: ChatBuilder, text: str, place: Place) -> None:
    packed = _unpack(text)
    if packed is None:
        chat.say("user", text, place)
    elif packed.get("type") == "user_message":
        chat.say("user", text_of(packed.get("message")), place)
    else:
        chat.say("user", text, place, origin="system")


def _unpack(text: str) -> JsonObject | None:
    """What Letta packed into a user's message, or None where the text is the user's own."""
    if not text.startswith("{"):
        return None
    try:
        value = parse_json(text)
    except InvalidInputError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _add_results(chat: ChatBuilder, message: JsonObject, text: str, place: Place) -> None:
    returns = message.get("tool_returns")
    listed = [one for one in returns if isinstance(one, dict)] if isinstance(returns, list) else []
    call_id = name_of(message.get("tool_call_id"), "") or None
    if len(listed) <= 1:
        chat.answer(text or _text_of_return(listed), place, call_id=call_id)
        return
    for one in listed:
        chat.answer(_text_of_return([one]), place, call_id=name_of(one.get("tool_call_id"), "") or None)


def _text_of_return(returns: Sequence[JsonObject]) -> str:
    return "\n".join(text_of(one.get("func_response", one.get("stdout"))) for one in returns)


def _read_call(call: JsonObject) -> Call | None:
    function = call.get("function")
    if not isinstance(function, dict):
        return None
    arguments: JsonValue = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except InvalidInputError:
            arguments = {"input": arguments}
    return Call(name=name_of(function.get("name"), "tool"), arguments=arguments, id=name_of(call.get("id"), "") or None)


def _text_of(message: JsonObject) -> str:
    """The text of a message: of its parts, or of the older form's `text`."""
    content = message.get("content", message.get("text"))
    if not isinstance(content, list):
        return text_of(content)
    texts = [text_of(part.get("text", part.get("reasoning"))) for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if text)
