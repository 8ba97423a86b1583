"""Where a window holds what was said once."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from everfold.core.windows.entries import MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.parts import show_text
from everfold.core.windows.window import Window
from everfold.demo.reading import PlantedFact
from everfold.session import Session

Shown: TypeAlias = Literal["head", "kept", "running", "tail"]
Quoting: TypeAlias = Literal["digest", "rollup", "standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPlace:
    """Where one planted fact is found after a replay.

    Attributes:
        verbatim: The message itself is shown, with these words in it.
        quoted: A digest or the standing instructions quote these words.
        search_rank: At which place a search for its label finds its message in history; 0 when not among the first ten.
    """

    fact: PlantedFact
    verbatim: tuple[Shown, ...]
    quoted: tuple[Quoting, ...]
    search_rank: int

    @property
    def is_found(self) -> bool:
        """Whether a reader of the window has it, or a search finds it."""
        return bool(self.verbatim or self.quoted or self.search_rank)


async def find_fact(session: Session, window: Window, fact: PlantedFact) -> FactPlace:
    """Where a planted fact is now."""
    hits = await session.search(f"{fact.label} {fact.needle}" if fact.kind == "identifier" else fact.needle)
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit.seq == fact.seq]
    return FactPlace(
        fact=fact,
        verbatim=tuple(dict.fromkeys(_find_verbatim(window, fact))),
        quoted=tuple(dict.fromkeys(_find_quoted(window, fact.needle))),
        search_rank=ranks[0] if ranks else 0,
    )


def _find_verbatim(window: Window, fact: PlantedFact) -> list[Shown]:
    found: list[Shown] = []
    for entry in window.entries:
        match entry:
            case MessageEntry() if entry.message.seq == fact.seq and fact.needle in show_text(entry.message):
                found.append("tail" if entry.slice == "tail" else "head" if entry.slice == "head" else "running")
            case RangeEntry():
                shown = [message for message in entry.kept if message.seq == fact.seq]
                found += ["kept" for message in shown if fact.needle in show_text(message)]
            case _:
                pass
    return found


def _find_quoted(window: Window, needle: str) -> list[Quoting]:
    found: list[Quoting] = []
    for entry in window.entries:
        match entry:
            case RangeEntry() if needle in entry.digest_text:
                found.append("digest" if entry.shown.kind == "digest" else "rollup")
            case TextEntry(slice="standing") if needle in entry.text:
                found.append("standing")
            case _:
                pass
    return found
