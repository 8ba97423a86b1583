"""What stands behind an option is read, or refused with what was expected."""

import pytest

from everfold.cli.opening.options import parse_range
from everfold.errors import InvalidInputError


@pytest.mark.parametrize("text", ["0", "0-3", "5-2", "x", "-3", "", "9" * 20, "9" * 5000])
def test_a_range_that_holds_no_message_is_refused(text: str) -> None:
    """Nothing is shown for a range that could never hold a message but what was expected."""
    with pytest.raises(InvalidInputError, match="from 1, or a range such as 12-20"):
        parse_range(text)
