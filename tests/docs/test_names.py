"""What the pages name in code is there: commands, settings, errors, and the methods of the public face."""

import builtins
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import everfold
from everfold import errors
from everfold.agents.chat import Chat
from everfold.agents.hands import Hands
from everfold.agents.opening import Agents
from everfold.config import list_settings
from everfold.core.windows.reports import WindowReport

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [
    PROJECT / "README.md",
    *sorted(page for page in (PROJECT / "docs").rglob("*.md") if page.parent.name != "adr"),
]
"""Every page but the decisions, which speak of their own time."""

OBJECTS: dict[str, object] = {
    "session": everfold.Session,
    "engine": everfold.Everfold,
    "memory": everfold.Memory,
    "window": everfold.Window,
    "report": WindowReport,
    "tools": everfold.MemoryTools,
    "chat": Chat,
    "hands": Hands,
    "agents": Agents,
    "inspect": everfold.Inspection,
    "integration": everfold.Integration,
    "admin": everfold.Admin,
    **{name: getattr(everfold, name) for name in everfold.__all__},
}
"""What a name before a point stands for, in text and in programs."""
SECTIONS = {key.split(".")[0] for key in list_settings()}
KEYS = set(list_settings())
FILES = {"db", "html", "jpg", "js", "json", "jsonl", "md", "py", "sql", "toml", "txt"}
"""What stands behind the point in the name of a file."""
SPANS = {
    name
    for source in (PROJECT / "src").rglob("*.py")
    for name in re.findall(r'"(everfold\.[a-z.]+)"', source.read_text("utf-8"))
}
"""Names of ours that are no modules: those of spans, loggers and the like."""


def list_spans(page: Path) -> Iterator[str]:
    """Every piece of code in the text of a page."""
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8")))


def list_programs(page: Path) -> Iterator[str]:
    """Every Python program of a page, those too that are not run."""
    yield from re.findall(r"(?ms)^```python[^\n]*\n(.*?)^```", page.read_text("utf-8"))


def list_commands() -> set[str]:
    """Every command of the reference, which another test compares with the program."""
    page = (PROJECT / "docs" / "reference" / "cli.md").read_text("utf-8")
    return set(re.findall(r"^## (everfold [a-z -]+)$", page, re.MULTILINE))


def find_unknown_commands(code: str, known: set[str]) -> Iterator[str]:
    """A command that is called and is not there."""
    if found := re.match(r"everfold((?: [a-z][a-z-]+)+)", code):
        words = found[1].split()
        if not any(" ".join(["everfold", *words[:count]]) in known for count in range(1, len(words) + 1)):
            yield found[0]


def find_unknown_names(code: str) -> Iterator[str]:
    """An attribute of one of our objects that it does not have."""
    for owner, name in re.findall(r"(?<![\w./`\"'])(\w+)\.([a-z]\w*)\b", code):
        is_setting = f"{owner}.{name}" in KEYS
        if owner in OBJECTS and name not in FILES and not is_setting and not _has(OBJECTS[owner], name):
            yield f"{owner}.{name}"
    for owner, name in re.findall(r"\.(inspect|integration|admin)\.(\w+)", code):
        if not _has(OBJECTS[owner], name):
            yield f"{owner}.{name}"


def find_unknown_settings(span: str) -> Iterator[str]:
    """A setting of one of our sections that it does not have."""
    found = re.fullmatch(r"(\w+)\.(\w+)(?: = .*)?", span)
    if found and found[1] in SECTIONS - set(OBJECTS) and found[2] not in FILES and f"{found[1]}.{found[2]}" not in KEYS:
        yield span


def _has(owner: object, name: str) -> bool:
    return hasattr(owner, name) or name in getattr(owner, "__annotations__", {})


def find_unknown_modules(code: str) -> Iterator[str]:
    """A path of ours that cannot be imported, or has not the name behind it."""
    for path in re.findall(r"(?<![\w/])everfold(?:\.\w+)+", code):
        if path in SPANS or path.rpartition(".")[2] in FILES:
            continue
        module, names = path, []
        while module:
            try:
                found: object = importlib.import_module(module)
                break
            except ModuleNotFoundError:
                module, _, name = module.rpartition(".")
                names.insert(0, name)
            except errors.InvalidInputError:  # it is there, and the framework that it is for is not
                found = None
                break
        for name in names:
            if not _has(found, name):
                yield path
                break
            found = getattr(found, name, None)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(PROJECT)) for page in PAGES])
def test_what_a_page_names_is_there(page: Path) -> None:
    """No page names a command, a setting, an error, a method or a module that is not there."""
    known = list_commands()
    unknown: list[str] = []
    for span in list_spans(page):
        unknown += [*find_unknown_commands(span, known), *find_unknown_settings(span), *find_unknown_errors(span)]
        unknown += [*find_unknown_names(span), *find_unknown_modules(span)]
    for program in list_programs(page):
        unknown += [*find_unknown_errors(program), *find_unknown_modules(program)]
        unknown += [name for name in find_unknown_names(program) if not name.startswith("report.")]
    assert unknown == []


def find_unknown_errors(code: str) -> Iterator[str]:
    """An error that is neither ours nor Python's."""
    yield from (
        name
        for name in re.findall(r"\b[A-Z][a-z]\w*Error\b", code)
        if not hasattr(errors, name) and not hasattr(builtins, name)
    )


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(PROJECT)) for page in PAGES])
def test_no_page_speaks_of_another_release(page: Path) -> None:
    """No page promises something for later, or denies it for now, in words that are forgotten when it comes."""
    text = page.read_text("utf-8")
    found = re.findall(
        r"(?i)(?:in a later release|not raised in this release|in a future release|no command for it)", text
    )
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "everfold unerase ses_1",
        "session.around",
        "await session.page(3)",
        "session.inspect.events()",
        "session.integration.events()",
        "compaction.force_ratio",
        "MissingError",
        "everfold.core.ledger",
        "everfold.errors.MissingError",
    ],
)
def test_finds_a_planted_name(code: str) -> None:
    """A name of each kind that is not there is found."""
    assert [
        *find_unknown_commands(code, list_commands()),
        *find_unknown_names(code),
        *find_unknown_settings(code),
        *find_unknown_modules(code),
        *find_unknown_errors(code),
    ]
