"""Names of agents: what an agent can be called, its memory can be exported and imported under."""

import pytest

from everfold.core.primitives.ids import MOST_ID_CHARS, parse_agent
from everfold.errors import InvalidInputError


@pytest.mark.parametrize(
    "name",
    [
        "default",
        "team/reviewer",
        "Ada's helper",
        "agent:1",
        "\u52a9\u624b",
        "a..b",
        "..a",
        "v1.2",
        ".",
        "./shop",
        "team/./bot",
    ],
)
def test_an_agent_has_the_name_that_it_is_given(name: str) -> None:
    """Names with slashes, colons, dots and letters of every script are names of agents."""
    assert parse_agent(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "..",
        "../x",
        "team/../bot",
        "..\\x",
        "a\tb",
        "a\nb",
        "a\x85b",
        "\x1b[2J",
        "a\0",
        "a" * (MOST_ID_CHARS + 1),
    ],
)
def test_what_an_import_refuses_names_no_agent(name: str) -> None:
    """A name that leads out of a folder or does not stand on one line is refused before anything is stored under it."""
    with pytest.raises(InvalidInputError, match="agent must"):
        parse_agent(name)
