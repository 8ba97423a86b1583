"""`everfold erase`: remove messages, or a whole session, with all that was made of them."""

from dataclasses import dataclass
from typing import Annotated

import typer

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import print_json, print_table, say
from everfold.errors import InvalidInputError, NotFoundError, shorten
from everfold.services.forgetting.erase import Erased
from everfold.services.forgetting.wipe import ErasedSession

NAME = "erase"
_ITEMS = ("items", "kept", "topics", "superseded")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What went. `is_pending`: another reader holds on to the files, which still hold it."""

    messages: tuple[Erased, ...] = ()
    session: ErasedSession | None = None

    @property
    def parts(self) -> tuple[Erased | ErasedSession, ...]:
        return self.messages if self.session is None else (self.session,)

    @property
    def is_pending(self) -> bool:
        return any(part.is_pending for part in self.parts)

    @property
    def counts(self) -> dict[str, int]:
        if self.session is not None:
            counts = dict(self.session.counts)
        else:
            counts = {"messages": len(self.messages), "digests": _count(self.messages, "digests")}
        return {**counts, **{name: _count(self.parts, name) for name in _ITEMS}}


def run(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Its id; `everfold sessions` lists them.")],
    message: Annotated[
        list[int] | None,
        typer.Option("--message", "-m", metavar="SEQ", help="Only this message; may be repeated."),
    ] = None,
    db: Db = None,
    *,
    branches: Annotated[
        bool, typer.Option("--branches", help="With a whole session: also erase the sessions that share its messages.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Erase messages or a session, and everything derived only from them. This cannot be undone.

    Prints counts: `kept` items have other sources and lost only these quotes; `superseded` items can be restored with
    `everfold memory undo`. The last line says whether the text has been removed from the database files yet.

    Examples:
    - `everfold erase ses_1 --message 42 --db everfold.db`
    - `everfold erase ses_1 -m 42 -m 44 --yes --json`
    - `everfold erase ses_1 --branches --yes`
    """
    if message and branches:
        raise InvalidInputError("--branches is for a whole session; a message is always erased from every branch")
    what = f"messages {', '.join(map(str, message))} of session {session}" if message else f"session {session}"
    if not yes:
        _confirm(what, as_json=as_json)
    done = run_async(lambda: _erase(context, db, session, message or [], branches=branches))
    if as_json:
        print_json({"counts": done.counts, "is_pending": done.is_pending, "erased": done.parts})
        return
    print_table(("what", "count"), done.counts.items())
    if done.is_pending:
        say("the files are pending: another reader is using them; the next recovery or erase clears them")
    else:
        say("the text is no longer in the files")


def _confirm(what: str, *, as_json: bool) -> None:
    if as_json or not typer.confirm(shorten(f"Erase {what} for good?"), err=True):
        raise InvalidInputError(f"{what} was not erased; confirm with --yes")


async def _erase(context: typer.Context, db: Db, session_id: str, seqs: list[int], *, branches: bool) -> _Done:
    async with open_engine(context, db) as engine:
        if not seqs:
            return _Done(session=await engine.erase_session(session_id, branches=branches))
        session = await engine.session(id=session_id)
        found = {message.seq for seq in seqs for message in await session.messages(seq, seq) if not message.is_erased}
        if missing := sorted(set(seqs) - found):
            raise NotFoundError(
                f"session {session_id} has no message {missing[0]}, or it was erased before; nothing was erased",
                session=session_id,
                seq=missing[0],
            )
        return _Done(messages=tuple([await session.erase(seq) for seq in dict.fromkeys(seqs)]))


def _count(parts: tuple[Erased | ErasedSession, ...], name: str) -> int:
    return len({id_ for part in parts for id_ in getattr(part, name)})
