"""What a first start of the server tells."""

from pathlib import Path

import pytest

from everfold.cli.opening.serving import Start, link_with_key, make_first_key, reach
from everfold.server.opening import open_runtime
from everfold.testing.kit.builders import talk

pytestmark = pytest.mark.anyio


async def test_a_first_start_opens_the_longest_new_session(tmp_path: Path) -> None:
    """The first start makes a key and opens the longest of the newest sessions, or the list where there is none; a later start opens nothing."""
    async with open_runtime(f"sqlite:///{tmp_path / 'empty.db'}") as runtime:
        assert (await make_first_key(runtime)).page == "sessions"
    async with open_runtime(f"sqlite:///{tmp_path / 'a.db'}") as runtime:
        longest = await runtime.engine.session(agent="one")
        await longest.append(talk(2))
        await (await runtime.engine.session(agent="two")).append(talk(1))
        first = await make_first_key(runtime)
        assert first.page == f"sessions/{longest.id}"
        assert first.secret is not None
        assert await make_first_key(runtime) == Start()


@pytest.mark.parametrize("address", ["http://0.0.0.0:8420/", "http://127.0.0.1:8420"])
def test_the_link_leads_to_this_machine(address: str) -> None:
    """A server on every address is opened by loopback; the key stands in the fragment alone."""
    assert link_with_key(address, "ef_1", to="sessions") == "http://127.0.0.1:8420/#sign-in?key=ef_1&to=sessions"


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("http://0.0.0.0:8420/", "http://127.0.0.1:8420/"),
        ("http://[::]:8420/", "http://[::1]:8420/"),
        ("https://memory.example/", "https://memory.example/"),
    ],
)
def test_an_address_is_one_that_a_browser_opens(address: str, named: str) -> None:
    """Of a server on every address that of this machine is told, and any other as it is."""
    assert reach(address) == named
