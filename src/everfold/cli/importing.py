"""`everfold import`: store the conversations of a transcript, or the memory of a user."""

from pathlib import Path
from typing import Annotated

import typer

from everfold.adapters.transcripts import read_transcript
from everfold.cli.engine import open_engine, run_async
from everfold.cli.options import Agent, Db, Format, Json, Limit, TranscriptFile, User, told_of
from everfold.cli.output import print_json, print_table, show_progress
from everfold.cli.user_document import find_user_document
from everfold.core.json_values import JsonObject
from everfold.core.memory import MemoryHead
from everfold.core.transcripts import Transcript
from everfold.services.import_transcript import Imported

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
        bool, typer.Option("--transcripts/--no-transcripts", help="Of an export, store its sessions too.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Store every conversation of a transcript as a session of its own, or what an export of a user holds.

    A file that is broken anywhere is refused with the line and the reason, and nothing of it is stored. The sessions stand
    beside the current one of the user and the agent; where there is none, the first of them becomes it. What `everfold
    export` wrote is told by its content, and becomes the memory of --user, who must have none yet, with
    the sessions that are in it.

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


def _tell_memory(file: Path, user: str, head: MemoryHead, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(file), "user": user, "memory": head})
    else:
        print_table(("memory of", "revision", "epoch"), [(user, head.revision, head.epoch)])


def _import_memory(
    context: typer.Context, document: JsonObject, user: str, db: Path | None, *, transcripts: bool
) -> MemoryHead:
    async def act() -> MemoryHead:
        async with open_engine(context, db, must_exist=False) as engine:
            return await engine.import_user(document, user=user, transcripts=transcripts)

    return run_async(act)


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
