"""Build the docs site into `build/docs/site`: `make docs`.

The pages of the repository are gathered in one folder, with README.md as the first page, and every link between them is
written anew for its place there. A link to a file that is no page loses its target. The built pages are then searched for
links and anchors that lead nowhere.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PROJECT = Path(__file__).resolve().parent.parent
DOCS = PROJECT / "docs"
BUILD = PROJECT / "build" / "docs"
SITE = BUILD / "site"
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "licence.md",
    "changelog.d/README.md": "changelog.md",
    "bench/README.md": "bench/readme.md",
    "bench/RESULTS.md": "bench/results.md",
    "bench/READINGS.md": "bench/readings.md",
}
"""Pages outside of `docs`, with their place on the site."""

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"(?ms)^```.*?^```$")
EXAMPLE = re.compile(r"(?m)^```(python|sh|text) \w.*$")


def list_places() -> dict[Path, str]:
    """Every file of the site with its place there."""
    inside = {path: str(path.relative_to(DOCS)) for path in DOCS.rglob("*") if path.suffix in {".md", ".png", ".svg"}}
    return {**inside, **{PROJECT / name: place for name, place in OUTSIDE.items()}}


def move_links(text: str, page: Path, places: dict[Path, str]) -> str:
    """The page with each link to a file led to the place of that file."""

    def move(link: re.Match[str]) -> str:
        parts = urlsplit(link[2])
        if parts.scheme or not parts.path:
            return link[0]
        place = places.get((page.parent / parts.path).resolve())
        if place is None:
            return f"{link[1]}#{link[3]}"
        target = os.path.relpath(place, Path(places[page]).parent)
        return f"{link[1]}{target}{'#' if parts.fragment else ''}{parts.fragment}{link[3]}"

    kept: list[str] = []
    text = FENCE.sub(lambda it: kept.append(it[0]) or f"\0{len(kept) - 1}\0", text)
    text = LINK.sub(move, text)
    return re.sub(r"\0(\d+)\0", lambda it: EXAMPLE.sub(r"```\1", kept[int(it[1])]), text)


def write_page(path: Path, places: dict[Path, str]) -> str:
    """The page as the generator reads it; the licence is no Markdown."""
    text = path.read_text("utf-8")
    return move_links(text, path, places) if path.suffix == ".md" else f"# Licence\n\n```text\n{text}```\n"


def list_navigation() -> Iterator[tuple[str, list[tuple[str, Path]]]]:
    """The sections of `contents.md`, each with the titles and files of its pages."""
    for section in (DOCS / "contents.md").read_text("utf-8").split("\n## ")[1:]:
        links = re.findall(r"^- \[(.+)\]\((.+)\)$", section, re.MULTILINE)
        yield section.partition("\n")[0], [(title, (DOCS / target).resolve()) for title, target in links]


def write_navigation(places: dict[Path, str]) -> str:
    """The same as a setting of the generator, with the decisions under the first of them."""
    lines = ['  { "Everfold" = "index.md" },']
    for name, pages in list_navigation():
        entries = ", ".join(f'{{ "{title}" = "{places[path]}" }}' for title, path in pages)
        lines.append(f'  {{ "{name}" = [{entries}] }},')
    decisions = ", ".join(f'"{places[path]}"' for path in sorted(DOCS.glob("adr/*.md")))
    return "\n".join(["nav = [", *lines, f'  {{ "Decisions" = [{decisions}] }},', "]"])


def gather() -> None:
    """Put the pages, the pictures and the settings into one folder."""
    shutil.rmtree(BUILD, ignore_errors=True)
    places = list_places()
    for path, place in places.items():
        target = BUILD / "pages" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if place.endswith(".md"):
            target.write_text(write_page(path, places), "utf-8")
        else:
            shutil.copy(path, target)
    settings = (DOCS / "zensical.toml").read_text("utf-8")
    start = settings.index("\n[project.theme]")
    (BUILD / "zensical.toml").write_text(
        f"{settings[:start]}{write_navigation(places)}\n{settings[start:]}", encoding="utf-8"
    )


class Page(HTMLParser):
    """What a built page links to and loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors = {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and what it can be linked by."""
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value:
                self.links.append(value)
                self.loads += [value] if name == "src" or tag == "link" else []


def find_broken() -> Iterator[str]:
    """Every link of the site that leads to no file or no anchor, and everything that a page loads from another site."""
    pages = {path: Page(path) for path in SITE.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        yield from (f"{path.relative_to(SITE)} loads {link}" for link in page.loads if urlsplit(link).netloc)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].anchors if target in pages else None
            if not target.exists() or (known is not None and unquote(parts.fragment) not in known):
                yield f"{path.relative_to(SITE)}: {link}"


def main() -> None:
    """Build, and fail where a link leads nowhere."""
    gather()
    command = [Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean", "-f", "zensical.toml"]
    if subprocess.run(command, cwd=BUILD, check=False).returncode:
        sys.exit("docs: the generator has refused the pages")
    if broken := sorted(set(find_broken())):
        sys.exit("\n".join(["docs: broken links:", *broken]))
    sys.stdout.write(f"docs: python3 -m http.server --directory {SITE.relative_to(PROJECT)}\n")


if __name__ == "__main__":
    main()
