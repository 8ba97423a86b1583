"""The end of a topic reaches what only its prose tells, and is taken back with it."""

from dataclasses import replace

from tests.support.dreams import day, note, scene

from everfold.core.dreams.carried_ends import carry_ends, take_back_ends
from everfold.core.dreams.consolidation import plan_stepwise
from everfold.core.dreams.topic_lines import hide_ended
from everfold.core.memory.topics import Topic
from everfold.core.primitives.stepwise import finish

BERTH = note("itm_1", "The harbour berth costs 17 euros a night.", on_day=1)
SAVED = replace(note("itm_2", "My harbour berth is number 42.", on_day=2), is_explicit=True)
NOTED = note("itm_3", "The harbour office opens at 8.", on_day=3)


def _plan(*items: object) -> list[Topic]:
    return list(finish(plan_stepwise(scene(*items), scan=lambda _text: ())).topics)  # type: ignore[arg-type]


def _write_prose() -> Topic:
    """A topic that tells two items in its prose and one on a line, and ends."""
    (topic,) = _plan(BERTH, SAVED, NOTED)
    line = next(line for line in topic.content.split("\n") if "itm_3" in line)
    prose = "The harbour berth is number 42 and costs 17 euros a night."
    return replace(topic, content=f"{prose}\n{line}", expires_at=day(40))


def test_what_only_the_prose_tells_ends_with_it() -> None:
    """An item on a line of its own goes on, and so does what the person asked to remember."""
    (ended,) = carry_ends([_write_prose()], [BERTH, SAVED, NOTED], now=day(10))
    assert (ended.id, ended.valid_to, ended.revision, ended.written_by) == (BERTH.id, day(40), 2, "dream")


def test_an_end_of_its_own_stays() -> None:
    """A model's end takes no item's own end away, and gives none to what is active no more."""
    own = replace(BERTH, valid_to=day(20))
    gone = replace(BERTH, status="superseded")
    assert carry_ends([_write_prose()], [own], now=day(10)) == ()
    assert carry_ends([_write_prose()], [gone], now=day(10)) == ()


def test_ends_are_taken_back() -> None:
    """What a reverted dream ended has no end again, unless it was changed since."""
    topic = _write_prose()
    (ended,) = carry_ends([topic], [BERTH, SAVED, NOTED], now=day(10))
    (back,) = take_back_ends([topic], [ended, SAVED, NOTED], now=day(11))
    assert (back.valid_to, back.revision) == (None, 3)
    assert take_back_ends([topic], [replace(ended, written_by="user")], now=day(11)) == ()


def test_a_topic_shows_no_line_whose_end_is_past() -> None:
    """A line leaves a topic with the end of its item; the others stay."""
    bound = replace(NOTED, valid_to=day(40))
    (topic,) = _plan(BERTH, bound)
    assert "opens at 8" in hide_ended(topic, day(40)).content
    later = hide_ended(topic, day(41))
    assert "opens at 8" not in later.content
    assert "17 euros" in later.content
