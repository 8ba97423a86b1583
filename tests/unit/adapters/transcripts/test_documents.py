"""Archives, folders and databases are read within bounds, and what they hold is told file by file."""

import io
import json
import random
import sqlite3
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from everfold.adapters.transcripts import Found, documents, read_transcript, read_transcripts
from everfold.errors import InvalidInputError

FIXTURES = Path(__file__).parents[4] / "tests" / "data" / "transcripts"
CHAT = '[{"role": "user", "content": "Where is the key?"}]'


def pack(path: Path, members: Mapping[str, str | bytes]) -> Path:
    """A zip archive with these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tell(found: Found) -> str:
    """What became of a file, in a word."""
    if found.transcript is not None:
        return found.transcript.format
    return "other" if found.is_other else "broken"


def test_an_export_is_read_from_its_archive(tmp_path: Path) -> None:
    """Of an archive the transcripts are read, files of other kinds are passed over, and a broken one does not stop the rest."""
    conversations = (FIXTURES / "chatgpt.json").read_text("utf-8")
    members = {
        "conversations.json": conversations,
        "user.json": '{"id": "u", "email": "e"}',
        "chat.html": "<html>",
        "more/broken.json": '{"mapping": ',
        "__MACOSX/._conversations.json": "\x00\x05",
    }
    path = pack(tmp_path / "export.zip", members)
    found = list(read_transcripts(path))
    assert [(one.name.partition(": ")[2], tell(one)) for one in found] == [
        ("conversations.json", "chatgpt"),
        ("user.json", "other"),
        ("more/broken.json", "broken"),
    ]
    assert found[0].transcript == read_transcript(FIXTURES / "chatgpt.json")


@pytest.mark.parametrize("name", ["../../outside.json", "/etc/outside.json", "C:\\outside.json", "a/../../b.json"])
def test_a_path_in_a_name_leads_nowhere(name: str, tmp_path: Path) -> None:
    """Whatever path a member's name holds, nothing is written, and the member is read as any other."""
    folder = tmp_path / "inner"
    folder.mkdir()
    path = pack(folder / "names.zip", {name: CHAT})
    before = sorted(tmp_path.rglob("*"))
    assert [tell(one) for one in read_transcripts(path)] == ["openai"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_is_refused_before_it_is_whole(tmp_path: Path) -> None:
    """A member that unpacks to far more than text does is not read; the others are."""
    path = pack(tmp_path / "bomb.zip", {"bomb.json": b" " * 40_000_000, "chat.json": CHAT})
    bomb, chat = read_transcripts(path)
    assert tell(bomb) == "broken"
    assert "unpacks to more than" in str(bomb.error)
    assert tell(chat) == "openai"


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, an archive and a folder above the bounds are refused with what the bound is."""
    (tmp_path / "chat.json").write_text(CHAT)
    monkeypatch.setattr(documents, "MOST_BYTES", 20)
    with pytest.raises(InvalidInputError, match="larger than 20 bytes"):
        read_transcript(tmp_path / "chat.json")
    monkeypatch.setattr(documents, "MOST_BYTES", 10_000)
    monkeypatch.setattr(documents, "MOST_UNPACKED_BYTES", 60)
    path = pack(tmp_path / "two.zip", {"a.json": CHAT, "b.json": CHAT})
    assert [tell(one) for one in read_transcripts(path)] == ["openai", "broken"]
    monkeypatch.setattr(documents, "MOST_FILES", 1)
    with pytest.raises(InvalidInputError, match="at most 1"):
        list(read_transcripts(path))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    """An archive that is cut off, and one without a transcript, are refused by name."""
    whole = pack(tmp_path / "whole.zip", {"chat.json": CHAT}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:60])
    with pytest.raises(InvalidInputError, match=r"cut\.zip is a damaged zip archive"):
        read_transcript(tmp_path / "cut.zip")
    with pytest.raises(InvalidInputError, match=r"none\.zip holds no file that ends in"):
        read_transcript(pack(tmp_path / "none.zip", {"a.txt": "x"}))


def damage(path: Path, method: int) -> Path:
    """An archive whose first member is damaged in the middle of its packed bytes, and whose second is whole."""
    chance = random.Random(1)
    numbers = json.dumps([chance.random() for _ in range(9_000)])
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("damaged.json", numbers)
        archive.writestr("chat.json", CHAT)
    data = bytearray(path.read_bytes())
    data[300:400] = b"\xff" * 100
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_does_not_stop_the_rest(method: int, tmp_path: Path) -> None:
    """A member that cannot be unpacked, in whatever way it is packed, is refused by name; the others are read."""
    damaged, chat = read_transcripts(damage(tmp_path / "export.zip", method))
    assert (tell(damaged), tell(chat)) == ("broken", "openai")
    assert "damaged.json cannot be unpacked" in str(damaged.error)


@pytest.mark.parametrize(("at", "value"), [(6, 99), (8, 0)])
def test_an_archive_of_another_kind_is_refused(
    at: int, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of members that needs a later version, or holds a name in no known encoding, is refused from a pipe too."""
    data = bytearray(pack(tmp_path / "made.zip", {"\u00e4.json": CHAT}).read_bytes())
    start = data.find(b"PK\x01\x02")
    if at == 6:
        data[start + at] = value
    else:
        data[start + 46] = 0xFF
    (tmp_path / "made.zip").write_bytes(data)
    with pytest.raises(InvalidInputError, match=r"made\.zip"):
        read_transcript(tmp_path / "made.zip")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(InvalidInputError, match="standard input is a damaged zip archive"):
        read_transcript(Path("-"))


def test_a_closed_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was started without a standard input is told so."""
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InvalidInputError, match="standard input is closed"):
        read_transcript(Path("-"))


def test_the_export_of_a_user_is_no_other_file(tmp_path: Path) -> None:
    """An export of a user among transcripts is refused with how to import it, and the others are read."""
    export = '{"format": "everfold.user", "version": 3}'
    user, chat = read_transcripts(pack(tmp_path / "all.zip", {"ada.json": export, "chat.json": CHAT}))
    assert (tell(user), tell(chat)) == ("broken", "openai")
    assert "import it alone" in str(user.error)


def test_a_folder_is_read_in_order_without_its_links(tmp_path: Path) -> None:
    """The transcripts of a folder and its subfolders are read in the order of their paths; links are not followed."""
    outside = tmp_path / "outside.json"
    outside.write_text(CHAT)
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.jsonl").write_text('{"role": "user", "content": "b"}\n')
    (folder / "deep" / "a.json").write_text(CHAT)
    (folder / "link.json").symlink_to(outside)
    (folder / "notes.txt").write_text("x")
    names = [Path(one.name).relative_to(folder).as_posix() for one in read_transcripts(folder)]
    assert names == ["b.jsonl", "deep/a.json"]
    assert len(read_transcript(folder).conversations) == 2


def make_sdk_database(path: Path) -> None:
    """Sessions as the OpenAI Agents SDK stores them, with a write-ahead log."""
    items = json.loads((FIXTURES / "responses_items.json").read_text("utf-8"))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP)")
    connection.execute(
        "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, "
        "message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT '2031-02-03 10:00:00')"
    )
    for session, listed in (("ferry", items), ("bakery", [{"role": "user", "content": "Rolls?"}])):
        for item in listed:
            connection.execute(
                "INSERT INTO agent_messages (session_id, message_data) VALUES (?, ?)", (session, json.dumps(item))
            )
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def test_sessions_of_the_agents_sdk_are_conversations(tmp_path: Path) -> None:
    """Each session is a conversation whose items are stored as they are, dated by their rows; from a file and an archive."""
    path = tmp_path / "sessions.db"
    make_sdk_database(path)
    read = read_transcript(path)
    assert read.format == "openai-agents"
    assert [(one.name, len(one.messages)) for one in read.conversations] == [("ferry", 4), ("bakery", 1)]
    first = read.conversations[0].messages[0]
    assert first.wire == {"role": "user", "content": "Book the ferry for Tuesday."}
    assert first.said_at is not None
    assert first.said_at.isoformat() == "2031-02-03T10:00:00+00:00"
    archive = pack(tmp_path / "sessions.zip", {"sessions.db": path.read_bytes()})
    assert read_transcript(archive).conversations == read.conversations


def test_other_databases_are_described(tmp_path: Path) -> None:
    """A database without known tables is refused with the tables that it has; what is no database is refused too."""
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute("CREATE TABLE orders (id INTEGER)")
    connection.commit()
    connection.close()
    with pytest.raises(InvalidInputError, match="has the tables orders"):
        read_transcript(tmp_path / "shop.db")
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\x00" + b"\x07" * 200)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_transcript(tmp_path / "torn.db")


def test_chats_of_open_webui_are_read_from_its_database(tmp_path: Path) -> None:
    """The table `chat` of Open WebUI's database gives the same conversations as its export."""
    export = json.loads((FIXTURES / "open_webui.json").read_text("utf-8"))
    connection = sqlite3.connect(tmp_path / "webui.db")
    connection.execute("CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat JSON)")
    for one in export:
        connection.execute("INSERT INTO chat VALUES ('1', 'u', ?, ?)", (one["chat"]["title"], json.dumps(one["chat"])))
    connection.commit()
    connection.close()
    read = read_transcript(tmp_path / "webui.db").conversations
    assert [one.name for one in read] == ["Bread", "Bread (branch 2)", "Old"]
    expected = read_transcript(FIXTURES / "open_webui.json").conversations
    assert [[m.wire for m in one.messages] for one in read] == [[m.wire for m in one.messages] for one in expected]
