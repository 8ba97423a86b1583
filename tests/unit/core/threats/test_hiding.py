"""Settings are shown without the secrets in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.threats.hiding import hide_in_addresses, hide_secrets

SECRET = "S3cr3tV4lueZ9xQ7"

NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)
SECRETS = st.text("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789%:-_.~!$*+,/'\"<>", min_size=8, max_size=24).filter(
    str.isprintable
)


@given(scheme=st.sampled_from(["http", "https", "postgres", "amqp+ssl"]), host=NAMES, secret=SECRETS, user=NAMES)
def test_no_password_is_shown(scheme: str, host: str, secret: str, user: str) -> None:
    """Of an address neither the user nor the password is shown, whatever signs are in it; the host and the path are."""
    for credentials in (f"{user}:{secret}", secret.lstrip("/") or "x", f":{secret}", f"{user}:{secret}@{secret}"):
        shown = hide_in_addresses(f"see {scheme}://{credentials}@{host}:80/path, there")
        assert shown == f"see {scheme}://***@{host}:80/path, there"


@given(secret=SECRETS.map(lambda text: text.replace("/", "")), name=NAMES)
def test_no_parameter_is_shown(secret: str, name: str) -> None:
    """Of every parameter and of the fragment only the name is shown; an address without any stays as it is."""
    address = "https://host.example/path"
    assert hide_in_addresses(address) == address
    assert hide_in_addresses(f"{address}?{name}={secret}&b={secret}#{secret}") == f"{address}?{name}=***&b=***#***"
    assert hide_in_addresses(f"{address}?{secret}") == f"{address}?***"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("url", f"https://ada:{SECRET}@host.example/mcp"),
        ("url", f"https://host.example/mcp?t={SECRET}"),
        ("name", "sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"),
        ("api_key_env", SECRET),
        ("headers", {"Authorization": SECRET}),
        ("env", {"GITHUB_TOKEN": SECRET}),
        ("command", ("program", "--token", SECRET)),
        ("command", ["program", f"--api-key={SECRET}"]),
        ("command", ("program", f"postgres://ada:{SECRET}@host/db")),
        ("mcp", {"one": {"command": ["program", "--password", SECRET], "env": {"API_KEY": SECRET}}}),
    ],
)
def test_no_secret_is_shown(name: str, value: object) -> None:
    """Whatever a secret stands in, a text, a table or a command, it is not shown."""
    shown = str(hide_secrets(value, name))
    assert SECRET not in shown
    assert "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z" not in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("url", "sqlite:///everfold.db"),
        ("url", "sqlite:////home/ada@work/everfold.db"),
        ("url", "memory://"),
        ("name", "openai:gpt-5"),
        ("api_key_env", "OPENAI_API_KEY"),
        ("headers", {"Authorization": "CALENDAR_TOKEN"}),
        ("command", ("uvx", "mcp-server-git", "--repository", "/srv/work")),
        ("gap_secs", 300.0),
        ("model", None),
        ("bindings", ("telegram:12345",)),
    ],
)
def test_what_is_no_secret_is_shown(name: str, value: object) -> None:
    """Names, variables, files and figures stay as they are."""
    assert hide_secrets(value, name) == value
