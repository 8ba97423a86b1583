"""`everfold import`: store the conversations of a transcript."""

import typer

from everfold.adapters.transcripts import read_transcript
from everfold.cli.engine import open_engine, run_async
from everfold.cli.options import Agent, Db, Format, Json, Limit, TranscriptFile, User
from everfold.cli.output import print_json, print_table, show_progress
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
    as_json: Json = False,
) -> None:
    """Store every conversation of a transcript as a session of its own.

    A file that is broken anywhere is refused with the line and the reason, and nothing of it is stored. The sessions stand
    beside the current one of the user and the agent; where there is none, the first of them becomes it.

    Examples:
    - `everfold import chat.json --db everfold.db`
    - `everfold import export.jsonl --db everfold.db --user ilse --agent shop --json`
    """
    transcript = read_transcript(file, format=format)
    total = sum(len(conversation.messages) for conversation in transcript.conversations)

    async def act() -> list[Imported]:
        imported: dict[str, Imported] = {}
        async with open_engine(context, db, must_exist=False) as engine:
            with show_progress("import", total) as advance:
                async for step in engine.import_transcript(transcript, user=user, agent=agent, limit=limit):
                    imported[step.session] = step
                    advance(sum(it.stored_count for it in imported.values()), step.name)
        return list(imported.values())

    imported = run_async(act)
    if as_json:
        print_json({"file": str(file), "format": transcript.format, "sessions": imported})
    else:
        print_table(
            ("conversation", "session", "messages"), [(it.name, it.session, it.stored_count) for it in imported]
        )
