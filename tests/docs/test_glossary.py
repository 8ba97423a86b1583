"""The glossary is in order, and the code speaks its language."""

import ast
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from everfold.server.app import make_app
from everfold.server.metrics import Metrics
from everfold.server.opening import open_runtime
from everfold.server.routes import ROUTERS
from everfold.server.routing import OnceRoute
from everfold.server.schemas.schema import Given, Schema

pytestmark = pytest.mark.anyio

UNPLAIN = re.compile(
    r"\b(?:somebody|nobody|everybody|whoever|who asks|(?<!API )(?<!session )(?<!idempotency )keys?)\b", re.IGNORECASE
)
"""Persons where none is meant, and a key of which it is not said what it is for."""


@pytest.fixture
async def openapi() -> AsyncIterator[dict[str, Any]]:
    """The OpenAPI document of the server."""
    async with open_runtime("memory://") as runtime:
        yield make_app(runtime).openapi()


@pytest.fixture(scope="module")
def glossary(project: Path) -> str:
    """The text of the glossary."""
    return (project / "docs" / "reference" / "glossary.md").read_text("utf-8")


def read_banned(glossary: str) -> dict[str, frozenset[str]]:
    """Each word that is not used, with the names in which it is."""
    table = glossary.partition("\n## Words")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \| [^|]+ \|([^|]*)\|$", table, re.MULTILINE)
    return {word: frozenset(re.findall(r"`(\w+)`", names)) for word, names in rows if word != "not"}


def read_banned_alone(glossary: str) -> dict[str, frozenset[str]]:
    """Each name that no interface has, with the places that have it all the same."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", glossary.partition("\n## Names")[2], re.MULTILINE)
    return {name: frozenset(re.findall(r"`([\w.]+)`", places)) for name, places in rows}


def list_python_names(api: str) -> Iterator[str]:
    """Every class, member and argument of the Python interface, as `Class.member` or `function.argument`."""
    for line in api.splitlines():
        path, _, rest = line.partition("(")
        place = ".".join(path.partition(":")[0].split(".")[-2:])
        yield place
        yield from (f"{place.rpartition('.')[2]}.{name}" for name in re.findall(r"(?:^|, )(\w+)(?=[:=,)])", rest))


def list_http_names() -> Iterator[str]:
    """Every field of a body, and every name in a query, as `Schema.field` or `path.name`."""
    for base in (Schema, Given):
        for schema in list_below(base):
            yield from (f"{schema.__name__}.{name}" for name in schema.model_fields)
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, OnceRoute):
                yield from (f"query.{name}" for name in route.query_names)


def list_below(schema: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The classes that are derived from one."""
    for one in schema.__subclasses__():
        yield one
        yield from list_below(one)


def list_texts(document: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Every summary and description of an OpenAPI document, with its place."""
    if isinstance(document, list):
        for one in document:
            yield from list_texts(one, place)
    elif isinstance(document, dict):
        for name, value in document.items():
            if name in {"summary", "description"} and isinstance(value, str):
                yield place, value
            else:
                yield from list_texts(value, f"{place}/{name}")


def find_unplain(text: str, banned: dict[str, frozenset[str]]) -> Iterator[str]:
    """The words of a text for people that the glossary replaces, or that are not plain. What is code is not read."""
    prose = re.sub(r"`[^`]*`", "", text)
    yield from UNPLAIN.findall(prose)
    words = " ".join(re.findall(r"[a-z]+", prose.lower()))
    yield from (word for word in banned if f" {word} " in f" {words} ")


def list_public_names(source: str) -> Iterator[str]:
    """Public classes, functions, their arguments, and the names bound in modules and classes."""
    yield from _list_bound(ast.parse(source).body)


def _list_bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield name
                yield from _list_bound(node.body)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_"):
                yield name
                yield from (it.arg for it in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
            case ast.Assign(targets=targets):
                yield from (it.id for it in targets if isinstance(it, ast.Name) and not it.id.startswith("_"))
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                yield name


def find_banned(name: str, banned: dict[str, frozenset[str]]) -> Iterator[str]:
    """The banned words that the name, read as words, holds."""
    words = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).lower()
    for word, exceptions in banned.items():
        if name not in exceptions and f" {word} " in f" {words} ":
            yield word


def test_terms_are_unique_and_in_alphabetical_order(glossary: str) -> None:
    """A reader finds a term where the alphabet puts it, and once."""
    terms = re.findall(r"^- \*\*(.+?)\*\*: ", glossary, re.MULTILINE)
    assert len(terms) > 60
    assert terms == sorted(set(terms), key=str.casefold)


def test_every_term_is_defined(glossary: str) -> None:
    """Every entry of the list is a term with a definition that ends as a sentence."""
    entries = re.findall(r"^- .*", glossary, re.MULTILINE)
    assert [entry for entry in entries if not re.fullmatch(r"- \*\*[A-Za-z -]+\*\*: \S.{10,}[.]", entry)] == []


def test_no_term_is_banned(glossary: str) -> None:
    """A word cannot be both a term and one that is not used."""
    terms = set(re.findall(r"^- \*\*(.+?)\*\*: ", glossary, re.MULTILINE))
    assert terms & set(read_banned(glossary)) == set()


def test_public_names_use_the_glossary(project: Path, glossary: str) -> None:
    """No public module, class, function, argument or constant uses a word that the glossary replaces."""
    banned = read_banned(glossary)
    assert len(banned) > 8
    package = project / "src" / "everfold"
    names = [
        (path.relative_to(package), name)
        for path in sorted(package.rglob("*.py"))
        for name in [path.stem, *list_public_names(path.read_text("utf-8"))]
    ]
    found = [f"{path}: {name} says {word!r}" for path, name in names for word in find_banned(name, banned)]
    assert found == []


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("class MessageChunk: ...", "chunk"),
        ("def plan_summary(): ...", "summary"),
        ("def show(log, *, msg): ...", "msg"),
        ("class Window:\n    history_buffer: int", "history buffer"),
        ("CONTEXT_WINDOW = 8000", "context window"),
    ],
)
def test_finds_a_planted_word(glossary: str, source: str, word: str) -> None:
    """A banned word is found in each kind of public name."""
    banned = read_banned(glossary)
    assert [it for name in list_public_names(source) for it in find_banned(name, banned)] == [word]


def test_lets_exceptions_and_private_names_through(glossary: str) -> None:
    """A name that the table excepts passes, and so does one that is not seen outside."""
    banned = read_banned(glossary)
    names = list_public_names("summary_timeout_secs = 90\ndef _read_chunk(chunk): ...\ndef msgpack(): ...")
    assert [it for name in names for it in find_banned(name, banned)] == []


def test_interfaces_have_no_name_that_is_not_used_alone(project: Path, glossary: str) -> None:
    """No name of the Python and HTTP interfaces is one that the glossary has only with a second word."""
    banned = read_banned_alone(glossary)
    assert len(banned) > 3
    names = {*list_python_names((project / "tests" / "api.txt").read_text("utf-8")), *list_http_names()}
    assert {"Memory.version", "session.session_key", "ModelCall.call_number", "Session.compacted_through"} <= names
    places = {name: {one for one in names if one.rpartition(".")[2] == name} for name in banned}
    assert places == {name: set(excepted) for name, excepted in banned.items()}


def test_finds_a_planted_name() -> None:
    """The names of members and arguments are read from a listing."""
    listing = (
        "everfold.Memory.head(self, *, key: str | None = None, limit: int = 3) -> int async\neverfold.Call.attempt: int"
    )
    assert {"Memory.head", "head.key", "head.limit", "Call.attempt"} <= set(list_python_names(listing))


async def test_schemas_use_the_glossary(openapi: dict[str, Any], glossary: str) -> None:
    """No schema of the OpenAPI document has a name, or in its name a word, that the glossary replaces."""
    banned, alone = read_banned(glossary), read_banned_alone(glossary)
    names = set(openapi["components"]["schemas"])
    assert {"Compaction", "ApiKey"} <= names
    assert names & set(alone) == set()
    assert [(name, word) for name in names for word in find_banned(name, banned)] == []


async def test_what_the_openapi_document_says_is_plain(openapi: dict[str, Any], glossary: str) -> None:
    """No summary and no description of a route, parameter or field has a word that is not used."""
    banned, texts = read_banned(glossary), list(list_texts(openapi))
    assert len(texts) > 1000
    assert [(place, text, word) for place, text in texts for word in find_unplain(text, banned)] == []


def test_metrics_use_the_glossary(glossary: str) -> None:
    """Names and descriptions of metrics have no word that is not used; none counts compactions as events."""
    banned, metrics = read_banned(glossary), list(Metrics().registry.collect())
    assert len(metrics) > 10
    texts = [text for one in metrics for text in (one.name.replace("_", " "), one.documentation)]
    assert [(text, word) for text in texts for word in find_unplain(text, banned)] == []
    assert {one.name for one in metrics if "event" in one.name} == {"everfold_events_dropped"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Somebody asks.", ["Somebody"]),
        ("The key of Ada.", ["key"]),
        ("Two API keys, a session key and an idempotency key.", []),
        ("Its summary, not `summary`.", ["summary"]),
    ],
)
def test_finds_a_planted_text(glossary: str, text: str, words: list[str]) -> None:
    """A word that is not used is found in a text for people, and not in its code."""
    assert list(find_unplain(text, read_banned(glossary))) == words
