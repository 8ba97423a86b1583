"""What the standing block lacks stays counted and named (G3)."""

import everfold
from everfold.core.digests.extractive import LeftOut
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
    gone = [seq for seq in range(1, last.report.watermark + 1, 2) if seq not in shown]
    quoted = block_of(last).count("Never move")
    assert counts == sorted(counts)
    assert counts[-1] + quoted == len(gone)


def test_left_out_statements_add_up() -> None:
    """Counts add, and the named range spans all of them."""
    assert LeftOut().plus([]) == LeftOut()
    assert LeftOut().plus([7, 4]).plus([9]) == LeftOut(count=3, first_seq=4, last_seq=9)
