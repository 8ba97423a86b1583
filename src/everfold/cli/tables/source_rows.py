"""Context sources as a person reads them at a terminal, and as programs do."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from rich.text import Text

from everfold.agents.described_sources import ListedSource
from everfold.cli.tables.output import one_line, open_console, plain, print_table
from everfold.core.observation.events import SkipReason, SourceAsked
from everfold.errors import EverfoldError
from everfold.services.compaction.refresh import Refreshed
from everfold.services.compaction.try_source import Tried

_WHY: Mapping[SkipReason, str] = {
    "in_flight": "another refresh of this user and agent is running",
    "nothing_said": "no source returned anything",
    "no_room": "the answers do not fit into the window",
    "step_open": "tool results are missing; refresh again after they are stored",
}
_STYLE = {"answered": "green", "failed": "bold red", "timed_out": "bold red", "no_room": "yellow"}


def list_document(listed: ListedSource, asked_from: Mapping[str, datetime]) -> dict[str, object]:
    """A source as one JSON value."""
    return {
        "name": listed.name,
        "kind": listed.kind,
        "source": listed.source or None,
        "is_allowed": listed.is_allowed,
        "prompt": listed.prompt,
        "asked_from": asked_from.get(listed.source),
        "problem": listed.problem or None,
    }


def print_sources(sources: Iterable[ListedSource], asked_from: Mapping[str, datetime]) -> None:
    """A table of sources."""
    rows = [
        (
            it.name,
            it.kind,
            it.source or Text(one_line(it.problem), style="bold red"),
            "yes" if it.is_allowed else Text("no", style="yellow"),
            it.prompt,
            _name_moment(asked_from.get(it.source)),
        )
        for it in sources
    ]
    if rows:
        print_table(("name", "kind", "source", "allowed", "prompt", "asked from"), rows)
    else:
        open_console().print("no source is configured")


def tried_document(tried: Tried) -> dict[str, object]:
    """What a source said when it was tried, as one JSON value."""
    question = tried.question
    return {
        "source": question.source,
        "prompt": question.prompt,
        "from_at": question.from_at,
        "to_at": question.to_at,
        "budget_tokens": question.budget_tokens,
        "tokens": tried.tokens,
        "is_cut": tried.is_cut,
        "elapsed_secs": round(tried.elapsed_secs, 3),
        "shown": tried.shown or None,
    }


def print_tried(tried: Tried) -> None:
    """What a model would see, and what it costs."""
    question, console = tried.question, open_console()
    console.print(
        Text(plain(tried.shown) or "the source returned nothing; a refresh would leave it out"), soft_wrap=True
    )
    cut = ", cut" if tried.is_cut else ""
    figures = f"{tried.tokens:,} tokens of {question.budget_tokens:,}{cut}, {tried.elapsed_secs:.2f} s"
    stretch = f"{_name_moment(question.from_at)} to {_name_moment(question.to_at)} UTC"
    console.print(Text(f"\n{plain(question.source)}: {figures}; asked for {stretch}", style="dim"), soft_wrap=True)


def refreshed_document(session_id: str, refreshed: Refreshed) -> dict[str, object]:
    """What a refresh came to, as one JSON value."""
    return {
        "session": session_id,
        "seq": refreshed.seq,
        "tokens": refreshed.tokens,
        "skipped": refreshed.skipped,
        "sources": [
            {
                "source": it.source,
                "outcome": it.outcome,
                "elapsed_secs": round(it.elapsed_secs, 3),
                "tokens": it.tokens,
                "error": _name_error(it) or None,
            }
            for it in list_outcomes(refreshed)
        ],
    }


def print_refreshed(session_id: str, refreshed: Refreshed) -> None:
    """A row for each source, and the message that carries what they said."""
    rows = [
        (
            it.source,
            Text(it.outcome.replace("_", " "), style=_STYLE.get(it.outcome, "")),
            f"{it.elapsed_secs:.2f} s",
            it.tokens,
            one_line(_name_error(it)),
        )
        for it in list_outcomes(refreshed)
    ]
    if rows:
        print_table(("source", "outcome", "took", "tokens", "error"), rows)
    if refreshed.skipped is None:
        open_console().print(f"stored as message {refreshed.seq} of {session_id}: {refreshed.tokens:,} tokens")
    else:
        open_console().print(f"no message was stored: {_WHY[refreshed.skipped]}")


def list_outcomes(refreshed: Refreshed) -> list[SourceAsked]:
    """What became of each source in the end, in the order in which they were done."""
    return list({it.source: it for it in refreshed.asked}.values())


def _name_error(asked: SourceAsked) -> str:
    """Why a source has no answer: our own words for it, else only the class of what was raised."""
    return str(asked.error) if isinstance(asked.error, EverfoldError) else asked.error_name or ""


def _name_moment(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"
