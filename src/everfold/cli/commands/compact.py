"""`everfold compact`: compact a session now."""

from collections.abc import Sequence
from typing import Annotated

import typer

from everfold.cli.opening.engine import choose_session, open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Json, SessionArgument, User
from everfold.cli.tables.output import Cell, make_table, open_console, plain, print_json
from everfold.core.compaction.folding import Digest, Fold

NAME = "compact"
_COLUMNS = ("by", "messages", "kept", "folded", "folded later", "tokens", "digest", "sent again")


def run(
    context: typer.Context,
    session: SessionArgument = None,
    keep_recent: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="How many of the newest messages stay. Default: `compaction.keep_recent`."
        ),
    ] = None,
    focus: Annotated[str | None, typer.Option(metavar="TEXT", help="What the digest should focus on.")] = None,
    user: User = "default",
    agent: Agent = "default",
    db: Db = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Compact a session now, even if no compaction is due. Waits for a model's digest.

    If the model takes longer than `compaction.summary_timeout_secs`, an extractive digest is used until it is ready.

    Examples:
    - `everfold compact --db everfold.db --dry-run`
    - `everfold compact ses_01 --keep-recent 12 --focus "prices of bowls" --json`
    """

    async def act() -> tuple[str, list[Fold], str]:
        async with open_engine(context, db) as engine:
            found = await choose_session(engine, session, user=user, agent=agent)
            folds = await found.compact(keep_recent=keep_recent, focus=focus, dry_run=dry_run)
            return found.id, folds, await found.inspect.note()

    session_id, folds, note = run_async(act)
    if as_json:
        documents = [_to_document(fold) for fold in folds]
        print_json({"session": session_id, "dry_run": dry_run, "folds": documents, "note": note})
    else:
        _print_folds(folds, note, dry_run=dry_run)


def _find_digest(fold: Fold) -> Digest | None:
    return next((digest for digest in fold.digests if digest.kind == "digest"), None)


def _to_document(fold: Fold) -> dict[str, object]:
    digests = [
        {
            "kind": digest.kind,
            "generator": digest.generator,
            "first_seq": digest.first_seq,
            "last_seq": digest.last_seq,
            "tokens": digest.tokens,
            "text": digest.text,
        }
        for digest in fold.digests
    ]
    return {"compaction": fold.certificate.compaction_id, "report": fold.report, "digests": digests}


def _print_folds(folds: Sequence[Fold], note: str, *, dry_run: bool) -> None:
    console = open_console()
    if not folds:
        console.print("nothing to fold")
        return
    console.print(make_table(_COLUMNS, [_line(fold) for fold in folds], title="would be done" if dry_run else None))
    newest = _find_digest(folds[-1])
    for text in (note, newest.text if newest else ""):
        if text:
            console.print(plain(text), soft_wrap=True, markup=False)


def _line(fold: Fold) -> tuple[Cell, ...]:
    report, fine = fold.report, _find_digest(fold)
    return (
        report.trigger,
        f"{report.first_seq}-{report.last_seq}" if report.last_seq >= report.first_seq else "",
        report.kept_count,
        report.folded_count,
        report.folded_later_count,
        f"{report.tokens_before:,} > {report.tokens_after:,}",
        fine.generator if fine else "none",
        f"{report.resent_tokens:,} tokens",
    )
