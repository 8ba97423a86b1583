"""Importing files over HTTP."""

import io
import zipfile
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.asking import Answer, ask
from tests.server.conftest import Served
from tests.server.streaming import Stream, listening, wait_until

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "data" / "transcripts"
TYPE = {"content-type": "application/octet-stream"}


def pack(*names: str, **texts: str) -> bytes:
    """A zip archive of fixtures, and of files with these texts."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.write(FIXTURES / name, name)
        for stem, text in texts.items():
            archive.writestr(f"{stem}.json", text)
    return target.getvalue()


async def send(served: Served, data: bytes, *, secret: str | None = None, **query: object) -> Answer:
    """Send a file, and give the whole answer."""
    secret = await served.key("admin") if secret is None else secret
    return await ask(
        served.app, "POST", "/api/imports", body=data, headers=TYPE, secret=secret, query=query, stream_secs=60
    )


def events(answer: Answer) -> list[tuple[str, Any]]:
    """The events of an answer."""
    import json

    blocks = [block.split("\n") for block in answer.text.split("\n\n") if "event:" in block]
    return [(block[0].partition(": ")[2], json.loads(block[1].partition(": ")[2])) for block in blocks]


async def test_an_archive_becomes_sessions(served: Served) -> None:
    """Every conversation of an archive is stored for the user, with progress, and what is left is named with its reason."""
    user = await served.runtime.engine.add_user("Ada")
    data = pack("chatgpt.json", "claude.json", user='{"id": 1}', broken='{"a": ')
    answer = await send(served, data, name="export.zip", user=user.id, agent="helper")
    told = events(answer)
    kinds = [kind for kind, _ in told]
    assert kinds[-1] == "done"
    assert told[-1][1]["sessions_count"] == 6
    assert told[-1][1]["messages_count"] == 21
    left = {one["name"]: one["is_other"] for kind, one in told if kind == "left"}
    assert left == {"export.zip: user.json": True, "export.zip: broken.json": False}
    sessions = await served.runtime.engine.list_sessions(user=user.id, agent="helper")
    assert sessions[0].id == told[-1][1]["session_id"]
    assert len(sessions) == 6


async def test_a_single_file_of_no_format_is_described(served: Served) -> None:
    """A file that nothing reads is named as its sender calls it, with what was seen and what is read; nothing is stored."""
    answer = await send(served, b'{"recipe": "soup"}', name="soup.json")
    [(kind, left), (_, done)] = events(answer)
    assert (kind, left["is_other"], done["sessions_count"]) == ("left", True, 0)
    assert left["reason"].startswith("soup.json: line 1: an object with `recipe`")
    assert "chatgpt" in left["reason"]
    assert await served.runtime.engine.list_sessions() == []


async def test_uploads_are_bounded_and_removed(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty body and one of another type are refused, and no file stays behind an import."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "uploads"))
    (tmp_path / "uploads").mkdir()
    secret = await served.key("admin")
    assert (await send(served, b"", secret=secret)).status == 422
    json_type = {"content-type": "application/json"}
    refused = await ask(served.app, "POST", "/api/imports", body=b"[]", headers=json_type, secret=secret)
    assert refused.status == 415
    await send(served, (FIXTURES / "chatgpt.json").read_bytes(), secret=secret, name="../../chat.json")
    assert list((tmp_path / "uploads").iterdir()) == []


async def test_a_user_imports_only_for_themselves(served: Served) -> None:
    """A user's API key stores for that user, and is refused for another; one that only reads is refused."""
    ada, ben = await served.runtime.engine.add_user("Ada"), await served.runtime.engine.add_user("Ben")
    secret = await served.key(f"user:{ada.id}")
    data = (FIXTURES / "open_webui.json").read_bytes()
    assert (await send(served, data, secret=secret, user=ben.id)).status == 403
    assert events(await send(served, data, secret=secret))[-1][1]["sessions_count"] == 3
    assert len(await served.runtime.engine.list_sessions(user=ada.id)) == 3
    reads = await served.key(f"user:{ada.id}", read_only=True)
    assert (await send(served, data, secret=reads)).status == 403


async def test_an_import_goes_on_when_its_client_leaves(served: Served) -> None:
    """A client that leaves after the first progress stops nothing: every conversation is stored whole."""
    talk = "".join(f'{{"role": "user", "content": "Message {number}"}}\n' for number in range(3000))
    secret = await served.key("admin")
    async with listening(served.app) as url, httpx2.AsyncClient(base_url=url) as client:
        headers = {"Authorization": f"Bearer {secret}", **TYPE}
        async with client.stream("POST", "/api/imports", content=talk.encode(), headers=headers, timeout=60) as answer:
            stream = Stream(answer)
            await stream.opened()
            event = await stream.take()
            assert event is not None
            session_id = event[1]["session_id"]
        await wait_until(lambda: not served.runtime.imports._running)
    session = await served.runtime.engine.session(id=session_id)
    assert (await session.inspect.state()).last_seq == 3000


@pytest.mark.parametrize("name", ["a.z\0p", "a.\ud7ff\u00e9", "a.b c", "...", "\0"])
async def test_a_name_is_only_shown(served: Served, name: str) -> None:
    """Whatever a file is called, its conversations are stored, and what is left is told under the name as it came."""
    data = pack("claude.json", user='{"id": 1}')
    told = events(await send(served, data, name=name))
    assert told[-1][0] == "done"
    assert told[-1][1]["sessions_count"] > 0
