"""What a transcript file holds: conversations of messages, each with its place in the file."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from everfold.core.log.messages import WireFormat
from everfold.core.log.prompts import Prompt
from everfold.core.primitives.json_values import JsonValue
from everfold.core.primitives.origins import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """One message of a transcript file, not yet part of any session.

    Attributes:
        wire: The message in OpenAI chat or Anthropic messages form. Formats that are one of the two already give it as it
            is in the file; its key order, number forms and code points are kept. It may hold fields that the provider
            does not know (an event log's ``usage``).
        wire_format: Which of the two forms.
        origin: Who stands behind it, where the file says so; None leaves it to the role.
        source: Why it is in the log: ``said``, or ``injection`` for what a client's own compaction left in place of older
            messages.
        said_at: When it was said, in UTC, where the file tells.
        line: The line of the file where the message begins, from 1.
        labels: The ids of the lines that it was made of, in their order, where the format has lines of its own.
        is_compaction: It stands for older messages that the client has taken out of its window.
        kept_labels: Of a compaction, the lines of older messages that the client has kept.
        read_rest: Gives what it is without its first lines, by their number; None where it has no more than one. `after`
            gives it with its labels.
    """

    wire: dict[str, JsonValue]
    wire_format: WireFormat
    origin: Origin | None = None
    source: str = "said"
    said_at: datetime | None = None
    line: int
    labels: tuple[str, ...] = ()
    is_compaction: bool = False
    kept_labels: tuple[str, ...] = ()
    read_rest: Callable[[int], "TranscriptMessage"] | None = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str | None:
        """The id that it is stored under: that of its last line, so that parts of it which come later are told apart."""
        return self.labels[-1] if self.labels else None

    def after(self, known: Collection[str]) -> "TranscriptMessage | None":
        """What it has beyond the last of its lines that is known; None where that is nothing."""
        known_count = max((at for at, label in enumerate(self.labels, 1) if label in known), default=0)
        if not known_count:
            return self
        labels = self.labels[known_count:]
        return replace(self.read_rest(known_count), labels=labels) if labels and self.read_rest else None


def name_lines(messages: Sequence[TranscriptMessage]) -> tuple[TranscriptMessage, ...]:
    """The messages of a whole file with ids that no two of them share: where a line is repeated, its id and how often so far."""
    counts: Counter[str] = Counter()
    named: list[TranscriptMessage] = []
    for message in messages:
        counts.update(set(message.labels))
        labels = [label if counts[label] == 1 else f"{label}#{counts[label]}" for label in message.labels]
        named.append(replace(message, labels=tuple(labels)))
    return tuple(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages that belong in one session, in the order of the file.

    Attributes:
        name: The file's own name for it, else the name of the file, with a number when there are several.
        messages: In order. Rules that reach over messages (a result needs its call) are not checked here.
        tools: The tool schemas, as given, where the file has them.
        system: The system prompt, where the file keeps it apart from the messages: a string or a list of text blocks; else None.
        title: The title that the file gives it, with a number for a branch; None where it gives none.
        key: The client and its own id for the conversation, where the lines have ids: the same in every copy of the file.
    """

    name: str
    messages: tuple[TranscriptMessage, ...]
    tools: tuple[JsonValue, ...] | None = None
    system: JsonValue = None
    key: str | None = None
    title: str | None = None

    @property
    def prompt(self) -> Prompt:
        """What a session of this conversation holds from its opening: the text of `system`, and the tools."""
        texts = [self.system] if isinstance(self.system, str) else []
        if isinstance(self.system, list):
            texts = [
                text for block in self.system if isinstance(block, dict) and isinstance(text := block.get("text"), str)
            ]
        return Prompt(system="\n".join(texts) or None, tools=self.tools or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What one file holds.

    Attributes:
        format: The name of the format that the file was read as.
        conversations: In the order of the file; at least one holds a message.
        skipped: How many lines of each type that is not known were passed over.
    """

    format: str
    conversations: tuple[Conversation, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a file that still grows holds from some position on.

    Attributes:
        conversations: Their messages that are whole.
        read_bytes: How many bytes are done with: whole lines, none of which belongs to a message that may still grow.
        skipped: How many lines were passed over, by their type; `(broken)` for those that cannot be read.
    """

    conversations: tuple[Conversation, ...]
    read_bytes: int
    skipped: Mapping[str, int]
