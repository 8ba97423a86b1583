"""The reference names everything that is there, with its figures, and nothing that is not."""

import importlib.util
import re
import sqlite3
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.states_picture import ARROWS, draw_states, list_moves
from tests.strips_picture import draw_picture

from everfold import errors
from everfold.adapters.sqlite.store import SqliteStore
from everfold.adapters.transcripts import FORMATS
from everfold.config import list_settings
from everfold.core.compaction.transitions import COMPACTION, Cause, CompactionState
from everfold.core.observation.events import Event
from everfold.errors import EverfoldError
from everfold.ports import (
    access,
    activity,
    browsing,
    conversations,
    following,
    forgetting,
    leases,
    memory,
    overview,
    stores,
    usage,
    users,
    vectors,
)

PARTS = [
    stores.SessionStore,
    users.UserStore,
    stores.LogStore,
    stores.CompactionStore,
    stores.WorkStore,
    leases.LeaseStore,
    stores.HistoryStore,
    conversations.ConversationStore,
    usage.UsageStore,
    memory.ItemStore,
    memory.TopicStore,
    memory.FileStore,
    memory.ExtractionStore,
    memory.MemoryRecordStore,
    vectors.VectorStore,
    forgetting.ForgettingStore,
    access.AccessStore,
    overview.OverviewStore,
    following.FollowingStore,
    browsing.BrowsingStore,
    activity.ActivityStore,
]


def read_page(project: Path, name: str) -> str:
    """The text of a page of the reference."""
    return (project / "docs" / "reference" / name).read_text("utf-8")


def load_pages_script(project: Path) -> ModuleType:
    """The script that writes pages anew."""
    spec = importlib.util.spec_from_file_location("pages", project / "tests" / "pages.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_errors(cls: type[EverfoldError] = EverfoldError) -> Iterator[type[EverfoldError]]:
    """Every error of ours, a family before its members."""
    yield cls
    for member in cls.__subclasses__():
        if member.__module__ == errors.__name__:
            yield from list_errors(member)


def test_the_settings_page_is_current(project: Path) -> None:
    """The page of settings is what the code says; `make pages` writes it anew."""
    assert read_page(project, "settings.md") == load_pages_script(project).write_settings_page()


async def test_the_picture_of_strips_is_current(project: Path) -> None:
    """The picture of the first page shows what the engine does; `make pages` draws it anew."""
    assert (project / "docs" / "pictures" / "strips.svg").read_text("utf-8") == await draw_picture()


def test_the_picture_of_states_is_that_of_the_table(project: Path) -> None:
    """The diagram of a compaction's states has the moves of the table and no other; `make pages` draws it anew."""
    moves = list_moves(COMPACTION)
    assert set(ARROWS) == set(moves)
    assert moves["open", "done"] == ("done",)
    assert moves["ready", "pending"] == ("digest", "erase")
    assert (project / "docs" / "pictures" / "states.svg").read_text("utf-8") == draw_states(moves)
    assert "(../pictures/states.svg)" in read_page(project, "compaction.md")


@pytest.mark.parametrize("key", list(list_settings()))
def test_every_setting_has_its_row(project: Path, key: str) -> None:
    """Each key is in the reference with a type, a default and a meaning that is a sentence."""
    assert re.search(
        rf"^\| `{re.escape(key)}` \| \S[^|]* \| \S[^|]* \| [A-Z][^|]+\. \|$",
        read_page(project, "settings.md"),
        re.MULTILINE,
    )


def test_the_listed_states_are_those_of_the_tables(project: Path) -> None:
    """The states and transitions of a compaction are those of their tables; `make pages` writes them anew."""
    page, script = read_page(project, "compaction.md"), load_pages_script(project)
    assert script.write_states() in page
    assert script.put_states(page) == page


def test_every_state_of_a_compaction_is_explained(project: Path) -> None:
    """The guide lists each state of a compaction, and the reference explains each cause."""
    guide = (project / "docs" / "how-to" / "compact.md").read_text("utf-8")
    states = re.search(r"(?s)\| state \| what it means \|\n(.*?)\n\n", guide)
    assert states
    assert re.findall(r"^\| `(\w+)` \|", states[1], re.MULTILINE) == list(typing.get_args(CompactionState))
    section = read_page(project, "compaction.md").partition("## The states of a compaction")[2]
    listed = re.findall(r"^- (\*.*?): ", section.partition("<!--")[0], re.MULTILINE)
    assert re.findall(r"\*([\w ]+)\*", " ".join(listed)) == list(typing.get_args(Cause))


async def test_the_page_of_routes_is_what_the_server_says(project: Path) -> None:
    """The page of routes lists each route with its rule as the server describes them; `make pages` writes it anew."""
    assert read_page(project, "api.md") == await load_pages_script(project).write_routes_page()


def test_every_error_has_its_row(project: Path) -> None:
    """The table of errors is the tree of classes, in its order, with the figures of each."""
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \| (\d+) \| (\d+) \| (yes|no) \|", read_page(project, "errors.md"), re.MULTILINE
    )
    assert rows == [
        (it.__name__, it.code, str(it.http_status), str(it.exit_code), "yes" if it.retryable else "no")
        for it in list_errors()
    ]


def test_every_method_of_a_store_is_named(project: Path) -> None:
    """The page of stores names each port with exactly its methods, in their order."""
    sections = dict(
        re.findall(r"^\*\*`(\w+)`\*\*: (.*?)\n\n", read_page(project, "stores.md"), re.MULTILINE | re.DOTALL)
    )
    for part in PARTS:
        methods = [name for name in vars(part) if not name.startswith("_")]
        assert re.findall(r"`(\w+)`", sections[part.__name__]) == methods


def test_every_format_has_its_row(project: Path) -> None:
    """The table of transcript formats has exactly those that are read."""
    rows = re.findall(r"^\| `([\w-]+)` \|", read_page(project, "transcripts.md"), re.MULTILINE)
    assert sorted(rows) == sorted(FORMATS)


async def test_every_table_has_its_row(project: Path, tmp_path: Path) -> None:
    """The page of the database names each table of a new file, those of the index's own working left out."""
    await (await SqliteStore.open(str(tmp_path / "new.db"))).close()
    with sqlite3.connect(tmp_path / "new.db") as database:
        found = {str(name) for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    database.close()
    parts = ("config", "content", "data", "docsize", "idx")
    shadows = {f"{index}_{part}" for index in ("message_index", "item_index") for part in parts}
    rows = re.findall(r"^\| (`.*?`) \|", read_page(project, "database.md"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == found - shadows


def test_every_event_has_its_row(project: Path) -> None:
    """The reference names every kind of event in a table, and no other."""
    page = read_page(project, "events.md").partition("## Spans")[0]
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    named = [kind for row in rows for kind in re.findall(r"`(\w+)`", row)]
    kinds = [typing.get_type_hints(event)["kind"] for event in typing.get_args(Event)]
    assert sorted(named) == sorted(typing.get_args(kind)[0] for kind in kinds)


def test_every_decision_is_listed_and_numbered(project: Path) -> None:
    """The pages of decisions have numbers without a gap, each in its title, and the first page links all others."""
    pages = sorted((project / "docs" / "adr").glob("*.md"))
    titles = [page.read_text("utf-8").partition("\n")[0] for page in pages]
    assert [title.split(".")[0] for title in titles] == [f"# {number}" for number in range(1, len(pages) + 1)]
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", pages[0].read_text("utf-8"), re.MULTILINE)
    assert listed == [(title[2:], page.name) for title, page in zip(titles[1:], pages[1:], strict=True)]


def test_every_decision_that_code_cites_exists(project: Path) -> None:
    """A page of decisions that is named in the code, in tests or in benchmarks is there under that number."""
    numbers = {page.name[:4] for page in (project / "docs" / "adr").glob("*.md")}
    for folder in ("src", "tests", "bench"):
        for path in (project / folder).rglob("*.py"):
            assert set(re.findall(r"docs/adr/(\d{4})", path.read_text("utf-8"))) <= numbers, path


def test_the_parts_make_a_store() -> None:
    """The parts that the reference names are all that a store is made of, but for closing it."""
    own = {name for name in vars(stores.Store) if not name.startswith("_")}
    assert own == {"close"}
    assert set(PARTS) == {part for part in stores.Store.__bases__ if part is not typing.Protocol}
