"""Items as people and programs read them."""

from collections.abc import Sequence

from rich.text import Text

from everfold.cli.tables.output import open_console, plain, print_json
from everfold.cli.tables.shown import ROLE_STYLE
from everfold.core.memory.items import Evidence, Item
from everfold.memory import Because

AROUND_CHARS = 400
"""How much of a message is shown on either side of a quote."""


def print_items(items: Sequence[Item]) -> None:
    """Print each item: its id, revision and what it is in a line, what it says below."""
    for item in items:
        _print_one(f"{item.id} {item.revision}  {_kind(item)}", item)
    if not items:
        open_console().print("nothing to show")


def show_item(item: Item, *, as_json: bool) -> None:
    """Print one item."""
    print_json(to_document(item)) if as_json else print_items([item])


def print_revisions(revisions: Sequence[Item]) -> None:
    """Print what an item was, oldest first, and where it was said."""
    for item in revisions:
        _print_one(f"revision {item.revision}, {item.changed_at:%Y-%m-%d %H:%M} by {item.written_by}", item)
    places = ", ".join(f"{one.session_id} {one.seq}" for one in revisions[-1].evidence)
    told = f"said in {places}" if places else "no source message"
    open_console().print(Text(f"{_kind(revisions[-1])}, {told}", style="dim"), soft_wrap=True)


def print_because(found: Sequence[Because]) -> None:
    """Print each message with the quote in it marked, oldest first."""
    console = open_console()
    for because in found:
        evidence = because.evidence
        message = because.message
        who = evidence.origin if message is None else message.view.name or message.view.role
        style = "" if message is None else ROLE_STYLE[message.view.role]
        console.print(Text(f"{evidence.seq} {who}", style=style), _where(evidence))
        console.print(_mark(because), soft_wrap=True)
        console.print()
    if not found:
        console.print("no source message: the item was entered by hand, or the message was erased")


def to_document(item: Item) -> dict[str, object]:
    """One revision of an item as a JSON value."""
    return {
        "id": item.id,
        "revision": item.revision,
        "status": item.status,
        "tier": item.tier,
        "kind": item.kind,
        "statement": item.statement,
        "agent": item.agent_id,
        "origin": item.origin,
        "confidence": item.confidence,
        "is_explicit": item.is_explicit,
        "shelf": item.shelf,
        "valid_from": item.valid_from,
        "valid_to": item.valid_to,
        "recorded_at": item.recorded_at,
        "last_seen_at": item.last_seen_at,
        "changed_at": item.changed_at,
        "written_by": item.written_by,
        "supersedes": item.supersedes,
        "superseded_by": item.superseded_by,
        "threats": item.threats,
        "evidence": [_to_place(one) for one in item.evidence],
    }


def explain_document(because: Because) -> dict[str, object]:
    """One place where an item was said, with the whole message; its text is null where it was erased."""
    message = because.message
    return {
        **_to_place(because.evidence),
        "role": None if message is None else message.view.role,
        "text": None if message is None else message.view.text,
    }


def _to_place(evidence: Evidence) -> dict[str, object]:
    return {
        "session": evidence.session_id,
        "seq": evidence.seq,
        "said_at": evidence.said_at,
        "origin": evidence.origin,
        "start": evidence.start,
        "quote": evidence.quote,
    }


def _print_one(head: str, item: Item) -> None:
    console = open_console()
    console.print(Text(head, style="bold"), Text(f" {_since(item)}  {_status(item)}", style="dim"), soft_wrap=True)
    console.print(Text(plain(item.statement)), soft_wrap=True)
    console.print()


def _kind(item: Item) -> str:
    return f"{item.tier} {item.kind.replace('_', ' ')}"


def _since(item: Item) -> str:
    since = f"{item.valid_from:%Y-%m-%d}"
    return since if item.valid_to is None else f"{since} until {item.valid_to:%Y-%m-%d}"


def _status(item: Item) -> str:
    if item.threats:
        return f"{item.status}: {', '.join(item.threats)}"
    if item.superseded_by is not None and item.status == "superseded":
        return f"superseded by {item.superseded_by}"
    is_archived = item.status == "active" and item.shelf == "archive"
    return "archived" if is_archived else item.status


def _where(evidence: Evidence) -> Text:
    return Text(f"{evidence.said_at:%Y-%m-%d %H:%M}  {evidence.session_id}", style="dim")


def _mark(because: Because) -> Text:
    """The message around the quote, which stands between guillemets; the quote alone where the message is gone."""
    quote, start = because.evidence.quote, because.evidence.start
    text = "" if because.message is None else because.message.view.text
    end = start + len(quote)
    if text[start:end] != quote:
        left = "[the message was erased]" if because.message is None else "[secrets are left out of the quote]"
        return Text(f"{left} «{plain(quote)}»")
    first, last = max(start - AROUND_CHARS, 0), min(end + AROUND_CHARS, len(text))
    marked = Text("… " if first else "")
    marked.append(plain(text[first:start]))
    marked.append(f"«{plain(quote)}»", style="bold underline")
    marked.append(plain(text[end:last]))
    return marked.append(" …" if last < len(text) else "")
