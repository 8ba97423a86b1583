"""The agents that the settings describe."""

from collections.abc import Mapping

from everfold.sections import McpSettings


def name_tools(tools: tuple[str, ...], mcp: Mapping[str, McpSettings]) -> list[str]:
    """The tools of an agent or a hand: functions by path, those of a server as a model knows them, `SERVER_*` for all."""
    named = list(tools)
    for server, settings in mcp.items():
        named += [f"{server}_*"] if settings.allow is None else [f"{server}_{tool}" for tool in settings.allow]
    return named
