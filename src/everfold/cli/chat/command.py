"""`everfold chat`: talk with an agent in the terminal."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Agent, Db, Limit, User
from everfold.config import Settings, load_settings
from everfold.errors import InvalidInputError

NAME = "chat"

NO_MODEL: Final = (
    "no model is set for the agent {agent!r}. Set `model.name` or `model` in [agents.{agent}], EVERFOLD_MODEL__NAME, "
    "--model openai:gpt-5-mini, or --script FILE with lines such as {example}"
)
_EXAMPLE: Final = """{"text": "Hello."}"""


def run(
    context: typer.Context,
    agent: Agent = "default",
    user: User = "default",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="The model, such as `openai:gpt-5-mini`, instead of the one in the settings."
        ),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A script with the answers, instead of a model: JSONL, one step per line."),
    ] = None,
    limit: Limit = None,
    db: Db = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as one line of JSON.")] = False,
) -> None:
    """Chat with an agent. The conversation continues where it stopped, and every message is stored at once.

    Enter sends, Alt-Enter starts a new line, and a paste is one message. Lines that begin with `/` are commands; `/help`
    lists them. Ctrl-C stops an answer; at an empty prompt, it ends the chat. If the input is not a terminal, each line is a
    message, and the last error sets the exit code.

    Examples:
    - `everfold chat --model openai:gpt-5-mini --db chat.db`
    - `everfold chat --agent shop --user ilse`
    - `echo "What did we decide?" | everfold chat --script answers.jsonl --json`
    """
    settings, chosen = _load(context, agent, model, script)
    from everfold.cli.chat.terminal import talk  # it brings Pydantic AI along, which takes a second

    url = f"sqlite:///{db}" if db is not None else settings.store.url
    code = talk(settings, url=url, agent=agent, user=user, model=chosen, limit=limit, as_json=as_json)
    raise typer.Exit(code)


def _load(context: typer.Context, agent: str, model: str | None, script: Path | None) -> tuple[Settings, str | None]:
    """The settings, and the model that is named on the command line.

    Raises:
        InvalidInputError: two are named, or none anywhere, or the extra `agents` is missing.
    """
    if find_spec("pydantic_ai") is None:
        raise InvalidInputError("a chat needs the extra `agents`: pip install 'everfold[agents]'")
    if model is not None and script is not None:
        raise InvalidInputError("--model and --script exclude each other; give one of them")
    overrides: Mapping[str, Mapping[str, object]] = {} if model is None else {"model": {"name": model}}
    settings = load_settings(invocation_of(context).config, overrides)
    own = settings.agents.get(agent)
    chosen = f"script:{script}" if script is not None else model
    if chosen is None and settings.model.name is None and (own is None or own.model is None):
        raise InvalidInputError(NO_MODEL.format(agent=agent, example=_EXAMPLE))
    return settings, chosen
