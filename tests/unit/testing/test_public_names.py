"""The kit's public names load on first use, and only the strategies need hypothesis."""

import subprocess
import sys

import pytest

from everfold import testing


@pytest.mark.parametrize("name", testing.__all__)
def test_every_public_name_loads(name: str) -> None:
    """Each name that the package lists can be imported from it."""
    assert getattr(testing, name).__module__.startswith("everfold.testing.")


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that the package does not list is refused as any module refuses it."""
    with pytest.raises(AttributeError, match="no attribute 'st_log'"):
        _ = testing.st_log


def test_judges_need_no_hypothesis() -> None:
    """Judging a request imports neither hypothesis nor anything else of Everfold."""
    program = (
        "import sys\n"
        "from everfold.testing import check_openai_request\n"
        "check_openai_request({'messages': [{'role': 'user', 'content': 'Good morning.'}]})\n"
        "names = [name for name in sys.modules if name.split('.')[0] == 'hypothesis'"
        " or (name.startswith('everfold.') and not name.startswith('everfold.testing'))]\n"
        "sys.exit(' '.join(names) or 0)"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
