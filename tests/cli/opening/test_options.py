"""What stands behind an option is read, or refused with what was expected."""

import pytest
from tests.cli.conftest import Run

from everfold.cli.main import RENAMED
from everfold.cli.opening.options import parse_range
from everfold.errors import InvalidInputError


@pytest.mark.parametrize("text", ["0", "0-3", "5-2", "x", "-3", "", "9" * 20, "9" * 5000])
def test_a_range_that_holds_no_message_is_refused(text: str) -> None:
    """Nothing is shown for a range that could never hold a message but what was expected."""
    with pytest.raises(InvalidInputError, match="from 1, or a range such as 12-20"):
        parse_range(text)


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_renamed_command_is_refused_with_its_new_name(run: Run, old: str, new: str) -> None:
    """The old name of a command is no alias: it is refused, and the error names the new one."""
    refused = run(old, code=2)
    assert f"the command '{old}' is now called '{new}'" in " ".join(refused.output.replace("\u2502", " ").split())
