"""`everfold verify`: check everything that the certificates claim."""

import typer

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import Db, Json, Session
from everfold.cli.tables.output import print_json, print_table, show_progress
from everfold.engine import Everfold
from everfold.services.inspection.verify import Verification

NAME = "verify"


def run(context: typer.Context, session: Session = None, db: Db = None, *, as_json: Json = False) -> None:
    """Check that nothing is lost: every message, every certificate, every digest in the window, and the files.

    Exits with 1 if there is a problem.

    Examples:
    - `everfold verify --db everfold.db`
    - `everfold verify --db everfold.db --session ses_01 --json`
    """

    async def act() -> tuple[list[str], list[Verification]]:
        async with open_engine(context, db) as engine:
            ids = [session] if session is not None else await _list_ids(engine)
            verified: list[Verification] = []
            with show_progress("verify", len(ids)) as advance:
                for done, session_id in enumerate(ids, 1):
                    verified.append(await (await engine.session(id=session_id)).verify())
                    advance(done, session_id)
            return await engine.admin.check_store(), verified

    problems, verified = run_async(act)
    if as_json:
        print_json({"store": problems, "sessions": verified})
    else:
        _print_verified(problems, verified)
    if problems or not all(it.is_sound for it in verified):
        raise typer.Exit(1)


def _print_verified(problems: list[str], verified: list[Verification]) -> None:
    rows = [(it.session, it.messages_count, it.compactions_count, len(it.problems)) for it in verified]
    print_table(("session", "messages", "folds", "problems"), rows)
    found: list[tuple[str, int, str, str]] = [
        (it.session, problem.seq, problem.compaction_id, problem.problem) for it in verified for problem in it.problems
    ]
    found += [("store", 0, "", problem) for problem in problems]
    if found:
        print_table(("where", "message", "compaction", "what was found"), found)


async def _list_ids(engine: Everfold) -> list[str]:
    ids: list[str] = []
    while records := await engine.list_sessions(after=ids[-1] if ids else None):
        ids += [record.id for record in records]
    return ids
