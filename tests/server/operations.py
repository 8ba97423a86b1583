"""The operations of the API, read from its OpenAPI, and how each is asked: every parameter from a table, by its name.

A route that is new needs nothing here as long as its parameters have names that are known and its body has examples.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.server.seeding import Known, Seed

Json = Mapping[str, Any]
SAFE: Final = frozenset({"GET", "HEAD"})
METHODS: Final = frozenset({"get", "post", "put", "patch", "delete"})

SUBJECT_FIELDS: Final = frozenset({"user", "agent", "session", "session_id"})
"""Where a query or a body names whom it is about, or which session."""

PATH_OVERRIDES: Final[Mapping[str, Mapping[str, str]]] = {
    "POST /api/users/{user}/items/{item}/undo": {"item": "edited"},
    "POST /api/users/{user}/dreams/{dream}/approve": {"dream": "proposed"},
    "POST /api/users/{user}/dreams/{dream}/reject": {"dream": "proposed"},
    "POST /api/users/{user}/quarantine/{item}/release": {"item": "quarantined"},
    "DELETE /api/users/{user}/quarantine/{item}": {"item": "quarantined"},
}
"""Where a parameter means another thing than its name does elsewhere."""

BODIES: Final[Mapping[str, Json]] = {
    "POST /api/api-keys": {"name": "another", "scope": "admin"},
    "PATCH /api/agents/{agent}/config": {"instructions": "You help."},
    "PATCH /api/sessions/{session}": {"system": "You help."},
    "POST /api/sessions/{session}/branch": {"seq": 2},
    "POST /api/sessions/{session}/rewind": {"seq": 2},
    "POST /api/agents/{agent}/chat": {"message": "hello"},
}
"""Bodies that fit the store, where the example of the reference does not."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A method of a path, as the reference describes it."""

    method: str
    path: str
    rule: str
    details: Json
    body: Json | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_write(self) -> bool:
        """Whether a key that only reads may not do it."""
        return self.method not in SAFE

    def parameters(self, place: str) -> Iterator[Json]:
        """The parameters in the path, the query or the headers."""
        return (one for one in self.details.get("parameters", ()) if one["in"] == place)

    @property
    def names(self) -> frozenset[str]:
        """What it names, in path, query or body."""
        named = {one["name"] for place in ("path", "query") for one in self.parameters(place)}
        return frozenset(named | set((self.body or {}).get("properties", ())))

    @property
    def subjects(self) -> frozenset[str]:
        """What of user, agent and session it names."""
        return SUBJECT_FIELDS & self.names


@dataclass(frozen=True, kw_only=True)
class Request:
    """An operation with everything filled in."""

    method: str
    path: str
    query: Mapping[str, object]
    body: object


def list_operations(document: Json) -> list[Operation]:
    """Every operation of a reference; one without a rule of access fails."""
    return [
        Operation(
            method=method.upper(),
            path=path,
            rule=_require_rule(f"{method.upper()} {path}", details),
            details=details,
            body=_find_body(document, details),
        )
        for path, methods in document["paths"].items()
        for method, details in methods.items()
        if method in METHODS
    ]


def _require_rule(name: str, details: Json) -> str:
    rule = details.get("x-access")
    assert isinstance(rule, str), f"{name} has no x-access: give its route a rule of everfold.server.access"
    return rule


def _find_body(document: Json, details: Json) -> Json | None:
    content = details.get("requestBody", {}).get("content", {}).get("application/json")
    return None if content is None else resolve(document, content["schema"])


def resolve(document: Json, schema: Json) -> Json:
    """A schema behind its references; of several that may stand there the first that is an object."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for one in schema.get("anyOf", ()):
        found = resolve(document, one)
        if found.get("type") == "object":
            return found
    return schema


def fill(operation: Operation, known: Known, seed: Seed) -> Request:
    """The request about one user and one agent; a parameter that no table has fails."""
    path = operation.path
    for one in operation.parameters("path"):
        path = path.replace(f"{{{one['name']}}}", _find_path_value(operation, one["name"], known, seed))
    query: dict[str, object] = {}
    for one in operation.parameters("query"):
        if one["name"] in SUBJECT_FIELDS:
            query[one["name"]] = _name_subject(one["name"], known)
        elif one.get("required"):
            query[one["name"]] = _find_example(operation, one["name"], {**one["schema"], **one})
    return Request(method=operation.method, path=path, query=query, body=_fill_body(operation, known))


def _find_path_value(operation: Operation, name: str, known: Known, seed: Seed) -> str:
    name = PATH_OVERRIDES.get(str(operation), {}).get(name, name)
    values = {
        "user": known.user_id,
        "agent": known.agent,
        "session": known.session,
        "compaction": known.event,
        "item": known.item,
        "edited": known.edited,
        "quarantined": known.quarantined,
        "topic": known.topic,
        "dream": known.dream,
        "proposed": known.proposed,
        "seq": "1",
        "key": seed.key_id,
        "source": "kiln",
    }
    assert name in values, f"{operation} has the parameter {name!r}, of which tests.server.operations knows no value"
    return values[name]


def _name_subject(name: str, known: Known) -> str:
    return {"user": known.user_id, "agent": known.agent}.get(name, known.session)


def _fill_body(operation: Operation, known: Known) -> Json | None:
    if operation.body is None:
        return None
    properties: Json = operation.body.get("properties", {})
    filled = BODIES.get(str(operation))
    if filled is None and not properties:
        filled = _find_example(operation, "body", _read_content(operation))
    if filled is None:
        required = operation.body.get("required", ())
        filled = {name: _find_example(operation, name, properties[name]) for name in required}
    return {**filled, **{name: _name_subject(name, known) for name in SUBJECT_FIELDS & set(properties)}}


def _read_content(operation: Operation) -> Json:
    content: Json = operation.details["requestBody"]["content"]["application/json"]
    return {**content["schema"], **content}


def _find_example(operation: Operation, name: str, described: Json) -> Any:
    examples = described.get("examples")
    if isinstance(examples, Mapping):
        examples = [one["value"] for one in examples.values()]
    assert examples, f"{operation}: {name} has no example, and tests.server.operations no value for it"
    return examples[0]
