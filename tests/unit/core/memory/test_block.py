"""The lines of the block."""

from dataclasses import replace

from everfold.core.memory.block import list_block, measure_item_lines, render_item_line
from everfold.testing.kit.builders import minute
from everfold.testing.kit.memory_builders import item


def test_line_says_what_and_when() -> None:
    """A line is one line, with absolute dates, and with the kind where it is no fact."""
    fact = item("itm_1", "The berth costs\n 17 euros.")
    assert render_item_line(fact) == "- The berth costs 17 euros. (2031-03-03)"
    task = replace(fact, kind="task", valid_to=minute(60 * 24 * 3))
    assert render_item_line(task) == "- The berth costs 17 euros. (task, 2031-03-03, until 2031-03-06)"


def test_line_about_the_person_names_who_says_so() -> None:
    """What the user did not say is told apart among what is known of the user, and only there."""
    noted = replace(item("itm_1", "Likes harbours."), origin="assistant")
    assert "noted by the assistant" in render_item_line(noted)
    assert "assistant" not in render_item_line(replace(noted, tier="agent"))


def test_only_what_holds_is_measured() -> None:
    """The block of a tier has its active items that are not in the archive and not past their end."""
    shown = item("itm_1")
    hidden = (
        replace(shown, shelf="archive"),
        replace(shown, status="quarantined"),
        replace(shown, valid_to=minute(1)),
        replace(shown, tier="agent"),
    )
    assert list_block((shown, *hidden), "user", now=minute(9)) == [shown]
    assert measure_item_lines([shown, shown]) == 2 * (len(render_item_line(shown)) + 1)
