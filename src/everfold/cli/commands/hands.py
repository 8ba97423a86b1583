"""`everfold hands`: the hands of the settings, and a question to one of them."""

from typing import Annotated

import typer

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.agents.described_agents import name_tools
from everfold.agents.hands import Hand, HandAnswer, Hands
from everfold.cli.opening.engine import open_runtime, run_async
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import plain, print_json, print_table, say
from everfold.config import load_settings
from everfold.errors import InvalidInputError

NAME = "hands"

app = typer.Typer(name=NAME, invoke_without_command=True)


@app.callback()
def run(context: typer.Context, *, as_json: Json = False) -> None:
    """List the hands of the settings: short-lived agents that answer one question in isolation.

    Examples:
    - `everfold hands`
    - `everfold --config shop.toml hands --json`
    """
    if (command := context.invoked_subcommand) is not None:
        if as_json:
            raise InvalidInputError(f"put the options after `{command}`: everfold hands {command} ... --json")
        return
    settings = load_settings(invocation_of(context).config)
    hands = Hands(settings=settings, clock=SystemClock(), ids=RandomIds()).list()
    allowed = {entry.hand for entry in settings.compaction.context_sources}
    if as_json:
        print_json({"hands": [_describe(hand, is_asked=hand.name in allowed) for hand in hands]})
    elif not hands:
        say("no hand is configured; add a table [hands.NAME] to everfold.toml", style="dim")
    else:
        print_table(
            ("hand", "model", "tools", "tokens", "seconds", "at refreshes"),
            [
                (
                    hand.name,
                    hand.model or "none",
                    ", ".join(name_tools(hand.settings.tools, hand.settings.mcp)),
                    hand.settings.max_output_tokens,
                    f"{hand.settings.timeout_secs:g}",
                    "asked" if hand.name in allowed else "not asked",
                )
                for hand in hands
            ],
        )


@app.command()
def ask(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The hand, by its name or its id.")],
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The question.")],
    max_output_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-output-tokens", metavar="N", min=1, help="The most tokens of the answer, if less than the setting."
        ),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECS", help="Timeout, if less than the setting.")
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Ask a hand one question now, and print its answer as an agent would see it. Only its token usage is stored.

    Examples:
    - `everfold hands ask calendar "What is on tomorrow?"`
    - `everfold hands ask calendar "What is on tomorrow?" --max-output-tokens 200 --timeout 10 --json`
    """

    async def act() -> HandAnswer:
        async with open_runtime(context, db, must_exist=False) as opened:
            return await opened.hands.ask(name, prompt, max_output_tokens=max_output_tokens, timeout=timeout)

    answer = run_async(act)
    if as_json:
        print_json(answer)
        return
    typer.echo(plain(answer.fenced))
    cost = "" if answer.cost_usd is None else f", {answer.cost_usd:.4f} USD"
    say(
        f"{answer.tokens:,} tokens in {answer.elapsed_secs:.1f} s; the model read {answer.input_tokens:,} and wrote "
        f"{answer.output_tokens:,} in {answer.requests_count} requests{cost}",
        style="dim",
    )


def _describe(hand: Hand, *, is_asked: bool) -> dict[str, object]:
    return {
        "id": hand.id,
        "name": hand.name,
        "model": hand.model,
        "instructions": hand.settings.instructions,
        "tools": name_tools(hand.settings.tools, hand.settings.mcp),
        "max_output_tokens": hand.settings.max_output_tokens,
        "timeout_secs": hand.settings.timeout_secs,
        "is_asked": is_asked,
    }
