"""Writes that are sent again: whatever happened to the first one, no write is carried out twice."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from tests.server.asking import Answer, ask
from tests.server.conftest import Served, serve
from tests.server.gateway.test_keys import read_files
from tests.server.operations import Request, fill, list_operations
from tests.server.seeding import Seed, sow

from everfold.adapters.sqlite.connections import SqliteConnections
from everfold.errors import StoreUnavailableError

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_put_off")]

NO_COMMIT: Final = frozenset(
    {
        "POST /api/login",
        "POST /api/logout",
        "POST /api/agents/{agent}/chat/stop",
        "POST /api/demo",  # its users are there
        "POST /api/imports",  # the body is empty
        "POST /api/sources/{source}/test",
        "PATCH /api/agents/{agent}/config",  # writes a file
        "PATCH /api/users/{user}",  # the example changes nothing
        "POST /api/sessions",  # the user has a current one
        "POST /api/sessions/{session}/window",  # no compaction is due
        "POST /api/users/{user}/dreams",  # one waits to be judged
        "POST /api/users/{user}/memory/import",  # the user has a memory already
        "POST /api/users/{user}/dreams/{dream}/approve",  # its topics were changed since
        "POST /api/sessions/{session}/compactions/{compaction}/cancel",  # nothing is held
    }
)
"""The writes that commit nothing to the store, as it is sown."""


@dataclass
class Faults:
    """Commits of a store, the first of which fails once it is made.

    Attributes:
        armed: Makes the error of the next commit; None for none.
        commits: The work of every commit, by name.
    """

    armed: Callable[[], Exception] | None = None
    commits: list[str] = field(default_factory=list)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Faults behind commits, but for what is only noted beside the work."""
    found, write = Faults(), SqliteConnections._write

    async def write_and_fail(
        self: SqliteConnections, work: Callable[..., Any], /, *arguments: Any, **options: Any
    ) -> Any:
        done = await write(self, work, *arguments, **options)
        found.commits.append(work.__name__)
        if (make_error := found.armed) is not None:
            found.armed = None
            raise make_error()
        return done

    async def note(self: SqliteConnections, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        return await write(self, work, *arguments, **options)

    monkeypatch.setattr(SqliteConnections, "_write", write_and_fail)
    monkeypatch.setattr(SqliteConnections, "_note", note)
    return found


@pytest.fixture(scope="module")
async def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A store with something of everything."""
    return await sow(tmp_path_factory.mktemp("repeats") / "seed")


@pytest.fixture
async def served(seed: Seed, tmp_path: Path) -> AsyncIterator[Served]:
    """A server over a copy of it."""
    async with seed.serve(tmp_path / "copy") as one:
        yield one


async def _send(served: Served, seed: Seed, request: Request) -> Answer:
    """Send a write under one key."""
    return await ask(
        served.app,
        request.method,
        request.path,
        secret=seed.secrets["admin"],
        query=request.query,
        body=request.body,
        headers={"idempotency-key": "once"},
    )


@pytest.mark.parametrize(
    "make_error", [lambda: RuntimeError("cut"), lambda: StoreUnavailableError("cut")], ids=["bug", "retryable"]
)
async def test_a_write_that_failed_behind_its_commit_is_not_done_again(
    seed: Seed, served: Served, faults: Faults, tmp_path: Path, make_error: Callable[[], Exception]
) -> None:
    """Every write of the API, failing right behind its first commit, is told as of unknown outcome, and commits nothing again."""
    failed = set()
    for operation in list_operations(served.app.openapi()):
        if not operation.is_write:
            continue
        seed.restore(served, tmp_path / "copy")
        request = fill(operation, seed.known["ada", "shop"], seed)

        faults.armed = make_error
        first = await _send(served, seed, request)
        is_hit, faults.armed = faults.armed is None, None
        faults.commits.clear()
        again = await _send(served, seed, request)
        if not is_hit:
            continue
        failed.add(str(operation))
        assert not faults.commits, f"{operation}: {faults.commits}"
        assert again.status in (409, 500), (str(operation), first.status, again.status, again.text)
        if again.status == 500:
            assert again.body["code"] == first.body["code"] == "outcome_unknown", str(operation)
            assert not again.body["retryable"], str(operation)
    assert {str(one) for one in list_operations(served.app.openapi()) if one.is_write} == failed | NO_COMMIT


async def test_a_write_that_was_refused_before_its_commit_is_done_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused before anything is written frees its key: the same request is carried out later."""
    write = SqliteConnections._write
    refusals: list[StoreUnavailableError] = []

    async def refuse_once(self: SqliteConnections, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        if work.__name__ == "add_api_key" and refusals:
            raise refusals.pop()
        return await write(self, work, *arguments, **options)

    monkeypatch.setattr(SqliteConnections, "_write", refuse_once)
    async with served.client(await served.key("admin")) as client:
        refusals.append(StoreUnavailableError("locked"))
        body, headers = {"name": "pier", "scope": "admin"}, {"Idempotency-Key": "once"}
        answers = [await client.post("/api/api-keys", json=body, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [503, 201]


async def test_a_streamed_answer_is_given_once(seed: Seed, served: Served) -> None:
    """A chat that is sent again under its key says nothing again: the repeat is told where to read."""
    body = {"user": seed.known["ada", "shop"].user_id, "message": "hello"}
    chat = Request(method="POST", path="/api/agents/shop/chat", query={}, body=body)
    first, again = await _send(served, seed, chat), await _send(served, seed, chat)
    assert (first.status, again.status, again.body["code"]) == (200, 409, "conflict")
    assert "stream" in again.body["detail"]


async def test_a_secret_is_shown_once_and_not_kept(served: Served, tmp_path: Path) -> None:
    """Neither a repeat of the write that created an API key nor the files of the store hold the key's secret."""
    body, headers = {"name": "pier", "scope": "admin"}, {"Idempotency-Key": "once"}
    async with served.client(await served.key("admin")) as client:
        first, again = [await client.post("/api/api-keys", json=body, headers=headers) for _ in range(2)]
    secret = first.json()["secret"]
    assert (first.status_code, again.status_code, again.json()["code"]) == (201, 409, "conflict")
    assert secret not in again.text
    assert secret.encode() not in read_files(tmp_path)


async def test_the_default_user_is_there_without_a_write(tmp_path: Path) -> None:
    """A refusal stays one where the request is the first to name the default user, who is stored by that."""
    async with serve(tmp_path / "empty.db") as served:
        await served.runtime.engine.add_user("ben")
        async with served.client(await served.key("user:ben")) as client:
            for _ in range(2):
                headers = {"Idempotency-Key": "one", "Content-Type": "application/octet-stream"}
                answer = await client.post("/api/imports?user=default", content=b"{}", headers=headers)
                assert answer.status_code == 403
