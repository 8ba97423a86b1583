"""Building sources from settings: what is misspelt, missing, contradictory or dangerous is refused before anything runs."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from everfold.adapters.sources.building import KINDS, build_source
from everfold.errors import InvalidInputError, SourceError

FINE = {
    "calendar": {"name": "work", "path": "work.ics"},
    "mailbox": {"name": "inbox", "host": "mail.example.org", "username": "ada", "password_env": "MAIL_PASSWORD"},
    "http": {"name": "weather", "url": "https://weather.example.org/now"},
    "callable": {"name": "own", "function": "module:function"},
}


def test_each_kind_is_built_and_named() -> None:
    """The name is the one that its fence shows."""
    names = [build_source({"kind": kind, **FINE[kind]}).name for kind in KINDS]
    assert names == ["calendar://work", "mail://inbox", "http://weather", "call://own"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kind": "calender", "name": "x"}, "did you mean 'calendar'"),
        ({"name": "x"}, "the kind of source 'None' is unknown"),
        ({"kind": ["http"]}, "kind of source"),
        ({"kind": "calendar", "name": "x", "pth": "a"}, "no setting 'pth'; did you mean 'path'"),
        ({"kind": "http", "name": "x", "wrong": 1}, "expected one of allow_private, ca_file, headers"),
        ({"kind": "calendar", "path": "a"}, "lacks the setting 'name'"),
        ({"kind": "calendar", "name": "x"}, "one of url and url_env"),
        ({"kind": "calendar", "name": "x", "path": "a", "url": "https://b"}, "a path and an address"),
        ({"kind": "calendar", "name": "x", "path": 7}, "'path' is a text, not a int"),
        ({"kind": "calendar", "name": "x", "path": "a", "before_hours": True}, "'before_hours' is a number"),
        ({"kind": "calendar", "name": "x", "path": "a", "before_hours": -1}, "from 0 to"),
        ({"kind": "calendar", "name": "x", "path": "a", "time_zone": "Europe/Nowhere"}, "no time zone"),
        ({"kind": "calendar", "name": "x", "path": "a", "time_zone": "../../etc/passwd"}, "no time zone"),
        ({"kind": "calendar", "name": "x>>>\n", "path": "a"}, "the name"),
        ({"kind": "calendar", "name": "", "path": "a"}, "the name"),
        ({"kind": "http", "name": "x", "url": "ftp://x"}, "http:// or https://"),
        ({"kind": "http", "name": "x", "url": "https://"}, "http:// or https://"),
        ({"kind": "http", "name": "x", "url": "https://a b"}, "http:// or https://"),
        ({"kind": "http", "name": "x", "url": "https://a:99999/"}, "http:// or https://"),
        ({"kind": "http", "name": "x", "url": "https://a", "headers": {"A": 1}}, "a table of texts"),
        ({"kind": "http", "name": "x", "url": "https://a", "timeout_secs": 0}, "above 0"),
        ({"kind": "mailbox", "name": "x"}, "one of host"),
        ({"kind": "mailbox", "name": "x", "host": "h"}, "needs username"),
        ({"kind": "mailbox", "name": "x", "path": "p", "format": "mdir"}, "did you mean 'maildir'"),
        ({"kind": "mailbox", **FINE["mailbox"], "security": "ssl"}, "no security 'ssl'"),
        ({"kind": "mailbox", **FINE["mailbox"], "port": 70_000}, "from 1 to 65535"),
        ({"kind": "mailbox", **FINE["mailbox"], "security": "none"}, "password unencrypted"),
        ({"kind": "mailbox", **FINE["mailbox"], "username": "a\r\nX LOGOUT"}, "control characters"),
        (
            {"kind": "mailbox", **FINE["mailbox"], "password": "s3cret"},
            "no setting 'password'; did you mean 'password_env'",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(settings: dict[str, object], says: str) -> None:
    """The error says which key is meant and what is expected."""
    with pytest.raises(InvalidInputError, match=says):
        build_source(settings)


@pytest.mark.parametrize(
    "url", ["https://ada:s3cret@example.org/", "https://s3cret@example.org/", "ftp://s3cret", "s3cret"]
)
@pytest.mark.parametrize("kind", ["http", "calendar"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(kind: str, url: str) -> None:
    """User information has no place in settings, and the refusal does not show it."""
    with pytest.raises(InvalidInputError) as caught:
        build_source({"kind": kind, "name": "x", "url": url})
    assert "s3cret" not in str(caught.value)


def test_plaintext_is_for_this_machine_or_on_purpose() -> None:
    """Without TLS a mailbox is built for loopback, and elsewhere only when the settings say that it may."""
    given = {"kind": "mailbox", **FINE["mailbox"], "security": "none"}
    assert build_source(given | {"host": "127.0.0.1"})
    assert build_source(given | {"host": "::1"})
    assert build_source(given | {"host": "localhost"})
    assert build_source(given | {"allow_plaintext": True})


def test_an_address_for_subscribing_is_one_of_the_web() -> None:
    """`webcal` is taken for https."""
    assert build_source({"kind": "calendar", "name": "x", "url": "webcal://example.org/c.ics"})


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["~no-such-user/x", "a\0b", "\ud800"])
@pytest.mark.parametrize("kind", ["calendar", "mailbox"])
async def test_a_path_that_cannot_be_one_is_an_error_of_the_source(kind: str, path: str) -> None:
    """A user that is unknown and a text that is no path are told with the source and the path."""
    source = build_source({"kind": kind, "name": "x", "path": path})
    at = datetime(2026, 11, 22, tzinfo=UTC)
    with pytest.raises(SourceError, match="check the path") as caught:
        await source.summary("", from_at=at, to_at=at, budget_tokens=0)
    assert repr(path) in str(caught.value)


def test_building_loads_no_package_of_the_extra() -> None:
    """Every kind is built without importing what it will read with."""
    program = f"""
import sys
from everfold.adapters.sources.building import build_source
for kind, settings in {FINE!r}.items():
    build_source({{"kind": kind, **settings}})
print(*sorted({{"icalendar", "recurring_ical_events", "imap_tools", "httpx2", "dateutil"}} & set(sys.modules)))
"""
    fresh = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == []
