"""What the command `everfold` starts with: the command line, or one sentence where its libraries are missing."""

import sys
from importlib.util import find_spec

from everfold.errors import InvalidInputError


def run() -> None:
    """Run the command line of this process, where the extra `cli` is installed."""
    if find_spec("typer") is None or find_spec("rich") is None:
        sys.stderr.write("error: the command line needs the extra `cli`: pip install 'everfold[cli]'\n")
        sys.exit(InvalidInputError.exit_code)
    from everfold.cli.main import run as run_command

    run_command()
