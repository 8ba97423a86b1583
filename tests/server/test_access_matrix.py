"""Every route with every kind of key, for those whom it is of and for others: what the route's rule says, and nothing else.

Everything is generated from the OpenAPI, so that a new route is proved without a new test, or fails.
"""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, Literal

import apsw
import pytest
from fastapi import FastAPI
from tests.server.asking import Answer, ask
from tests.server.conftest import Served
from tests.server.operations import Operation, fill, list_operations
from tests.server.seeding import AGENTS, MARKERS, USERS, Known, Seed, sow
from tests.support.sizes import some

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_put_off")]

Verdict = Literal["in", "no key", "forbidden", "hidden", "refused", "filtered"]
STATUSES: Final[dict[Verdict, frozenset[int]]] = {
    "no key": frozenset({401}),
    "forbidden": frozenset({403}),
    "hidden": frozenset({404}),
    "refused": frozenset({403, 404}),
    "filtered": frozenset({200, 403, 404}),
}
"""What each verdict is answered with; `in` is anything that succeeded. What is filtered is held to its markers below."""

BAD_KEYS: Final = (None, "unknown", "expired", "revoked")
KEYS: Final = (
    *BAD_KEYS,
    *(
        f"{scope}{reads}"
        for scope in ("admin", "user:ada", "user:ben", "agent:shop", "agent:desk")
        for reads in ("", " reads")
    ),
)
OWN: Final = ("ada", "shop")
"""Whom the requests are about: keys of Ada and the shop are their own, those of Ben and the desk are foreign."""

OTHER: Final = ("ben", "desk")

OF_AGENT: Final = frozenset({"agent", "item", "topic"})
"""What the requests name of the shop alone: its items and topics are of the tier that only it sees."""

ALSO_IN: Final[dict[str, frozenset[int]]] = {
    "POST /api/users/{user}/memory/import": frozenset({409, 422}),  # the user has a memory already
    "POST /api/demo": frozenset({409}),  # one of its users is there
    "POST /api/imports": frozenset({422}),  # with an empty body
    "POST /api/login": frozenset({401}),  # with the key of the reference's example
    "POST /api/users/{user}/dreams/{dream}/approve": frozenset({409}),  # its topics were changed since
    "POST /api/sessions/{session}/compactions/{compaction}/cancel": frozenset({409}),  # nothing is held
}
"""What else tells that a request was let in, where the store is not in a state for it to succeed."""


@pytest.fixture(scope="module")
async def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A store with something of everything."""
    return await sow(tmp_path_factory.mktemp("matrix") / "seed")


@pytest.fixture
async def served(seed: Seed, tmp_path: Path) -> AsyncIterator[Served]:
    """A server over a copy of it."""
    async with seed.serve(tmp_path / "copy") as one:
        yield one


def judge(operation: Operation, key: str | None) -> Verdict:
    """What the rule of an operation says to a key, about Ada and the shop."""
    if operation.rule == "open":
        return "in"
    if key is None or key in BAD_KEYS:
        return "no key"
    scope, _, reads = key.partition(" ")
    if reads and operation.is_write:
        return "forbidden" if operation.rule != "session" else "refused"
    kind, _, name = scope.partition(":")
    is_own = name in OWN
    match operation.rule:
        case "any":
            return _judge_any(operation, kind, is_own=is_own)
        case "admin":
            return "in" if kind == "admin" else "forbidden"
        case "user":
            return "in" if kind == "admin" or (kind == "user" and is_own) else "forbidden"
        case "memory":
            is_let = kind == "admin" or is_own or (kind == "agent" and not operation.names & OF_AGENT)
            return "in" if is_let else "refused"
        case "session":
            return "in" if kind == "admin" or is_own else "hidden"
        case "agent":
            return "in" if kind == "admin" or (kind == "agent" and is_own) else "forbidden"
    raise AssertionError(f"{operation} has the rule {operation.rule!r}, which is none of those that are proved")


def _judge_any(operation: Operation, kind: str, *, is_own: bool) -> Verdict:
    """Where every key is let in: a foreign one gets nothing of whom the request names."""
    named = operation.subjects - ({"agent"} if kind == "user" else {"user"} if kind == "agent" else set())
    if kind == "admin" or is_own or not named:
        return "in"
    return "refused" if operation.is_write else "filtered"


def is_as_judged(verdict: Verdict, operation: Operation, answer: Answer) -> bool:
    """Whether an answer is one that the verdict allows."""
    if verdict == "in":
        return 200 <= answer.status < 300 or answer.status in ALSO_IN.get(str(operation), ())
    return answer.status in STATUSES[verdict]


async def send(app: FastAPI, operation: Operation, seed: Seed, known: Known, key: str | None) -> Answer:
    """Ask about a user and an agent with a key."""
    request = fill(operation, known, seed)
    secret = None if key is None else seed.secrets[key]
    return await ask(app, request.method, request.path, query=request.query, body=request.body, secret=secret)


def tell(verdict: Verdict, operation: Operation, key: str | None, answer: Answer) -> str:
    """What is wrong with an answer."""
    return f"{operation} [{operation.rule}] with {key or 'no key'}: {answer.status}, expected {verdict}: {answer.text[:200]}"


def hash_rows(path: Path) -> str:
    """A hash of everything in a database, but for when keys were last used."""
    digest = hashlib.sha256()
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").get
        for table in [tables] if isinstance(tables, str) else tables or []:
            if table == "api_keys" or table.startswith("sqlite_"):
                continue
            for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2'):
                digest.update(repr((table, row)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


async def test_reads_are_answered_by_their_rules(served: Served, seed: Seed) -> None:
    """Every GET with every key, by day with every second one, is answered as its rule says; none fails."""
    wrong = []
    for number, operation in enumerate(list_operations(served.app.openapi())):
        if not operation.is_write:
            for key in some(KEYS, KEYS[number % 2 :: 2]):
                answer = await send(served.app, operation, seed, seed.known[OWN], key)
                verdict = judge(operation, key)
                if not is_as_judged(verdict, operation, answer):
                    wrong.append(tell(verdict, operation, key, answer))
    assert not wrong, "\n".join(wrong)


async def test_refused_writes_change_nothing(served: Served, seed: Seed, tmp_path: Path) -> None:
    """Every write with every key that may not do it is refused as the rule says, and the store is as it was."""
    path, wrong = tmp_path / "copy" / "seed.db", []
    before = hash_rows(path)
    for operation in list_operations(served.app.openapi()):
        if operation.is_write:
            for key in KEYS:
                verdict = judge(operation, key)
                if verdict == "in":
                    continue
                answer = await send(served.app, operation, seed, seed.known[OWN], key)
                if not is_as_judged(verdict, operation, answer):
                    wrong.append(tell(verdict, operation, key, answer))
            now = hash_rows(path)
            if now != before:
                wrong.append(f"{operation} was refused and changed something")
            before = now
    assert not wrong, "\n".join(wrong)


async def test_allowed_writes_succeed(served: Served, seed: Seed, tmp_path: Path) -> None:
    """Every write with every key that may do it succeeds, each over a store that is as it was sown; by day every second one."""
    wrong = []
    for number, operation in enumerate(list_operations(served.app.openapi())):
        for key in some(KEYS, KEYS[number % 2 :: 2]):
            if operation.is_write and judge(operation, key) == "in" and key not in BAD_KEYS[1:]:
                answer = await send(served.app, operation, seed, seed.known[OWN], key)
                if not is_as_judged("in", operation, answer):
                    wrong.append(tell("in", operation, key, answer))
                seed.restore(served, tmp_path / "copy")
    assert not wrong, "\n".join(wrong)


async def test_no_answer_tells_of_others(served: Served, seed: Seed) -> None:
    """No GET with a key of a user holds a word that only another user said, and none of an agent what only another knows.

    Whatever user, agent and session it is asked about.
    """
    leaks = []
    for operation in list_operations(served.app.openapi()):
        for key, foreign in _list_watched():
            for known in () if operation.is_write else (seed.known[OWN], seed.known[OTHER]):
                answer = await send(served.app, operation, seed, known, key)
                asked = fill(operation, known, seed)
                heard = [word for word in foreign if word in answer.text and word not in f"{asked.path} {asked.query}"]
                leaks += [f"{operation} with {key} about {known.user}, {known.agent} says {word}" for word in heard]
    assert not leaks, "\n".join(leaks)


def _list_watched() -> list[tuple[str, list[str]]]:
    """ApiKeys, and the markers that an answer to each must not hold."""
    of_users = [(f"user:{name}", [MARKERS[other] for other in USERS if other != name]) for name in USERS]
    of_agents = [(f"agent:{name}", [MARKERS[other] for other in AGENTS if other != name]) for name in AGENTS]
    return of_users + of_agents


async def test_the_markers_are_where_they_are_looked_for(served: Served, seed: Seed) -> None:
    """What an admin reads holds the markers of everybody, so that a leak would show."""
    heard = dict.fromkeys(MARKERS, 0)
    for operation in list_operations(served.app.openapi()):
        for known in () if operation.is_write else (seed.known[OWN], seed.known[OTHER]):
            answer = await send(served.app, operation, seed, known, "admin")
            for name in (known.user, known.agent):
                heard[name] += MARKERS[name] in answer.text
    assert all(count >= 8 for count in heard.values()), heard
