"""`everfold replay`: play a transcript as a live session would, and report what came of it."""

from pathlib import Path
from typing import Annotated

import typer

from everfold.adapters.transcripts import Conversation, Transcript, read_transcript
from everfold.cli.opening.engine import name_model, open_scratch, require_one, run_async
from everfold.cli.opening.options import Format, Json, Limit, ProviderOption, TranscriptFile, require_apart, told_of
from everfold.cli.replays.replay_report import print_replayed, to_document
from everfold.cli.replays.replaying import Replayed, play
from everfold.cli.replays.report_page import write_report
from everfold.cli.tables.output import print_json, say, show_progress, write_json
from everfold.core.observation.costs import UNIT_PRICES, Prices
from everfold.core.windows.rendering import Provider
from everfold.engine import Everfold
from everfold.errors import InvalidInputError

NAME = "replay"

RequestFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the last request, as it would be sent, as JSON.")
]
PageFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a picture of the log as a self-contained page.")
]
ModelName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The model that writes digests, such as `openai:NAME`. Default: `compaction.model`.",
    ),
]
ScriptFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A script instead of the model, as `script:FILE`.")
]
DatabaseFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Store the session in this database. Default: in memory.")
]
Price = Annotated[float, typer.Option(min=0, metavar="N", help="The price of a million input tokens, in any currency.")]
CachedPrice = Annotated[
    float,
    typer.Option(min=0, metavar="N", help="The price of a million input tokens that the provider has cached."),
]
Choice = Annotated[
    str,
    typer.Option(
        metavar="N|all|chain",
        help="One conversation by number, all of them each in its own session, or all chained in one session.",
    ),
]


def run(  # noqa: PLR0913, PLR0917 - an option is an argument
    context: typer.Context,
    file: TranscriptFile,
    limit: Limit = None,
    conversation: Choice = "1",
    provider: ProviderOption = "openai",
    format: Format = None,  # noqa: A002 - the word that users know
    out: RequestFile = None,
    html: PageFile = None,
    model: ModelName = None,
    script: ScriptFile = None,
    db: DatabaseFile = None,
    price: Price = UNIT_PRICES.input,
    cached_price: CachedPrice = UNIT_PRICES.cached,
    *,
    as_json: Json = False,
) -> None:
    """Replay a transcript message by message, as in a live session, and report the result.

    Each request is built, checked against the provider's rules, and compared with the previous one. Nothing is stored
    unless `--db` names a database. With a model, the replay waits for each digest, and the report covers them.

    The report compares the input cost of three ways: folded requests, whole requests, and requests cut to the newest
    messages. The default prices are only relative: set your provider's with `--price` and `--cached-price`.

    Examples:
    - `everfold replay chat.json --limit 8000`
    - `everfold replay chat.json --limit 8000 --out window.json --html report.html`
    - `everfold replay logs.jsonl --limit 32000 --conversation chain --provider anthropic --json`
    - `everfold replay chat.json --limit 8000 --script steps.jsonl`
    - `everfold replay chat.json --limit 8000 --price 3 --cached-price 0.3`
    """
    settings = name_model(model, script)
    prices = Prices(input=price, cached=cached_price)
    require_apart({"--out": out, "--html": html}, {"the transcript": file, "--db": db, "--script": script})
    transcript = read_transcript(file, format=format)
    chosen = choose_conversations(transcript, conversation)
    if out or html:
        require_one(len(chosen), "--out" if out else "--html")
    if conversation == "1" and len(transcript.conversations) > 1:
        say(f"{file} has {len(transcript.conversations)} conversations; this is the first. See --conversation.")

    async def act() -> list[Replayed]:
        async with open_scratch(context, db, settings=settings) as engine:
            return [await replay_one(engine, it, limit=limit, provider=provider, out=out, html=html) for it in chosen]

    with told_of(file):
        replayed = run_async(act)
    if as_json:
        documents = [to_document(it, prices) for it in replayed]
        print_json({"file": str(file), "format": transcript.format, "replays": documents})
    else:
        print_replayed(replayed, prices)
    if any(not it.is_sound for it in replayed):
        raise typer.Exit(1)


def choose_conversations(transcript: Transcript, choice: str) -> list[Conversation]:
    """The conversations to play, each into a session of its own.

    Raises:
        InvalidInputError: there is none of that number.
    """
    held = [conversation for conversation in transcript.conversations if conversation.messages]
    if choice == "all":
        return held
    if choice == "chain":
        messages = tuple(message for conversation in held for message in conversation.messages)
        return [Conversation(name="chain", messages=messages, tools=held[0].tools, system=held[0].system)]
    if choice.isdecimal() and 1 <= int(choice) <= len(held):
        return [held[int(choice) - 1]]
    raise InvalidInputError(
        f"--conversation takes all, chain or a number from 1 to {len(held)}, got {choice!r}", conversation=choice
    )


async def replay_one(
    engine: Everfold,
    conversation: Conversation,
    *,
    limit: int | None,
    provider: Provider,
    out: Path | None = None,
    html: Path | None = None,
) -> Replayed:
    """Play one conversation into a session of its own, and write what was asked for."""
    prompt = conversation.prompt
    session = await engine.session(beside=True, user="replay", limit=limit, system=prompt.system, tools=prompt.tools)
    with show_progress(conversation.name, len(conversation.messages)) as advance:
        replayed = await play(session, conversation, provider=provider, advance=advance)
    if out is not None:
        write_json(out, replayed.request)
    if html is not None:
        await write_report(html, session, replayed)
    return replayed
