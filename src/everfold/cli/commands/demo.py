"""`everfold demo`: a long conversation, folded to a tenth of its size, and where the window holds what was said in it."""

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from everfold.adapters.transcripts import Conversation
from everfold.cli.opening.engine import NO_MODEL, open_scratch, run_async
from everfold.cli.opening.options import Json
from everfold.cli.replays.facts import FactPlace, find_fact
from everfold.cli.replays.replay_report import list_problems, report_rows, to_document
from everfold.cli.replays.replaying import Replayed, play
from everfold.cli.replays.report_page import write_report
from everfold.cli.replays.serve_demo import serve_demo
from everfold.cli.tables.output import (
    Cell,
    Listing,
    make_table,
    open_console,
    print_json,
    show_progress,
    write_json,
    write_text,
)
from everfold.core.log.appending import Incoming
from everfold.core.log.visible import estimate_view_tokens
from everfold.demo.reading import read_demo
from everfold.services.sessions.import_transcript import read_messages

NAME = "demo"

SHARE: Final = 10
"""The conversation is this many times as large as the limit that it is folded to."""

_FILES: Final = {"conversation": "conversation.jsonl", "window": "window.json", "report": "report.html"}


_VERBATIM: Final = {
    "head": "word for word, as the head",
    "kept": "word for word, among the kept messages",
    "running": "word for word, in the running turn",
    "tail": "word for word, in the tail",
}
_QUOTED: Final = {
    "digest": "quoted in the newest digest",
    "rollup": "quoted in the digest of all that is old",
    "standing": "quoted in the standing instructions",
}


def run(
    context: typer.Context,
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder for the files.")] = Path("demo"),
    limit: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="The context limit. Default: a tenth of the conversation.")
    ] = None,
    *,
    serve: Annotated[bool, typer.Option("--serve", help="Open the demo in the dashboard instead.")] = False,
    port: Annotated[int | None, typer.Option(metavar="N", min=0, max=65_535, help="With --serve: the port.")] = None,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="With --serve: open a browser, if there is a display.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Fold a long sample conversation to a tenth of its size, and show where its important facts are.

    Writes the conversation, the last request as it would be sent, and a picture of the log. With --serve, the command
    loads conversations of two users, with folds, memory and a dream, into a store in the folder, and serves the dashboard.
    No model is called.

    Examples:
    - `everfold demo`
    - `everfold demo --serve`
    - `everfold demo --limit 16000 --folder /tmp/demo --json`
    """
    if serve:
        serve_demo(folder, port=port, opens_browser=open_browser, as_json=as_json)
    else:
        _fold_demo(context, folder, limit, as_json=as_json)


def _fold_demo(context: typer.Context, folder: Path, limit: int | None, *, as_json: bool) -> None:
    demo = read_demo()
    conversation = Conversation(name="Ilse and her pottery shop", messages=demo.messages)
    messages = read_messages(demo.messages, now=datetime.now(UTC))
    tokens = sum(estimate_view_tokens(message.view) for message in messages)
    limit = tokens // SHARE // 100 * 100 if limit is None else limit
    write_text(folder / _FILES["conversation"], "".join(json.dumps(it.wire) + "\n" for it in demo.messages))

    async def act() -> tuple[Replayed, list[FactPlace]]:
        async with open_scratch(context, None, settings=NO_MODEL) as engine:
            session = await engine.session(beside=True, user="ilse", agent="shop", limit=limit)
            if not as_json:
                open_console().print(_opening(messages, tokens, limit))
            with show_progress("folding", len(messages)) as advance:
                replayed = await play(session, conversation, provider="openai", advance=advance)
            await write_report(folder / _FILES["report"], session, replayed)
            return replayed, [await find_fact(session, replayed.window, fact) for fact in demo.facts]

    replayed, places = run_async(act)
    write_json(folder / _FILES["window"], replayed.request)
    if as_json:
        print_json({**to_document(replayed), "facts": places, "files": {k: str(folder / v) for k, v in _FILES.items()}})
    else:
        _print_outcome(replayed, places, folder)
    if not replayed.is_sound:
        raise typer.Exit(1)


def _opening(messages: Sequence[Incoming], tokens: int, limit: int) -> RenderableType:
    days = (messages[-1].said_at - messages[0].said_at).days
    text = Text.assemble(
        ("Ilse sells her pottery on the web. ", "bold"),
        f"She and her assistant talk for {days} days: {len(messages)} messages, {tokens:,} tokens, with tool calls, "
        f"a pasted notebook and changes of mind. The model takes {limit:,} tokens. ",
        ("So the conversation folds.", "bold"),
    )
    return Panel(text, title="everfold demo", title_align="left", border_style="cyan", padding=(1, 2))


def _print_outcome(replayed: Replayed, places: Sequence[FactPlace], folder: Path) -> None:
    console = open_console()
    console.print(make_table(("what the replay did", "", ""), report_rows(replayed)))
    console.print(_make_fact_table(places))
    console.print(_closing(replayed, places, folder))
    for problem in list_problems(replayed):
        console.print(Text(problem, style="bold red"))


def _make_fact_table(places: Sequence[FactPlace]) -> Listing:
    return make_table(
        ("planted fact", "message", "what was said", "and now"),
        [_fact_row(place) for place in places],
    )


def _fact_row(place: FactPlace) -> tuple[Cell, ...]:
    fact = place.fact
    is_old = fact.superseded_by is not None
    said = Text(fact.needle, style="dim strike" if is_old else "")
    return Text(fact.label, style="dim" if is_old else "bold"), fact.seq, said, _tell_place(place)


def _tell_place(place: FactPlace) -> Text:
    """Where a fact is, in words: shown, quoted, or readable in history."""
    fact = place.fact
    shown = [_VERBATIM[it] for it in place.verbatim] + [_QUOTED[it] for it in place.quoted]
    if fact.superseded_by is not None:
        ending = f"; {shown[0]}, before its correction" if shown else "; not shown as current"
        return Text(f"corrected by message {fact.superseded_by}{ending}", style="dim")
    if shown:
        return Text(" and ".join(shown), style="green")
    if place.search_rank:
        return Text(f"in history: hit {place.search_rank} of a search for its words", style="yellow")
    return Text(f"in history, as message {fact.seq}", style="red")


def _closing(replayed: Replayed, places: Sequence[FactPlace], folder: Path) -> RenderableType:
    current = [place for place in places if place.fact.superseded_by is None]
    shown = sum(bool(place.verbatim or place.quoted) for place in current)
    found = sum(place.is_found for place in current)
    report = replayed.report
    conversation = shlex.quote(str(folder / _FILES["conversation"]))
    lines = [
        Text.assemble(
            (f"{report.raw_tokens:,} tokens went in, {report.window_tokens:,} are shown. ", "bold"),
            f"Of {len(current)} facts that hold, {shown} stand in the window and {found - shown} more are one search away. ",
            ("Nothing is lost.", "bold green") if replayed.is_sound else ("Something is wrong.", "bold red"),
        ),
        Text(),
        Text.assemble(("what the model is shown   ", "dim"), str(folder / _FILES["window"])),
        Text.assemble(
            ("the log as strips         ", "dim"), str(folder / _FILES["report"]), ("   open it in a browser", "dim")
        ),
        Text.assemble(("try another limit         ", "dim"), f"everfold replay {conversation} --limit 16000"),
    ]
    return Panel(Group(*lines), border_style="cyan", padding=(1, 2))
