"""The tools with which an agent reads and writes its memory, as function schemas that any framework passes on.

Source: REQUIREMENTS DA-15, HM-3; the form is OpenAI's for functions.
"""

from typing import Final

from everfold.core.primitives.json_values import JsonObject, JsonValue

MEMORY_TOOLS: Final = (
    "memory_add",
    "memory_replace",
    "memory_remove",
    "memory_batch",
    "memory_list",
    "memory_search",
    "history_search",
    "history_read",
)
"""The names of all tools, in the order of their schemas."""
HISTORY_TOOLS: Final = ("history_search", "history_read")
"""Those of them that every agent has, whether or not it has memory."""
MOST_OPERATIONS: Final = 50
MOST_FOUND: Final = 20

_TIER: Final = (
    "user: who the person is, shared by all of the person's agents. agent: your own notes on the work, environment and "
    "lessons."
)


def list_memory_schemas() -> list[JsonObject]:
    """The schemas of all tools; made anew, so that a caller may change them."""
    return [
        _function(
            "memory_add",
            "Note something that will matter in later conversations. Not for what is only of use now. What the user "
            "prefers or decides is noted from the user's own words without you.",
            {
                "statement": _text("One or two sentences that can be understood alone."),
                "tier": _tier(),
                "kind": _kind(),
            },
            ("statement",),
        ),
        _function(
            "memory_replace",
            "Correct one entry of your memory, or make it shorter.",
            {"old_text": _old(), "statement": _text("What the entry says from now on."), "tier": _tier()},
            ("old_text", "statement"),
        ),
        _function(
            "memory_remove",
            "Take one entry out of your memory. It stays in the history.",
            {"old_text": _old(), "tier": _tier()},
            ("old_text",),
        ),
        _function(
            "memory_batch",
            "Do several of these at once, all or none. Only the size at the end counts, so entries can be removed to "
            "make room for others.",
            {"operations": _operations()},
            ("operations",),
        ),
        _function("memory_list", "List the entries of your memory, with how full it is.", {"tier": _tier()}, ()),
        _function(
            "memory_search",
            "Find entries by words, archived ones too.",
            {"query": _text("A few words."), "limit": _count("How many at most.", MOST_FOUND)},
            ("query",),
        ),
        *list_history_schemas(),
    ]


def list_history_schemas() -> list[JsonObject]:
    """The schemas of the tools that read the log; made anew, so that a caller may change them."""
    return [
        _function(
            "history_search",
            "Find messages of past conversations with the user by words.",
            {
                "query": _text("A few words."),
                "limit": _count("How many at most.", MOST_FOUND),
                "role": {
                    "type": "string",
                    "enum": ["user", "assistant", "tool"],
                    "description": "Only messages in this role.",
                },
                "since": _text("Only messages said then or later: a date such as 2031-05-01, or one with a time."),
                "until": _text("Only messages said before then."),
            },
            ("query",),
        ),
        _function(
            "history_read",
            "Read messages of a conversation by number. A long message has pages: those that a mark such as "
            "[... characters left out; history: message 3, pages 1-12] names. Each answer says how to get the next.",
            {
                "first": _count("The first message."),
                "last": _count("The last one; the first one alone where it is left out."),
                "page": _count("Which page of one message; 1 where it is left out."),
                "part": _count("Which part of that page, where an answer says that it has parts."),
                "session": _text("The conversation's id; this one where it is left out."),
            },
            ("first",),
        ),
    ]


def _function(name: str, description: str, properties: JsonObject, required: tuple[str, ...]) -> JsonObject:
    parameters: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list[JsonValue](required),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _text(description: str) -> JsonObject:
    return {"type": "string", "description": description}


def _count(description: str, most: int | None = None) -> JsonObject:
    bounds: JsonObject = {"minimum": 1} if most is None else {"minimum": 1, "maximum": most}
    return {"type": "integer", "description": description, **bounds}


def _tier() -> JsonObject:
    return {"type": "string", "enum": ["user", "agent"], "description": _TIER}


def _kind() -> JsonObject:
    kinds: list[JsonValue] = ["fact", "preference", "decision", "task", "open_item"]
    return {"type": "string", "enum": kinds, "description": "What sort of thing it is; fact where it is left out."}


def _old() -> JsonObject:
    return _text("Words that stand in this entry and in no other one.")


def _operations() -> JsonObject:
    action: JsonObject = {"type": "string", "enum": ["add", "replace", "remove"]}
    properties: JsonObject = {
        "action": action,
        "statement": _text("For add and replace: what the entry says."),
        "old_text": _text("For replace and remove: words that stand in this entry and in no other one."),
        "tier": _tier(),
        "kind": _kind(),
    }
    operation: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": ["action"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": operation, "minItems": 1, "maxItems": MOST_OPERATIONS}
