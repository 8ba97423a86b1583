"""The dashboard's files over HTTP."""

import gzip
from pathlib import Path

import httpx2
import pytest
from tests.server.conftest import Served

from everfold.server.routes.dashboard import FOLDER, TYPES, list_assets

pytestmark = pytest.mark.anyio

ELSEWHERE = (
    "/assets/",
    "/assets/nothing.js",
    "/assets/../app.py",
    "/assets/%2e%2e/app.py",
    "/assets/..%2fapp.py",
    "/assets/lib/..%2f..%2f..%2fapp.py",
    "/assets//etc/passwd",
    "/assets/lib",
    "/assets/app.js%00.html",
    "/assets/vendor/README.md",
)


@pytest.fixture
def anybody(served: Served) -> httpx2.AsyncClient:
    """A client without a key."""
    return served.client(None)


async def test_the_page_is_open_and_asks_for_nothing_elsewhere(anybody: httpx2.AsyncClient) -> None:
    """Anybody gets the page; its policy allows no script but ours, and every file that it names is there."""
    answer = await anybody.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    named = [part.split('"')[0] for part in answer.text.split('="assets/')[1:]]
    assert len(named) > 5
    for name in named:
        assert (await anybody.get(f"/assets/{name}")).status_code == 200


async def test_files_come_with_their_types_and_are_asked_for_again(anybody: httpx2.AsyncClient) -> None:
    """Each file is what is in the folder, under its type; a browser that has it is told so."""
    for name in list_assets():
        answer = await anybody.get(f"/assets/{name}")
        assert answer.content == (FOLDER / name).read_bytes()
        assert answer.headers["content-type"] == TYPES[Path(name).suffix]
        assert answer.headers["cache-control"] == "no-cache"
        again = await anybody.get(f"/assets/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])


async def test_a_coded_form_has_a_tag_of_its_own(anybody: httpx2.AsyncClient) -> None:
    """Zipped and plain differ in their tags, so that no cache gives one for the other; a browser that takes none gets none."""
    async with anybody.stream("GET", "/assets/app.js", headers={"Accept-Encoding": "gzip"}) as zipped:
        content = b"".join([part async for part in zipped.aiter_raw()])
    plain = await anybody.get("/assets/app.js", headers={"Accept-Encoding": "identity"})
    assert gzip.decompress(content) == plain.content
    assert len(content) < len(plain.content)
    assert "content-encoding" not in plain.headers
    assert zipped.headers["etag"] != plain.headers["etag"]
    assert zipped.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


async def test_nothing_else_is_served(anybody: httpx2.AsyncClient) -> None:
    """What is no file of the dashboard is not found, however it is written."""
    for path in ELSEWHERE:
        answer = await anybody.get(path)
        assert answer.status_code in (401, 404), path
        assert answer.headers["content-type"] == "application/problem+json", path


async def test_the_first_view_is_small() -> None:
    """All of the dashboard together, zipped, is less than what one first view may be."""
    assert sum(len(gzip.compress(path.read_bytes())) for path in list_assets().values()) < 300_000


def test_no_file_has_what_the_policy_forbids() -> None:
    """No page of ours writes markup from text, evaluates text, or loads from elsewhere."""
    forbidden = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https://")
    for name, path in list_assets().items():
        if not name.startswith("vendor/"):
            text = path.read_text("utf-8")
            assert [word for word in forbidden if word in text] == [], name
