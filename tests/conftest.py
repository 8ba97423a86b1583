"""What holds for every test: no network beyond this machine, no settings from outside, one way to the real data."""

from __future__ import annotations

import gc
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pytest
from hypothesis import settings
from tests.support.sizes import examples, some

if TYPE_CHECKING:
    from tests.forks import Forks

    from everfold import Everfold
    from everfold.core.windows.window import Window

PROJECT = Path(__file__).resolve().parent.parent

# Read once and taken away, with every other setting: a test sees the engine's defaults, never the machine's wishes.
REAL_DATA = Path(os.environ.pop("EVERFOLD_DATA", PROJECT.parent / "shared" / "data"))
for _name in [name for name in os.environ if name.startswith("EVERFOLD_") or name.endswith("_API_KEY")]:
    del os.environ[_name]

# Programs that are started write as they do for everybody: into a buffer.
os.environ.pop("PYTHONUNBUFFERED", None)

# Work is done by the call that finds it due, so that a test sees its end; tests of the background switch that off.
os.environ["EVERFOLD_COMPACTION__SYNCHRONOUS"] = "true"

# A commit waits for the disk, a hundred thousand times over all tests. What they write is kept in memory where there is
# room: what a killed process had written is there all the same, and what a power cut would take no test can see.
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 1 << 29
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# `ci` tries the same examples on every run, so that a failure is the change's own; `dev` looks for new ones.
# Neither has a deadline: no test asserts a time.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=examples(100))
settings.register_profile("dev", deadline=None, max_examples=examples(100))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


gc.disable()  # until all is collected: nearly all that is loaded stays, and to look for garbage took a fifth of it


def pytest_collection_finish() -> None:
    """Take what was loaded by now for good, and look for garbage less often: both together took a tenth of all tests."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 20)


class NetworkRefusedError(RuntimeError):
    """A test tried to reach something beyond this machine."""


def _is_local(host: object) -> bool:
    if host is None or host in ("", b"", "localhost", b"localhost"):
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_beyond_this_machine(host: object) -> None:
    if not _is_local(host):
        raise NetworkRefusedError(f"tests reach loopback only, not {host!r}: use a fake, or a server on 127.0.0.1")


class _LoopbackSocket(socket.socket):
    """A socket that connects and sends to loopback addresses and local files only."""

    def _check(self, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
            _refuse_beyond_this_machine(address[0])

    def connect(self, address: object) -> None:
        self._check(address)
        super().connect(address)  # type: ignore[arg-type]  # the shape depends on the family; passed on as it came

    def connect_ex(self, address: object) -> int:
        self._check(address)
        return super().connect_ex(address)  # type: ignore[arg-type]  # as above

    def sendto(self, data: bytes, *rest: object) -> int:  # type: ignore[override]  # (address) or (flags, address)
        self._check(rest[-1] if rest else None)
        return super().sendto(data, *rest)  # type: ignore[call-overload,no-any-return]  # as above


@pytest.fixture(scope="session", autouse=True)
def only_this_machine() -> Iterator[None]:
    """Refuse every connection and every name look-up beyond loopback: no model is ever called by a test."""
    look_up = socket.getaddrinfo

    def look_up_local(host: object, *rest: object, **named: object) -> object:
        _refuse_beyond_this_machine(host)
        return look_up(host, *rest, **named)  # type: ignore[arg-type]  # passed on as it came

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "socket", _LoopbackSocket)
        patch.setattr(socket, "getaddrinfo", look_up_local)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_settings_are_left() -> Iterator[None]:
    """No test leaves a settings file where all others, and every program started in this folder, would read it."""
    yield
    assert not (PROJECT / "everfold.toml").exists(), f"a test has written {PROJECT / 'everfold.toml'}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that every async test runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder that holds pyproject.toml."""
    return PROJECT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real conversations; a test that needs it is skipped where it is missing."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"no real conversations: {REAL_DATA} is missing; set EVERFOLD_DATA to their folder")
    return REAL_DATA


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """What starts programs that use the engine, without loading it for each."""
    from tests.forks import forking

    with forking(tmp_path_factory.mktemp("forks")) as started:
        yield started


@pytest.fixture(scope="session")
def command_forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """What starts programs that use the command line, its server and its chat, without loading them for each."""
    from tests.forks import COMMANDS, forking

    with forking(tmp_path_factory.mktemp("forks"), COMMANDS) as started:
        yield started


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A PostgreSQL of the tests' own, and the database on it."""
    from tests.support.postgres import make_template, serving

    with serving() as url:
        make_template(url)
        yield url


@pytest.fixture
def database_url(server_url: str) -> str:
    """The same database without a row: copied, since its migrations would take longer than most tests."""
    from tests.support.postgres import renew_database

    renew_database(server_url)
    return server_url


@pytest.fixture
def bare_database_url(server_url: str) -> str:
    """The same database without a table."""
    from tests.support.postgres import empty_database

    empty_database(server_url)
    return server_url


@pytest.fixture(scope="session")
def made_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with every migration behind it, to be copied: to make one anew takes longer than most tests."""
    from everfold.adapters.sqlite.connection import open_database

    path = tmp_path_factory.mktemp("made") / "everfold.db"
    open_database(str(path)).close()
    return path


@pytest.fixture
def file_url(made_database: Path, tmp_path: Path) -> str:
    """The url of an empty store in a file."""
    return f"sqlite:///{shutil.copy(made_database, tmp_path / 'everfold.db')}"


@pytest.fixture(scope="module")
def nothing_put_off() -> Iterator[None]:
    """No store of the module writes on its own behind the answers: what differs in a file is what was asked for."""
    from everfold.adapters.sqlite import housekeeping

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(housekeeping, "MERGE_PAGES", sys.maxsize)
        patch.setattr(housekeeping, "CHECKPOINT_PAGES", sys.maxsize)
        yield


@pytest.fixture(autouse=True)
def prefix_is_held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request of a session extends the one before, unless an event, new settings or an erase broke it.

    A test that moves the beginning on purpose says so with the mark `moves_prefix`.
    """
    if "moves_prefix" in request.keywords:
        return
    from tests.support.proofs import PrefixWatch

    from everfold.session import Session

    show = Session.window
    watches: WeakKeyDictionary[object, PrefixWatch] = WeakKeyDictionary()  # ids repeat from store to store

    async def show_and_compare(
        self: Session,
        *,
        limit: int | None = None,
        suffix: str | None = None,
        preview: bool = False,
        require_complete: bool = False,
    ) -> Window:
        window = await show(self, limit=limit, suffix=suffix, preview=preview, require_complete=require_complete)
        if not preview:
            watches.setdefault(self._store, PrefixWatch(every=some(1, 4))).see(
                self.id, window, settings=self.settings, epoch=self._live.state.epoch
            )
        return window

    monkeypatch.setattr(Session, "window", show_and_compare)


OpenWithModel = Callable[..., AbstractAsyncContextManager["Everfold"]]


@pytest.fixture
def open_with_model() -> OpenWithModel:
    """Opens an engine whose digests a given model writes, as `everfold.open` opens one with a configured model."""
    from functools import partial

    from everfold.adapters.system.ids import RandomIds
    from everfold.adapters.system.random_secrets import RandomSecrets
    from everfold.bootstrap import make_background, make_memories, open_store
    from everfold.config import load_settings
    from everfold.engine import DRAIN_SECS, Everfold
    from everfold.ports.models import Model
    from everfold.ports.system import Clock
    from everfold.services.compaction.digest_compaction import digest_compaction
    from everfold.services.models.call_model import ModelCaller
    from everfold.services.telling.stream import Stream
    from everfold.testing.kit.fakes import FakeClock

    @asynccontextmanager
    async def open_engine(
        url: str,
        model: Model,
        *,
        clock: Clock | None = None,
        drain_secs: float = DRAIN_SECS,
        settings: Mapping[str, Mapping[str, object]] | None = None,
    ) -> AsyncIterator[Everfold]:
        given = dict(settings or {})
        given["compaction"] = {"trigger_ratio": 0.8, **given.get("compaction", {})}  # as where a model is configured
        loaded = load_settings(None, given)
        clock, ids, stream = clock or FakeClock(), RandomIds(), Stream()
        store = await open_store(url, clock=clock)
        caller = ModelCaller(
            model=model,
            store=store,
            clock=clock,
            ids=ids,
            timeout_secs=loaded.compaction.summary_timeout_secs,
            retries=loaded.compaction.retries,
            stream=stream,
        )
        memories = make_memories(store, loaded, clock=clock, ids=ids, stream=stream)
        background = make_background(memories, loaded)
        background.worker = replace(background.worker, write_digest=partial(digest_compaction, caller))
        engine = Everfold(
            store,
            clock=clock,
            ids=ids,
            secrets=RandomSecrets(),
            defaults_of=loaded.session_settings,
            stream=stream,
            background=background,
            memories=memories,
        )
        engine.start()
        try:
            yield engine
        finally:
            await engine.close(drain_secs=drain_secs)

    return open_engine
