"""`everfold completion`: what a shell needs to complete commands and options."""

import sys
from typing import Annotated, Literal

import typer
from typer._completion_shared import get_completion_script

from everfold.cli.opening.options import Json
from everfold.cli.tables.output import print_json

NAME = "completion"
VARIABLE = "_EVERFOLD_COMPLETE"
"""Set by the script when it asks what could be typed next."""

Shell = Literal["bash", "zsh", "fish", "powershell"]


def run(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
    *,
    as_json: Json = False,
) -> None:
    """Print a script that completes commands and options in a shell.

    Examples:
    - `everfold completion bash >> ~/.bashrc`
    - `everfold completion zsh > ~/.zfunc/_everfold`
    - `everfold completion fish --json`
    """
    script = get_completion_script(prog_name="everfold", complete_var=VARIABLE, shell=shell)
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        sys.stdout.write(f"{script}\n")
