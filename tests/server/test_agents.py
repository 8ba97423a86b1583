"""Agents over HTTP: what each is, and being it otherwise."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from tests.server.conftest import Served, serve

pytestmark = pytest.mark.anyio

FILE = """\
# the settings of a shop
[compaction]
synchronous = true  # for tests

[agents.shop]
# speaks politely
context_limit = 8000  # small
instructions = "You help in a shop."
"""


async def change(served: Served, body: dict[str, object], agent: str = "shop") -> httpx2.Response:
    """What a change of an agent is answered with."""
    async with served.client(await served.key("admin", name=ascii(f"admin {body}"))) as client:
        headers = {"Content-Type": "application/json"}
        return await client.patch(f"/api/agents/{agent}/config", content=json.dumps(body), headers=headers)


def read(config: Path) -> str:
    """What the settings file says now."""
    return config.read_text("utf-8")


def list_drafts(folder: Path) -> list[Path]:
    """What a change that was refused may have left behind."""
    return [path for path in folder.iterdir() if path.suffix == ".new"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A settings file with comments."""
    path = tmp_path / "shop.toml"
    path.write_text(FILE, "utf-8")
    return path


async def test_an_agent_has_a_flat_and_a_nested_memory_system(admin: httpx2.AsyncClient) -> None:
    """What a client of either form looks for says the same; an agent without a section is as all are."""
    body = (await admin.get("/api/agents/anybody")).json()
    assert (body["memory_system"], body["manifest"]["memory"]["system"]) == ("summarization", "summarization")
    assert body["is_configured"] is False


async def test_a_change_is_written_and_comments_stay(tmp_path: Path, config: Path) -> None:
    """The file says what was changed and nothing else is otherwise; the next answer goes by it."""
    async with serve(tmp_path / "a.db", config=config) as served:
        answer = await change(served, {"memory_system": "structured", "compaction": {"trigger_ratio": 0.85}})
        assert answer.status_code == 200
        assert answer.json()["memory_system"] == answer.json()["manifest"]["memory"]["system"] == "structured"
        assert answer.json()["effective"]["compaction"]["trigger_ratio"] == 0.85
    text = read(config)
    assert all(line in text for line in FILE.splitlines())
    assert 'memory_system = "structured"' in text


@pytest.mark.parametrize("name", ["team/shop", "team/shop/chat", "team\\shop", "100%2Fa", "\u52a9/\u624b"])
async def test_an_agent_is_reached_by_its_name_in_a_path(tmp_path: Path, config: Path, name: str) -> None:
    """Whatever an agent is called, its encoded name leads to it in every path, and to no other agent."""
    part = quote(name, safe="")
    notes = f"/api/users/default/agents/{part}"
    async with serve(tmp_path / "a.db", config=config) as served:
        async with served.client(await served.key("admin")) as client:
            assert (await client.post("/api/sessions", json={"agent": name})).status_code == 201
            assert (await client.patch(f"/api/agents/{part}/config", json={"context_limit": 9000})).status_code == 200
            written = {"params": {"path": "/memories/a.md"}, "json": {"content": "Berths."}}
            assert (await client.put(f"{notes}/files", **written)).json()["agent"] == name
            assert (await client.get(f"{notes}/memory")).status_code == 200
            assert (await client.get(f"/api/agents/{name.replace('%', '%25')}/no")).status_code == 404
        async with served.client(await served.key(f"agent:{name}", name="own")) as own:
            read = await own.get(f"/api/agents/{part}")
            assert (read.json()["id"], read.json()["is_configured"]) == (name, True)
            assert (await own.get("/api/agents/team")).status_code == 403


async def test_a_changed_memory_system_holds_from_the_next_turn_on(tmp_path: Path, config: Path) -> None:
    """Nothing is remembered before an agent opts in; from its next turn on all that its session holds is."""
    async with serve(tmp_path / "a.db", config=config) as served:
        engine = served.runtime.engine
        session = await engine.session(agent="shop")
        await session.append({"role": "user", "content": "Remember that my locker is number 12."})
        assert await (await engine.memory(agent="shop")).items() == []
        await change(served, {"memory_system": "structured"})
        session = await engine.session(agent="shop")
        await session.append({"role": "user", "content": "Remember that my badge is number 77."})
        items = await (await engine.memory(agent="shop")).items()
        assert [item.evidence[0].quote for item in items] == [
            "Remember that my locker is number 12.",
            "Remember that my badge is number 77.",
        ]


async def test_null_goes_back_to_what_holds_for_all(tmp_path: Path, config: Path) -> None:
    """A key that is set to null leaves the file; the others stay."""
    async with serve(tmp_path / "a.db", config=config) as served:
        answer = await change(served, {"context_limit": None})
        assert (answer.json()["context_limit"], answer.json()["instructions"]) == (128_000, "You help in a shop.")
    assert "context_limit" not in read(config)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"memory_system": "big"}, "body.memory_system"),
        ({"context_limit": -1}, "body.context_limit"),
        ({"context_limit": 10}, "body.context_limit"),
        ({"model": "no provider"}, "body.model"),
        ({"colour": "red"}, "body.colour"),
        ({"instructions": "half a character: \ud800"}, "body.instructions"),
        ({"compaction": {"trigger_ratio": [None]}}, "body.compaction"),
        ({"compaction": {"trigger_rato": 0.7}}, "body.compaction.trigger_rato"),
        ({"compaction": {"trigger_ratio": 0.5}}, "body.compaction"),
    ],
)
async def test_what_does_not_fit_is_told_at_its_field(
    tmp_path: Path, config: Path, body: dict[str, object], field: str
) -> None:
    """A change that settings would refuse is 422 with its field, and the file is as it was."""
    async with serve(tmp_path / "a.db", config=config) as served:
        answer = await change(served, body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert read(config) == FILE
    assert list_drafts(tmp_path) == []


async def test_a_key_of_an_agent_sees_its_own(served: Served) -> None:
    """An agent's key lists and reads its agent, and changes nothing; a user's key sees none."""
    async with served.client(await served.key("agent:shop")) as shop:
        assert [agent["id"] for agent in (await shop.get("/api/agents")).json()["agents"]] == ["shop"]
        assert (await shop.get("/api/agents/other")).status_code == 403
        assert (await shop.patch("/api/agents/shop/config", json={})).status_code == 403
    async with served.client(await served.key("user:default")) as person:
        assert (await person.get("/api/agents")).json()["agents"] == []
        assert (await person.get("/api/agents/shop")).status_code == 403
