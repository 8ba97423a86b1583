"""`everfold import`: store the conversations of transcripts, or the memory of a user."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from everfold.adapters.transcripts import Found, read_transcripts
from everfold.adapters.transcripts.documents import STDIN_NAME
from everfold.cli.opening.engine import ask_engine, open_engine, run_async, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Agent, Db, Format, Json, Limit, User, told_of
from everfold.cli.opening.user_document import find_user_document
from everfold.cli.tables.output import Advance, print_json, print_table, say, show_progress
from everfold.core.log.transcripts import Transcript
from everfold.core.memory.records import MemoryVersion
from everfold.core.primitives.json_values import JsonObject
from everfold.engine import Everfold
from everfold.errors import InvalidInputError
from everfold.services.sessions.import_transcript import Imported

NAME = "import"

Sources = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Transcripts: files, folders, zip archives, or `-` for standard input."),
]


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """What became of each file."""

    is_single: bool
    formats: dict[str, str] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    sessions: list[Imported] = field(default_factory=list)
    other: list[Found] = field(default_factory=list)
    broken: list[Found] = field(default_factory=list)


def run(
    context: typer.Context,
    files: Sources,
    user: User = "default",
    agent: Agent = "default",
    limit: Limit = None,
    format: Format = None,  # noqa: A002 - the word that users know
    db: Db = None,
    *,
    transcripts: Annotated[
        bool, typer.Option("--transcripts/--no-transcripts", help="With an export: store its sessions too.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Store each conversation of a transcript as a session, or import the export of a user.

    Importing the log of a coding agent again adds its new messages to the same session. Lines of unknown types are skipped
    and counted.

    A broken file is refused with the line and the reason, and nothing from it is stored. In a folder or a zip archive, the
    other files are stored, and the exit code is 1. Files without a conversation in a known format are skipped and listed.

    The current session of the user and the agent stays current; if there is none, the first imported session becomes
    current. A file of `everfold export` is detected by its content and becomes the memory of --user, who must have none.

    Examples:
    - `everfold import chatgpt-export.zip`
    - `everfold import ~/.claude/projects ~/.gemini/tmp --user ilse`
    - `everfold import export.jsonl --db everfold.db --user ilse --agent shop --json`
    - `everfold import ilse.json --db everfold.db --user ilse`
    """
    only = files[0] if len(files) == 1 else None
    if only is not None and format is None and (document := find_user_document(only)) is not None:
        _tell_memory(only, user, _import_memory(context, document, user, db, transcripts=transcripts), as_json=as_json)
        return
    outcome = _import_all(context, files, format, user, agent, limit, db)
    if as_json:
        print_json(_describe(files, outcome))
    else:
        _tell(outcome, _describe_place(context, db))
    if outcome.broken:
        raise typer.Exit(1)


def _tell_memory(file: Path, user: str, version: MemoryVersion, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(file), "user": user, "memory": version})
    else:
        print_table(("memory of", "revision", "epoch"), [(user, version.revision, version.epoch)])


def _import_memory(
    context: typer.Context, document: JsonObject, user: str, db: Path | None, *, transcripts: bool
) -> MemoryVersion:
    return ask_engine(
        context, db, lambda engine: engine.import_user(document, user=user, transcripts=transcripts), must_exist=False
    )


def _import_all(
    context: typer.Context,
    files: Sequence[Path],
    format_name: str | None,
    user: str,
    agent: str,
    limit: int | None,
    db: Path | None,
) -> _Outcome:
    """Store every file that can be read. A single file that cannot be read is refused before a store is opened."""
    found = _read_all(files, format_name)
    first = next(found)
    is_single = len(files) == 1 and first.name in {str(files[0]), STDIN_NAME}
    if first.error is not None and is_single:
        raise first.error

    async def act() -> _Outcome:
        outcome = _Outcome(is_single=is_single)
        async with open_engine(context, db, must_exist=False) as engine:
            with show_progress("import", None) as advance:
                for one in _chain(first, found):
                    await _import_one(engine, one, outcome, advance, user=user, agent=agent, limit=limit)
        return outcome

    return run_async(act)


def _read_all(files: Sequence[Path], format_name: str | None) -> Iterator[Found]:
    for path in files:
        yield from read_transcripts(path, format=format_name)


def _chain(first: Found, rest: Iterable[Found]) -> Iterator[Found]:
    yield first
    yield from rest


async def _import_one(
    engine: Everfold, found: Found, outcome: _Outcome, advance: Advance, *, user: str, agent: str, limit: int | None
) -> None:
    if found.transcript is None:
        (outcome.other if found.is_other else outcome.broken).append(found)
        return
    try:
        with told_of(Path(found.name)):
            await _store(engine, found.transcript, outcome, advance, user=user, agent=agent, limit=limit)
    except InvalidInputError as error:
        if outcome.is_single:
            raise
        outcome.broken.append(replace(found, error=error))
        return
    outcome.formats[found.name] = found.transcript.format


async def _store(
    engine: Everfold,
    transcript: Transcript,
    outcome: _Outcome,
    advance: Advance,
    *,
    user: str,
    agent: str,
    limit: int | None,
) -> None:
    before = sum(one.stored_count for one in outcome.sessions)
    imported: dict[str, Imported] = {}
    async for step in engine.import_transcript(transcript, user=user, agent=agent, limit=limit):
        imported[step.session] = step
        advance(before + sum(one.stored_count for one in imported.values()), step.name)
    outcome.sessions += imported.values()
    outcome.skipped += Counter(transcript.skipped)


def _describe(files: Sequence[Path], outcome: _Outcome) -> dict[str, object]:
    """The outcome as one document; the form of a single file stays as it was before there could be several."""
    single = {"file": str(files[0]), "format": next(iter(outcome.formats.values()), None)} if len(files) == 1 else {}
    return {
        **single,
        "files": outcome.formats,
        "sessions": outcome.sessions,
        "passed_over": [one.name for one in outcome.other],
        "skipped": dict(outcome.skipped),
        "broken": {one.name: str(one.error) for one in outcome.broken},
    }


def _name_together(names: Sequence[str]) -> str:
    """The names of files, those of one archive behind it."""
    inside: dict[str, list[str]] = {}
    for name in names:
        archive, _, member = name.rpartition(": ")
        inside.setdefault(archive, []).append(member)
    return "; ".join(
        f"{archive}: {', '.join(members)}" if archive else ", ".join(members) for archive, members in inside.items()
    )


def _describe_place(context: typer.Context, db: Path | None) -> str:
    """Where the sessions can be seen."""
    if store_url(invocation_of(context), db) == "memory://":
        return "nothing was kept: the store is in memory; name a database with --db FILE"
    named = f" --db {shlex.quote(str(db))}" if db else ""
    return f"`everfold serve{named}` shows them in the dashboard"


def _tell(outcome: _Outcome, place: str) -> None:
    if outcome.sessions:
        print_table(
            ("conversation", "session", "messages"), [(it.name, it.session, it.stored_count) for it in outcome.sessions]
        )
    if outcome.skipped:
        say(f"skipped lines: {', '.join(f'{count} {kind}' for kind, count in outcome.skipped.items())}")
    if outcome.other:
        say(f"skipped, no conversation found in: {_name_together([one.name for one in outcome.other])}")
    for one in outcome.broken:
        say(f"not stored: {one.error}", style="bold red")
    if outcome.sessions:
        say(place, is_whole=True)
    else:
        say("nothing was stored; docs/reference/transcripts.md lists the supported formats")
