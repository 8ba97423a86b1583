"""`everfold agents`: the agents of the settings."""

from typing import TypedDict

import typer

from everfold.agents.described_agents import name_tools
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Json
from everfold.cli.tables.output import print_json, print_table, say
from everfold.config import Settings, load_settings

NAME = "agents"


def run(context: typer.Context, *, as_json: Json = False) -> None:
    """List the agents of the settings: the model, the tools and the memory of each.

    An agent without a table `[agents.NAME]` can also be used; it has the settings of `[model]` and `[memory]`.

    Examples:
    - `everfold agents`
    - `everfold --config shop.toml agents --json`
    """
    settings = load_settings(invocation_of(context).config)
    rows = [_describe(settings, name) for name in settings.agents]
    if as_json:
        print_json({"agents": rows})
        return
    if not rows:
        say("no agent is configured; add a table [agents.NAME] to everfold.toml", style="dim")
        return
    print_table(
        ("agent", "model", "limit", "tools", "memory"),
        [
            (row["name"], row["model"] or "none", row["context_limit"], ", ".join(row["tools"]), row["memory"])
            for row in rows
        ],
    )


class _Row(TypedDict):
    name: str
    model: str | None
    context_limit: int
    instructions: str
    tools: list[str]
    memory: str


def _describe(settings: Settings, name: str) -> _Row:
    agent = settings.agents[name]
    return _Row(
        name=name,
        model=agent.model or settings.model.name,
        context_limit=settings.session_settings(name).limit_tokens,
        instructions=agent.instructions,
        tools=name_tools(agent.tools, agent.mcp),
        memory=settings.memory_policy(name).system,
    )
