"""Results of tau-bench: one run of a task each, with the talk in OpenAI chat form under ``messages`` or ``traj``.

Source: tau-bench, the records of a run (`task_id`, `trial`, `reward`, `traj`).
"""

from collections.abc import Sequence

from everfold.adapters.transcripts.chat import find_tools
from everfold.adapters.transcripts.openai import check_message
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object
from everfold.core.log.transcripts import Conversation, TranscriptMessage


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row has a ``task_id`` and a list under ``traj`` or ``messages``."""
    value = rows[0].value
    return (
        isinstance(value, dict)
        and "task_id" in value
        and (isinstance(value.get("traj"), list) or isinstance(value.get("messages"), list))
    )


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read one conversation a run; a message's label is its index in the run.

    Raises:
        InvalidInputError: With ``line``, where a run is not what the format says.
    """
    return tuple(_read_run(row, name) for row in rows)


def _read_run(row: Row, name: str) -> Conversation:
    run = expect_object(row.value, "this run", row.line)
    run_name = f"{name}-task-{run.get('task_id')}-trial-{run.get('trial', 0)}"
    held = row.elements("traj" if "traj" in run else "messages")
    messages = tuple(
        TranscriptMessage(wire=check_message(message, line), wire_format="openai", line=line, labels=(str(index),))
        for index, (line, message) in enumerate(held)
    )
    return Conversation(name=run_name, messages=messages, tools=find_tools(run, row))
