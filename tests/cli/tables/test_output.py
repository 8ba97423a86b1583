"""What commands print: on any screen, all of it."""

from io import StringIO

import pytest
from rich.console import Console

from everfold.cli.tables.output import make_table, plain, say

COLUMNS = ("session", "user", "messages", "limit", "text", "current")
ROW = ("ses_0660e36b7d7f3f7395fd608f9df7f5", "ilse", 4100, 128_000, "beds three and four are dry, 水 is short", "yes")


def _print(width: int) -> list[str]:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(make_table(COLUMNS, [ROW, ROW], title="all"))
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 40])
def test_no_screen_is_too_narrow_for_a_table(width: int) -> None:
    """Every id and number stands whole on one line, every heading and word is there, and no line is longer than the screen."""
    lines = _print(width)
    whole = [cell for cell in (ROW[0], "4,100", "128,000") for _ in range(2)]
    assert all(sum(cell in line for line in lines) == 2 for cell in whole)
    words = set(" ".join(lines).split())
    assert {*COLUMNS, "all", "ilse", "three", "dry,", "short", "yes"} <= words
    assert max(map(len, lines)) <= width


def test_a_wide_screen_shows_a_row_on_a_line() -> None:
    """Where all columns fit, a row is one line under one line of headings."""
    assert sum(ROW[0] in line and "yes" in line and "short" in line for line in _print(120)) == 2


def test_line_ends_of_other_systems_are_line_ends() -> None:
    """Text with carriage returns before its line breaks shows no marks for them; a lone one, which moves the cursor, does."""
    assert plain("one\r\ntwo\rthree") == "one\ntwo\ufffdthree"


def test_a_link_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    """What is said whole stands on one line, however narrow the screen is; anything else is folded between words."""
    link = f"http://127.0.0.1:8420/#sign-in?key={'k' * 200}"
    say(f"open {link}", is_whole=True)
    assert capsys.readouterr().err == f"open {link}\n"
    say("word " * 40)
    assert len(capsys.readouterr().err.splitlines()) == 2
