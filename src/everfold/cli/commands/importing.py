"""`everfold import`: store the conversations of a transcript, or the memory of a user."""

from pathlib import Path
from typing import Annotated

import typer

from everfold.adapters.transcripts import read_transcript
from everfold.cli.opening.engine import ask_engine, open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Format, Json, Limit, TranscriptFile, User, told_of
from everfold.cli.opening.user_document import find_user_document
from everfold.cli.tables.output import print_json, print_table, show_progress
from everfold.core.log.transcripts import Transcript
from everfold.core.memory.records import MemoryVersion
from everfold.core.primitives.json_values import JsonObject
from everfold.services.sessions.import_transcript import Imported

NAME = "import"


def run(
    context: typer.Context,
    file: TranscriptFile,
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
    """Store each conversation of a transcript as a session, or restore the export of a user.

    A broken file is refused with the line and the reason, and nothing is stored. The current session of the user and
    the agent stays current; if there is none, the first imported session becomes current. An export of `everfold export`
    is detected by its content and becomes the memory of --user, who must have none yet.

    Examples:
    - `everfold import chat.json --db everfold.db`
    - `everfold import export.jsonl --db everfold.db --user ilse --agent shop --json`
    - `everfold import ilse.json --db everfold.db --user ilse`
    """
    if format is None and (document := find_user_document(file)) is not None:
        _tell_memory(file, user, _import_memory(context, document, user, db, transcripts=transcripts), as_json=as_json)
        return
    transcript = read_transcript(file, format=format)
    with told_of(file):
        imported = _import_sessions(context, transcript, user, agent, limit, db)
    if as_json:
        print_json({"file": str(file), "format": transcript.format, "sessions": imported})
    else:
        print_table(
            ("conversation", "session", "messages"), [(it.name, it.session, it.stored_count) for it in imported]
        )


def _tell_memory(file: Path, user: str, head: MemoryVersion, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(file), "user": user, "memory": head})
    else:
        print_table(("memory of", "revision", "epoch"), [(user, head.revision, head.epoch)])


def _import_memory(
    context: typer.Context, document: JsonObject, user: str, db: Path | None, *, transcripts: bool
) -> MemoryVersion:
    return ask_engine(
        context, db, lambda engine: engine.import_user(document, user=user, transcripts=transcripts), must_exist=False
    )


def _import_sessions(
    context: typer.Context, transcript: Transcript, user: str, agent: str, limit: int | None, db: Path | None
) -> list[Imported]:
    total = sum(len(conversation.messages) for conversation in transcript.conversations)

    async def act() -> list[Imported]:
        imported: dict[str, Imported] = {}
        async with open_engine(context, db, must_exist=False) as engine:
            with show_progress("import", total) as advance:
                async for step in engine.import_transcript(transcript, user=user, agent=agent, limit=limit):
                    imported[step.session] = step
                    advance(sum(it.stored_count for it in imported.values()), step.name)
        return list(imported.values())

    return run_async(act)
