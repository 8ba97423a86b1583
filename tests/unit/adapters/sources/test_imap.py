"""A mailbox on a real IMAP server: what is unread is told, nothing is marked, and the password is never said."""

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from everfold.adapters.sources.building import build_source
from everfold.errors import SourceError, SourceUnavailableError
from everfold.ports.sources import ContextSource

from .conftest import PASSWORD, USERNAME, Compose, ImapServer

pytestmark = pytest.mark.anyio

TO = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
FROM = TO - timedelta(hours=12)


def _at(hours: float) -> int:
    """So many hours after the beginning of the window of time."""
    return int((FROM + timedelta(hours=hours)).timestamp())


@pytest.fixture(scope="module")
def mailbox(imap_server: ImapServer, compose: Compose) -> Iterator[ImapServer]:
    """A mailbox with one message of each sort that matters."""
    for number, (hours, flags, message) in enumerate(
        [
            (1, "", compose("Shall we meet at ten?\r\n\r\n-- \r\nKim", Subject="=?utf-8?q?Fr=C3=BChst=C3=BCck?=")),
            (2, ":2,S", compose("Seen.", Subject="Already read")),
            (3, ":2,FS", compose("The contract is attached.", Subject="Read and starred")),
            (4, "", compose("Sale!", Subject="Ninety percent off", List_Unsubscribe="<https://shop.example/u>")),
            (5, "", compose("Digest", Subject="A list", List_Id="<list.example.org>")),
            (6, "", compose("Away", Subject="Out of office", Auto_Submitted="auto-replied")),
            (7, ":2,T", compose("Gone", Subject="Deleted")),
            (8, "", compose("x" * 200_000, Subject="A large one")),
            (-1, "", compose("Before", Subject="Before the window of time")),
            (12, "", compose("After", Subject="After the window of time")),
            (-240, "", compose("Long ago", Subject="Ten days before")),
        ]
    ):
        imap_server.deliver(f"{_at(hours)}.M{number}.host{flags}", message)
    yield imap_server
    for part in ("new", "cur"):
        for path in (imap_server.maildir / part).iterdir():
            path.unlink()


def _build(server: ImapServer, environ: Mapping[str, str] | None = None, **settings: object) -> ContextSource:
    given = {"kind": "mailbox", "name": "inbox", "host": "127.0.0.1", "port": server.tls_port, "username": USERNAME}
    given |= {"password_env": "MAIL_PASSWORD", "ca_file": str(server.ca_file), "time_zone": "Europe/Berlin"}
    return build_source(given | settings, environ={"MAIL_PASSWORD": PASSWORD} if environ is None else environ)


async def _ask(source: ContextSource, *, budget_tokens: int = 0) -> str:
    return await source.summary("what is new?", from_at=FROM, to_at=TO, budget_tokens=budget_tokens)


async def test_tells_what_came_and_is_unread_or_starred(mailbox: ImapServer) -> None:
    """Over TLS: the starred message first, then the newest; bulk, deleted and seen ones and other times left out."""
    assert await _ask(_build(mailbox)) == (
        "Messages from 2026-11-21 21:00 +01:00 to 2026-11-22 09:00 +01:00: 3 shown; "
        "left out: 1 already read, 1 automatic, 1 mailing list, 1 newsletter.\n"
        "- 2026-11-22 00:00 +01:00 [marked] from Kim Berg <kim@example.org>: Read and starred\n"
        "  The contract is attached.\n"
        "- 2026-11-22 05:00 +01:00 [unread] from Kim Berg <kim@example.org>: A large one\n"
        f"  {'x' * 277}...\n"
        "- 2026-11-21 22:00 +01:00 [unread] from Kim Berg <kim@example.org>: Frühstück\n"
        "  Shall we meet at ten?"
    )


async def test_marks_nothing(mailbox: ImapServer) -> None:
    """After it was asked, every message has the flags that it had; what was new is only known to the server."""
    flags = {name.partition(":2,")[0].partition("/")[2]: name.partition(":2,")[2] for name in mailbox.list_names()}
    await _ask(_build(mailbox))
    after = {name.partition(":2,")[0].partition("/")[2]: name.partition(":2,")[2] for name in mailbox.list_names()}
    assert {name.partition(",")[0]: it for name, it in after.items()} == flags


async def test_reads_no_more_messages_and_bytes_than_it_may(mailbox: ImapServer) -> None:
    """With a bound of one the newest of the window of time is read, and said to be all; of it the first bytes only."""
    told = await _ask(_build(mailbox, max_messages=1, max_bytes=400))
    assert "1 shown; only the newest 1 were read." in told
    assert "A large one" in told
    assert "Frühstück" not in told
    assert told.count("x") < 400


async def test_fits_the_budget(mailbox: ImapServer) -> None:
    """What does not fit is left out at a line's end, and said to be."""
    told = await _ask(_build(mailbox), budget_tokens=160)
    assert "Read and starred" in told
    assert "more lines left out" in told
    assert "Frühstück" not in told


@pytest.mark.parametrize("security", ["none", "starttls"])
async def test_speaks_without_tls_and_with_starttls(mailbox: ImapServer, security: str) -> None:
    """On this machine a mailbox is read in the clear when that is asked for, and over an upgraded connection."""
    assert "Frühstück" in await _ask(_build(mailbox, port=mailbox.plain_port, security=security))


async def test_a_wrong_password_is_refused_and_not_repeated(
    mailbox: ImapServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The error names the account and the variable; neither it, its causes nor the log hold the password."""
    caplog.set_level(logging.DEBUG)
    with pytest.raises(SourceError, match="ada with the password of MAIL_PASSWORD") as caught:
        await _ask(_build(mailbox, {"MAIL_PASSWORD": "wr0ng-password"}))
    assert not caught.value.retryable
    assert "wr0ng-password" not in f"{caught.value} {caught.value.__cause__} {caplog.text}"
    assert caught.value.__cause__ is None


async def test_a_missing_password_is_said_before_anything_is_reached() -> None:
    """Without the variable the source names it."""
    source = build_source(
        {
            "kind": "mailbox",
            "name": "inbox",
            "host": "127.0.0.1",
            "port": 1,
            "username": "a",
            "password_env": "NO_SUCH",
        },
        environ={},
    )
    with pytest.raises(SourceError, match="variable NO_SUCH"):
        await _ask(source)


async def test_an_unknown_authority_is_refused(mailbox: ImapServer) -> None:
    """A certificate that no known authority vouches for ends the connection before the password is sent."""
    with pytest.raises(SourceError, match="certificate that is not trusted"):
        await _ask(_build(mailbox, ca_file=None))


async def test_a_folder_that_is_not_there_is_named(mailbox: ImapServer) -> None:
    """The error says which folder was wanted."""
    with pytest.raises(SourceError, match="no folder 'Nowhere'"):
        await _ask(_build(mailbox, folder="Nowhere"))


async def test_nobody_there_may_be_tried_again() -> None:
    """A port without a server is retryable."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings = {"kind": "mailbox", "name": "inbox", "host": "127.0.0.1", "port": port, "username": "a"}
    source = build_source({**settings, "password_env": "P", "security": "none"}, environ={"P": "p"})
    with pytest.raises(SourceUnavailableError, match="cannot be reached"):
        await _ask(source)


async def test_a_server_that_says_nothing_is_given_up() -> None:
    """One that takes the connection and is silent costs no more than the time limit."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = {"kind": "mailbox", "name": "inbox", "host": "127.0.0.1", "port": server.getsockname()[1]}
        given = {**settings, "username": "a", "password_env": "P", "security": "none", "timeout_secs": 0.2}
        with pytest.raises(SourceUnavailableError, match=r"no answer in 0\.2 seconds"):
            await _ask(build_source(given, environ={"P": "p"}))


async def test_a_question_that_is_given_up_is_left_behind() -> None:
    """Cancelled, the source lets go at once; what it left behind neither keeps the process alive nor lasts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = {"kind": "mailbox", "name": "slow", "host": "127.0.0.1", "port": server.getsockname()[1]}
        given = {**settings, "username": "a", "password_env": "P", "security": "none", "timeout_secs": 1.0}
        source = build_source(given, environ={"P": "p"})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await _ask(source)
        left = [thread for thread in threading.enumerate() if thread.name == "everfold mail://slow"]
        assert [thread.daemon for thread in left] == [True]
        left[0].join(10)
        assert not left[0].is_alive()


def _answer_for_ever(server: socket.socket, line: bytes) -> None:
    """Greet, agree to whatever is said, and then send without an end."""
    client, _ = server.accept()
    with client, contextlib.suppress(OSError):
        client.sendall(b"* OK [CAPABILITY IMAP4rev1] here\r\n")
        while (said := client.recv(65_536)) and b"UID SEARCH" not in said.upper():
            tag, _, command = said.partition(b" ")
            more = b"* CAPABILITY IMAP4rev1\r\n" if command.upper().startswith(b"CAPABILITY") else b""
            client.sendall(more + tag + b" OK done\r\n")
        for _ in range(2_000):
            client.sendall(line)
            time.sleep(0.002)


@pytest.mark.parametrize("line", [b"* 1 EXISTS\r\n", b"* 1 FETCH (BODY[] {99999999999}\r\n", b"x" * 1000])
async def test_a_server_that_never_ends_is_given_up(line: bytes) -> None:
    """However it keeps talking, the question ends with an error of ours soon after the time limit."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_answer_for_ever, args=(server, line), daemon=True)
        thread.start()
        settings = {"kind": "mailbox", "name": "inbox", "host": "127.0.0.1", "port": server.getsockname()[1]}
        given = {**settings, "username": "a", "password_env": "P", "security": "none", "timeout_secs": 0.5}
        with pytest.raises(SourceError):
            async with asyncio.timeout(3):
                await _ask(build_source(given, environ={"P": "p"}))
        thread.join(10)


NOTE = b"From: Kim <kim@example.org>\r\nSubject: Meet at ten\r\n\r\nShall we?\r\n"
SEEN = b'* 1 FETCH (FLAGS () INTERNALDATE "22-Nov-2026 07:00:00 +0000" UID 7)\r\n'


def _answer(server: socket.socket, answers: Mapping[bytes, bytes]) -> None:
    """Greet, and answer each command that holds one of these words with that text, the others with OK only."""
    client, _ = server.accept()
    with client, client.makefile("rb") as said:
        client.sendall(b"* OK [CAPABILITY IMAP4rev1] here\r\n")
        for line in said:
            tag, _, command = line.strip().partition(b" ")
            told = next((it for word, it in answers.items() if word in command.upper()), b"")
            whole = told if b"{tag}" in told else told + b"{tag} OK done\r\n"
            client.sendall(whole.replace(b"{tag}", tag).replace(b"{command}", command))
            if command.upper().startswith(b"LOGOUT"):
                return


@contextlib.contextmanager
def _serve(answers: Mapping[bytes, bytes], *, password: str = "p") -> Iterator[ContextSource]:
    """The mailbox of a server that answers like that."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        known = {b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n", **answers}
        thread = threading.Thread(target=_answer, args=(server, known), daemon=True)
        thread.start()
        settings = {"kind": "mailbox", "name": "inbox", "host": "127.0.0.1", "port": server.getsockname()[1]}
        given = {**settings, "username": "ada", "password_env": "P", "security": "none"}
        yield build_source(given, environ={"P": password})
        thread.join(10)


def _serve_note(fetched: bytes) -> contextlib.AbstractContextManager[ContextSource]:
    """A mailbox of one message, whose text is given in this way."""
    found = {b"EXAMINE": b"* 1 EXISTS\r\n", b"SEARCH": b"* SEARCH 7\r\n"}
    return _serve({**found, b"BODY.PEEK": fetched, b"FETCH": SEEN})


@pytest.mark.parametrize(
    "fetched",
    [
        b"* 1 FETCH (UID 7 BODY[]<0> {%d}\r\n%b)\r\n" % (len(NOTE), NOTE),
        b"* 1 FETCH (BODY[]<0> {%d}\r\n%b UID 7)\r\n" % (len(NOTE), NOTE),
        b"* 1 FETCH (BODY[]<0> {%d}\r\n%b UID 7 FLAGS ())\r\n* 2 FETCH (FLAGS ())\r\n" % (len(NOTE), NOTE),
    ],
    ids=["before", "after", "between"],
)
async def test_a_message_is_told_wherever_its_uid_stands(fetched: bytes) -> None:
    """The parts of a message come in any order, and none is lost for it."""
    with _serve_note(fetched) as source:
        assert (await _ask(source)).split("\n")[1:] == [
            "- 2026-11-22 07:00 +00:00 [unread] from Kim <kim@example.org>: Meet at ten",
            "  Shall we?",
        ]


async def test_a_message_without_its_uid_is_an_error() -> None:
    """A text that belongs to no message that was asked for is not left out in silence."""
    with (
        _serve_note(b"* 1 FETCH (BODY[]<0> {%d}\r\n%b)\r\n" % (len(NOTE), NOTE)) as source,
        pytest.raises(SourceError, match="a message without its UID"),
    ):
        await _ask(source)


@pytest.mark.parametrize("password", ["wr0ng", "wr0ng'quote", "wr0ng\\slash", 'wr0ng"mark', "wr0ng\u00e9"])
@pytest.mark.parametrize(
    "answer", [b"{tag} NO not {command}\r\n", b"{tag} BAD not {command}\r\n", b"* BYE not {command}\r\n"]
)
async def test_a_server_that_repeats_the_password_is_not_repeated(answer: bytes, password: str) -> None:
    """However a server quotes what it was given, and whether it refuses it or hangs up, no error holds it."""
    with (
        _serve({b"LOGIN": answer, b"AUTHENTICATE": answer}, password=password) as source,
        pytest.raises(SourceError) as caught,
    ):
        await _ask(source)
    assert "wr0ng" not in f"{caught.value} {caught.value.__cause__}"
