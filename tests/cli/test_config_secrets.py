"""`everfold config` can be pasted into a bug report."""

from pathlib import Path

import pytest
from tests.cli.conftest import Run

from everfold.config import load_settings
from everfold.errors import InvalidInputError

SECRET = "S3cr3tV4lueZ9xQ7"

SETTINGS = f"""
[store]
url = "postgres://ada:{SECRET}@db.example/everfold"
[model]
name = "openai:gpt-5"
base_url = "https://llm.example/v1?key={SECRET}"
api_key_env = "{SECRET}"
[embed]
base_url = "https://llm.example/v1?access_token={SECRET}"
[server]
public_url = "https://memory.example?t={SECRET}"
[agents.shop]
instructions = "Look at https://ada:{SECRET}@wiki.example/page"
[agents.shop.mcp.one]
url = "https://tools.example/mcp?token={SECRET}"
headers = {{ Authorization = "{SECRET}" }}
[hands.look.mcp.two]
command = ["program", "--token", "{SECRET}", "https://ada:{SECRET}@host.example/"]
[sources.work]
kind = "http"
url = "https://ada:{SECRET}@host.example/"
"""


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_no_secret_is_printed(run: Run, here: Path, form: tuple[str, ...]) -> None:
    """No form of the output holds a secret of an address, a table or a command; the hosts are there."""
    (here / "everfold.toml").write_text(SETTINGS)
    result = run("config", *form)
    assert SECRET not in "".join(result.output.split())
    for host in ("db.example", "llm.example", "tools.example", "wiki.example"):
        assert host in "".join(result.output.split())


@pytest.mark.parametrize(
    "settings",
    [
        f'[server]\npublic_url = "https://ada:{SECRET}@memory.example"',
        f'[agents.shop.mcp.one]\nurl = "https://ada:{SECRET}@tools.example"',
        f'[store]\nurl = ["postgres://ada:{SECRET}@db.example"]',
    ],
)
def test_no_secret_is_printed_in_a_refusal(run: Run, here: Path, settings: str) -> None:
    """A setting that does not fit is refused without the secret in its address."""
    (here / "everfold.toml").write_text(settings)
    result = run("config", code=2)
    assert "example" in result.output
    assert SECRET not in "".join(result.output.split())


def test_no_secret_of_a_store_is_printed(run: Run, here: Path) -> None:
    """A store that cannot be opened is refused without the password in its address."""
    (here / "everfold.toml").write_text(SETTINGS.split("[model]", maxsplit=1)[0])
    result = run("users", code=2)
    assert "db.example" in result.output
    assert SECRET not in "".join(result.output.split())
    with pytest.raises(InvalidInputError):
        load_settings(None, {"store": {"url": 3}})
