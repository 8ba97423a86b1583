"""The route that loads the demo."""

from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from tests.server.conftest import Served

from everfold.demo.reading import read_demo

pytestmark = pytest.mark.anyio


async def test_the_demo_is_loaded_once(served: Served, admin: httpx2.AsyncClient, tmp_path: Path) -> None:
    """One request gives two users apart from each other, a folded session, a dream and a quarantined item; a second is refused."""
    answer = await admin.post("/api/demo")
    assert answer.status_code == 201, answer.text
    session = (await admin.get(f"/api/sessions/{answer.json()['session_id']}")).json()
    assert (session["agent"], session["limit_tokens"]) == ("shop", 8000)
    assert session["compacted_through"] > 300
    engine = served.runtime.engine
    for name, own, foreign in (("Ilse", "kiln", "fish market"), ("Jonas", "fish market", "kiln")):
        memory = await engine.memory(user=name, agent="shop")
        said = " ".join([item.statement for item in await memory.items(limit=200)])
        assert own in said
        assert foreign not in said
        assert {dream.state for dream in await memory.dreams()} == {"applied"}
    assert len(await (await engine.memory(user="Ilse", agent="shop")).quarantine()) == 1
    assert 'memory_system = "structured"' in (tmp_path / "everfold.toml").read_text("utf-8")
    again = await admin.post("/api/demo")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


@pytest.mark.slow
async def test_the_demo_was_said_lately(served: Served, admin: httpx2.AsyncClient) -> None:
    """The demo's last message is less than a week old, and every message keeps its day of the week and its distance."""
    answer = (await admin.post("/api/demo")).json()
    session = await served.runtime.engine.session(id=answer["session_id"])
    said = [message.said_at for message in await session.messages()]
    age = served.runtime.clock.now() - max(said)
    assert timedelta(0) <= age < timedelta(weeks=1)
    written = [message.said_at for message in read_demo().messages if message.said_at is not None]
    assert {before - after for before, after in zip(written, said, strict=True)} == {written[0] - said[0]}
    assert written[0].weekday() == said[0].weekday()
