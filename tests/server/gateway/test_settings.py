"""Every key of `[gateway]` changes what the gateway does."""

from pathlib import Path

import pytest
from tests.server.gateway.conftest import run_gateway, say
from tests.server.gateway.played import Planned, PlayedProvider

from everfold.config import list_settings
from everfold.server.app import make_app
from everfold.server.gateway.app import open_gateway
from everfold.server.opening import open_runtime

pytestmark = pytest.mark.anyio

HERE = ("enabled", "agent", "timeout_secs")
ELSEWHERE = {
    "upstream": "conftest.py",
    "user": "test_keys.py",
    "api_key_env": "test_keys.py",
    "recall": "test_keys.py",
    "history_tools": "test_history_tools.py",
    "context_limit": "test_forms.py",
    "on_failure": "test_failures.py",
}
"""Which file of this folder tries the key."""


def test_every_key_has_a_case() -> None:
    """A key that these files do not try may change nothing."""
    named = {key.removeprefix("gateway.") for key in list_settings() if key.startswith("gateway.")}
    assert named == {*HERE, *ELSEWHERE}
    for key, file in ELSEWHERE.items():
        assert f'"{key}"' in (Path(__file__).parent / file).read_text("utf-8"), (key, file)


@pytest.mark.parametrize("is_enabled", [False, True])
async def test_it_is_off_unless_it_is_enabled(tmp_path: Path, *, is_enabled: bool) -> None:
    """Where it is off, the app behind it answers alone."""
    async with open_runtime(f"sqlite:///{tmp_path}/g.db", settings={"gateway": {"enabled": is_enabled}}) as runtime:
        behind = make_app(runtime, routers=())
        async with open_gateway(behind, runtime, hosts=None) as app:
            assert (app is not behind) is is_enabled


async def test_conversations_belong_to_the_agent_of_the_settings(tmp_path: Path, provider: PlayedProvider) -> None:
    """The agent that is named has them."""
    settings = {"gateway": {"agent": "desk", "user": "ada"}}
    async with run_gateway(tmp_path / "g.db", provider.url, settings) as gateway:
        await gateway.ask([say("One?")])
        assert [session.agent_id for session in await gateway.sessions()] == ["desk"]


async def test_a_silent_provider_is_given_up(tmp_path: Path, provider: PlayedProvider) -> None:
    """A provider that sends nothing for so long is answered for with 502."""
    provider.plan += [Planned(is_held=True)]
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"timeout_secs": 0.2}}) as gateway:
        assert (await gateway.ask([say("One?")])).status_code == 502
        provider.released.set()
