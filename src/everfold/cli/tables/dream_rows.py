"""Dreams as people and programs read them: what each changed, on which items, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from everfold.cli.tables.output import open_console, plain, print_json
from everfold.core.dreams.topic_lines import LineDiff, diff_lines
from everfold.core.memory.topics import Dream, Topic
from everfold.errors import NotFoundError
from everfold.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDream:
    """A dream, and for each of its topics the lines that it gains and loses."""

    dream: Dream
    diffs: tuple[LineDiff, ...]


async def read_dream(memory: Memory, dream: Dream) -> ShownDream:
    """A dream with what it changes of the topics that there were."""
    return ShownDream(dream=dream, diffs=tuple([await _diff(memory, topic) for topic in dream.topics]))


async def _diff(memory: Memory, topic: Topic) -> LineDiff:
    try:
        revisions = await memory.topic_history(topic.name)
    except NotFoundError:
        revisions = []
    before = next((it for it in revisions if (it.id, it.revision) == (topic.id, topic.revision - 1)), None)
    had = before.content if before is not None and before.status == "active" else ""
    return diff_lines(had, topic.content if topic.status == "active" else "")


def show_dreams(dreams: Sequence[ShownDream], *, as_json: bool) -> None:
    """Print dreams, each with its changes."""
    if as_json:
        print_json({"dreams": [to_document(it) for it in dreams]})
        return
    for shown in dreams:
        _print_dream(shown)
    if not dreams:
        open_console().print("no dreams yet")


def to_document(shown: ShownDream) -> dict[str, object]:
    """A dream as a JSON value."""
    dream = shown.dream
    return {
        "id": dream.id,
        "state": dream.state,
        "agent": dream.agent_id,
        "begun_at": dream.begun_at,
        "ended_at": dream.ended_at,
        "generator": dream.generator,
        "cost_usd": dream.cost_usd,
        "problem": dream.problem,
        "items": dream.items,
        "topics": [
            {
                "id": topic.id,
                "name": topic.name,
                "tier": topic.tier,
                "revision": topic.revision,
                "status": topic.status,
                "content": topic.content,
                "added": diff.added,
                "removed": diff.removed,
            }
            for topic, diff in zip(dream.topics, shown.diffs, strict=True)
        ],
    }


def _print_dream(shown: ShownDream) -> None:
    console = open_console()
    dream = shown.dream
    cost = "" if dream.cost_usd is None else f", {dream.cost_usd:.4f} USD"
    facts = f"{dream.begun_at:%Y-%m-%d %H:%M}  {dream.generator}, of {len(dream.items)} items{cost}"
    console.print(Text(f"{dream.id}  {dream.state}", style="bold"), Text(f" {facts}", style="dim"), soft_wrap=True)
    if dream.problem:
        console.print(Text(plain(dream.problem)), soft_wrap=True)
    for topic, diff in zip(dream.topics, shown.diffs, strict=True):
        change = topic.status if topic.status != "active" else "new" if topic.revision == 1 else "changed"
        console.print(Text(f"  {topic.tier} topic {topic.name}: {change}"), soft_wrap=True)
        for mark, style, lines in (("-", "red", diff.removed), ("+", "green", diff.added)):
            for line in lines:
                console.print(Text(f"  {mark} {plain(line.removeprefix('- '))}", style=style), soft_wrap=True)
    console.print()
