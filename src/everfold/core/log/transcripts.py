"""What a transcript file holds: conversations of messages, each with its place in the file."""

from dataclasses import dataclass
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
        source: Why it is in the log. ``said`` always: no file says more, and it is never guessed.
        said_at: When it was said, in UTC, where the file tells.
        line: The line of the file where the message begins, from 1.
        label: The file's own id of the message, where it has one.
    """

    wire: dict[str, JsonValue]
    wire_format: WireFormat
    origin: Origin | None = None
    source: str = "said"
    said_at: datetime | None = None
    line: int
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages that belong in one session, in the order of the file.

    Attributes:
        name: The file's own name for it, else the name of the file, with a number when there are several.
        messages: In order. Rules that reach over messages (a result needs its call) are not checked here.
        tools: The tool schemas, as given, where the file has them.
        system: The system prompt, where the file keeps it apart from the messages: a string or a list of text blocks; else None.
    """

    name: str
    messages: tuple[TranscriptMessage, ...]
    tools: tuple[JsonValue, ...] | None = None
    system: JsonValue = None

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
    """

    format: str
    conversations: tuple[Conversation, ...]
