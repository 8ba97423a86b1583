"""What the standing block lacks stays counted and named (G3)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import everfold
from everfold.core.compaction.certificate import check_forgotten
from everfold.core.compaction.layout import Layout, layout_from_bytes, layout_to_bytes
from everfold.core.digests.extractive import compose_rollup
from everfold.core.digests.pools import RollupPool
from everfold.core.digests.standing import POOL_LINES, LeftOut, StandingInstructions, compose_standing_instructions
from everfold.core.forgetting.messages import erase_from_layout
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.reading import find_extract_lines
from everfold.core.text.tokens import estimate_text_tokens
from everfold.core.windows.entries import TextEntry
from everfold.core.windows.window import Window


def block_of(window: Window) -> str:
    """The standing block of a window."""
    return "".join(entry.text for entry in window.entries if isinstance(entry, TextEntry))


def statement(number: int) -> str:
    """A standing statement that no other one supersedes: each is about something else."""
    first, second = divmod(number, 12)
    place = "kitchen garden harbour library workshop cellar attic office".split()[first % 8]
    thing = "lamp carpet bicycle mirror piano basket ladder curtain drawer kettle clock vase".split()[second]
    return f"Never move the {place}{thing} without asking {place.title()}{thing}."


def lines_of(*texts: str) -> list[ExtractLine]:
    """The standing lines of a user's messages, the first of them message 1."""
    began = datetime(2031, 3, 3, 8, tzinfo=UTC)
    read = [
        find_extract_lines(
            text, seq=seq, origin="user", is_result=False, said_at=began + timedelta(minutes=seq), attached=()
        )
        for seq, text in enumerate(texts, 1)
    ]
    return [line for lines in read for line in lines if line.standing]


def compose(
    lines: list[ExtractLine], *, cap_tokens: int = 400, weak_cap_tokens: int = 100, left_out: LeftOut | None = None
) -> StandingInstructions:
    """The standing instructions of these lines."""
    return compose_standing_instructions(
        lines,
        cap_tokens=cap_tokens,
        weak_cap_tokens=weak_cap_tokens,
        estimate=estimate_text_tokens,
        left_out=left_out,
    )


def layout_of(block: StandingInstructions) -> Layout:
    """A layout that shows a block."""
    return Layout(
        watermark=900,
        standing=block.lines,
        standing_text=block.text,
        standing_tokens=block.tokens,
        standing_left_out=block.left_out,
        standing_pool=block.waiting,
        standing_dropped=block.dropped,
    )


MIXED = (
    "From now on write the totals in euros.",
    "The budget is 900 euros.",
    "Let's go with the ground-floor flat.",
    "I'd love to learn the cello.",
)


def test_the_strongest_stand_first_and_wishes_do_not() -> None:
    """A rule stands before a limit, a limit before a decision, whatever is newer; a wish is neither shown nor counted."""
    block = compose(lines_of(*MIXED))
    assert [line.quote for line in block.lines] == list(MIXED[:3])
    assert block.left_out == LeftOut()


def test_weak_lines_take_none_of_the_room_of_strong_ones() -> None:
    """With all the room there is for rules, a decision has its own cap only."""
    block = compose(lines_of(*MIXED), weak_cap_tokens=0)
    assert [line.quote for line in block.lines] == list(MIXED[:2])
    assert [line.quote for line in block.waiting] == [MIXED[2]]
    assert block.left_out == LeftOut(count=1, first_seq=3, last_seq=3)


def test_strong_lines_take_none_of_the_room_of_weak_ones() -> None:
    """Where not all rules fit, a decision stands within its own cap all the same."""
    lines = lines_of(*map(statement, range(40)), MIXED[2])
    block = compose(lines, cap_tokens=120)
    assert 2 < len(block.lines) < 40
    assert block.lines[-1].quote == MIXED[2]
    assert block.tokens <= 120 + 100


def test_what_had_no_room_is_chosen_again() -> None:
    """A rule that waited stands as soon as there is room for it."""
    first = compose(lines_of(*map(statement, range(30))), cap_tokens=100)
    assert first.waiting
    later = compose([*first.lines, *first.waiting], cap_tokens=4_000)
    assert len(later.lines) == 30
    assert later.left_out == LeftOut()


def test_the_weakest_and_oldest_leave_the_pool_first_and_stay_counted() -> None:
    """Beyond what the pool holds, decisions leave before rules and old ones before new ones; all of them are counted."""
    rules = [f"Never touch the folder {first}{second}." for first in "abcdefghijklmnop" for second in "qrstuvwxyzabc"]
    lines = lines_of("Let's go with the ground-floor flat.", *rules)
    block = compose(lines, cap_tokens=60, weak_cap_tokens=0)
    assert len(block.waiting) == POOL_LINES
    assert all(line.quote.startswith("Never") for line in block.waiting)
    assert min(line.seq for line in block.waiting) > 2
    assert block.dropped.count == len(lines) - len(block.lines) - POOL_LINES
    assert block.dropped.first_seq == 1
    assert block.left_out.count == block.dropped.count + POOL_LINES


def test_a_layout_survives_its_column() -> None:
    """A layout reads back equal from its bytes, with what waits and what was dropped."""
    layout = layout_of(compose(lines_of(*map(statement, range(60))), cap_tokens=100, left_out=LeftOut().plus([5])))
    assert layout.standing_pool
    assert layout_from_bytes(layout_to_bytes(layout)) == layout


def test_a_layout_written_before_the_pool_still_opens() -> None:
    """All that an older layout left out counts as dropped, and it shows the same text."""
    left_out = LeftOut(count=7, first_seq=2, last_seq=90)
    layout = layout_of(compose(lines_of(*MIXED), left_out=left_out))
    new = layout_to_bytes(layout)
    older = new[: new.rindex(b",[],[")] + b"]"
    assert layout_from_bytes(older) == replace(layout, standing_dropped=left_out)
    assert layout_from_bytes(older).standing_text == layout.standing_text


def test_an_erased_message_leaves_the_pool() -> None:
    """Of an erased message nothing waits to be quoted, and a check of the layout before the erase names it."""
    layout = layout_of(compose(lines_of(*map(statement, range(60))), cap_tokens=100))
    seq = layout.standing_pool[3].seq
    (problem,) = check_forgotten(layout, {}, {seq: "erased"}, compaction_id="cmp_1")
    assert "it was erased, but waits" in problem.problem
    erased = erase_from_layout(layout, seq)
    assert seq not in {line.seq for line in (*erased.standing, *erased.standing_pool)}
    assert erased.standing_left_out.count == layout.standing_left_out.count - 1
    assert erased.standing_tokens <= layout.standing_tokens
    assert check_forgotten(erased, {}, {seq: "erased"}, compaction_id="cmp_1") == []


def test_a_problem_says_whether_the_message_was_erased_or_retracted() -> None:
    """What still quotes, or has read, a message that is gone is named with what became of that message."""
    layout = layout_of(compose(lines_of(statement(1), statement(2))))
    quoted, other = (line.seq for line in layout.standing[:2])
    problems = check_forgotten(
        layout, {"dig_1": [other]}, {quoted: "retracted", other: "erased"}, compaction_id="cmp_1"
    )
    assert {(one.seq, one.problem) for one in problems} == {
        (quoted, "it was retracted, but is quoted as standing"),
        (other, "it was erased, but is quoted as standing"),
        (other, "it was erased, but the digest 'dig_1' has read it"),
    }


async def test_what_earlier_blocks_had_no_room_for_stays_counted() -> None:
    """Over many compactions the quoted and the counted standing statements together are all that left the window."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=2_500)
        counts = []
        for number in range(90):
            await session.append({"role": "user", "content": statement(number)})
            await session.append({"role": "assistant", "content": "Understood. " * 12})
            await session.window()
            state = await session.inspect.state()
            if state.compaction_id:
                block = block_of(await session.window())
                counted = int(block.split(" more not shown")[0].splitlines()[-1]) if "more not shown" in block else 0
                counts.append(counted)
        last = await (await engine.session(id=session.id)).window()
        assert block_of(last) == block_of(await session.window())
        shown = {entry.message.seq for entry in last.entries if hasattr(entry, "message")}
        shown |= {message.seq for entry in last.entries if hasattr(entry, "kept") for message in entry.kept}
    gone = [seq for seq in range(1, last.report.compacted_through + 1, 2) if seq not in shown]
    quoted = block_of(last).count("Never move")
    assert counts == sorted(counts)
    assert counts[-1] + quoted == len(gone)


def test_a_small_block_keeps_its_tokens_for_rules() -> None:
    """Where the room is that of a usable budget under 4,000 tokens, dates and the marker at the end give way to rules."""
    lines = lines_of(*map(statement, range(40)))
    small, large = compose(lines, cap_tokens=200), compose(lines, cap_tokens=700)
    assert small.text.startswith("=== standing: the user's words ===\n#40 Never move")
    assert "more not shown, messages 1-" in small.text.splitlines()[-1]
    assert large.text.startswith("=== standing: the user's own words, strongest first ===\n[2031-03-03] #40 ")
    assert large.text.endswith("=== end standing ===")


def test_left_out_statements_add_up() -> None:
    """Counts add, and the named range spans all of them."""
    assert LeftOut().plus([]) == LeftOut()
    assert LeftOut().plus([7, 4]).plus([9]) == LeftOut(count=3, first_seq=4, last_seq=9)


def test_what_is_shown_elsewhere_supersedes() -> None:
    """A rule that a message corrects which is shown word for word is not quoted, and neither is that message."""
    old, new = lines_of(
        "The shipping fee must be 4.90 euros flat.", "Actually, make it 5.90 euros flat instead of 4.90."
    )
    block = compose_standing_instructions(
        [old], cap_tokens=400, weak_cap_tokens=100, estimate=estimate_text_tokens, beside=[new]
    )
    assert compose([old]).lines == (old,)
    assert (block.lines, block.waiting, block.left_out) == ((), (), LeftOut())


def test_a_rollup_leaves_out_what_a_shown_message_corrects() -> None:
    """A rollup does not quote what a message corrects that is shown word for word, though its own pool has no line of it."""
    old, new = lines_of(
        "The shipping fee must be 4.90 euros flat.", "Actually, make it 5.90 euros flat instead of 4.90."
    )
    pool = RollupPool(buckets=((0, (old,)),))
    for beside, is_quoted in (((), True), ((new,), False)):
        made = compose_rollup(
            pool, first_seq=1, last_seq=9, cap_tokens=200, estimate=estimate_text_tokens, beside=beside
        )
        assert ("4.90" in made.text) == is_quoted


def test_a_rule_that_was_taken_back_does_not_stand() -> None:
    """Of a rule and what takes it back only the later stands, and what takes back less stands with the rule, above it."""
    lines = lines_of(
        "Never use emojis.",
        "Never book window seats for clients in winter.",
        "You can use emojis again.",
        "Window seats are fine again.",
    )
    assert [line.seq for line in compose(lines).lines] == [4, 3, 2]


class CountedLine(ExtractLine):
    """A line that notes with what it is compared."""

    compared: ClassVar[list[object]] = []
    __hash__ = ExtractLine.__hash__

    def __eq__(self, other: object) -> bool:
        self.compared.append(other)
        return super().__eq__(other)


def test_lines_that_tell_nothing_are_dropped_without_comparing_lines() -> None:
    """What is dropped is told by its place: the lines are not compared with one another."""
    lines = lines_of(*map(statement, range(40)), "Always do that.")
    block = compose([CountedLine(*line) for line in lines], cap_tokens=4_000)
    assert block.dropped.count == 1
    assert len(CountedLine.compared) < len(lines)
