"""A conversation over HTTP whose background work is done elsewhere."""

import asyncio
import re
from typing import Any, Final

import httpx2
from bench.material.logs import endless_log
from tests.server.processes import SECS
from tests.support.sizes import some

WIRES: Final = [entry.wire for entry in endless_log(5, messages_count=some(240, 120))]


class Talk:
    """A conversation over HTTP."""

    def __init__(self, client: httpx2.AsyncClient, session_id: str) -> None:
        self.client, self.session_id = client, session_id
        self.wires = list(WIRES)

    async def get(self, path: str) -> Any:
        """What is at a path of the session."""
        answer = await self.client.get(f"/api/sessions/{self.session_id}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def say(self) -> None:
        """One message, and the window after it."""
        body = {"messages": [self.wires.pop(0)]}
        answer = await self.client.post(f"/api/sessions/{self.session_id}/messages", json=body)
        assert answer.status_code == 201, answer.text
        answer = await self.client.post(f"/api/sessions/{self.session_id}/window", json={})
        assert answer.status_code == 200, answer.text

    async def compactions(self) -> list[dict[str, Any]]:
        """Every compaction that is no revision, oldest first."""
        page = await self.get("compactions?order=oldest&limit=100")
        return [one for one in page["compactions"] if one["first_seq"] <= one["last_seq"]]

    async def until(self, *states: str) -> list[dict[str, Any]]:
        """Wait until there are compactions, and all are in these states."""
        async with asyncio.timeout(SECS):
            while not (found := await self.compactions()) or any(  # noqa: ASYNC110 - nothing tells of it
                one["state"] not in states for one in found
            ):
                await asyncio.sleep(0.05)
        return found

    async def count_jobs(self, state: str) -> int:
        """How many jobs the server's own metrics say there are."""
        text = (await self.client.get("/metrics")).text
        return int(float(re.findall(rf'^everfold_jobs{{state="{state}"}} (\S+)$', text, re.MULTILINE)[0]))
