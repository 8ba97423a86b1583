"""The pages name only what is there: files, commands, guarantees and their proofs."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "changelog.d").glob("*.md")],
)
GUARANTEES = [f"G{number}" for number in range(1, 13)]
UNPROVEN = "not in this release"


def drop_programs(text: str) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"(?ms)^```.*?^```$", "", text)


@cache
def list_anchors(page: Path) -> frozenset[str]:
    """What a link may name on a page: each heading in lower case, with hyphens for spaces and without marks."""
    headings = re.findall(r"^#+ (.+)$", drop_programs(page.read_text("utf-8")), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings)


def find_broken(page: Path) -> Iterator[str]:
    """The links of a page to files that are not there, and to headings that a page does not have."""
    for link in re.findall(r"\]\(([^)\s]+)\)", drop_programs(page.read_text("utf-8"))):
        place, _, anchor = link.partition("#")
        if ":" in link:
            continue
        target = page.parent / place if place else page
        if not target.exists() or (anchor and anchor not in list_anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(PROJECT)) for page in PAGES])
def test_every_link_leads_somewhere(page: Path) -> None:
    """A link to a file of the project points to one that exists, and to a heading that it has."""
    assert list(find_broken(page)) == []


def test_finds_a_broken_link(tmp_path: Path) -> None:
    """A link to a missing file or heading is found; code, other sites and what is there are not."""
    page = tmp_path / "page.md"
    page.write_text(
        "# A `word` or two\n[a](#a-word-or-two) [b](#b) [c](page.md) [d](no.md) [e](page.md#none) [f](https://x.y/z)\n"
        "```python\nx[1](2)\n```\n"
    )
    assert list(find_broken(page)) == ["#b", "no.md", "page.md#none"]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(PROJECT)) for page in PAGES])
def test_every_make_command_exists(page: Path) -> None:
    """A `make` command in a document is a target of the Makefile."""
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    text = page.read_text("utf-8")
    named = set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) | set(re.findall(r"`make ([a-z-]+)`", text))
    assert named <= targets


def test_every_target_says_what_it_does() -> None:
    """`make help` lists every target that is meant to be called."""
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    described = re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE)
    assert phony
    assert sorted(phony[1].split()) == sorted(described)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """What a reader is told to run is what decides in continuous integration, and it runs last."""
    readme = (PROJECT / "README.md").read_text("utf-8")
    assert re.search(r"^make test\b", readme, re.MULTILINE)
    assert (PROJECT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "make test"


def _read_sections() -> dict[str, str]:
    page = (PROJECT / "docs" / "guarantees.md").read_text("utf-8")
    return {section.split()[0]: section for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]}


def test_every_guarantee_is_stated() -> None:
    """The page has each guarantee once, in order."""
    assert [name for name in _read_sections() if name.startswith("G")] == GUARANTEES


@pytest.mark.parametrize("name", GUARANTEES)
def test_every_guarantee_has_its_limit_and_its_proof(name: str) -> None:
    """A guarantee says where it ends and names the tests that prove it, which exist, or says that there is none yet."""
    section = _read_sections()[name]
    found = dict(re.findall(r"^- \*\*(Limit|State|Proof)\*\*: (\S.*(?:\n  .*)*)$", section, re.MULTILINE))
    assert set(found) == {"Limit", "State", "Proof"}
    proofs = re.findall(r"`(tests/[\w/.]+)::(\w+)`", found["Proof"])
    assert proofs or UNPROVEN in found["Proof"]
    for path, test in proofs:
        assert f"def {test}(" in (PROJECT / path).read_text("utf-8")
