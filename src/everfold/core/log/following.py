"""Followed transcripts: files that other programs write while they work, and how far each has been imported."""

import hashlib
from dataclasses import dataclass

from everfold.core.primitives.ids import AgentId, SessionId, UserId

NAME_CHARS = 32
"""Half of a SHA-256: no two conversations of a user share it by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedTranscript:
    """How far a transcript file has been imported.

    Attributes:
        name: Which conversation of which client, as `name_transcript` gives it.
        session_id: Where its messages are; None once that session was erased. The position stays then, so that what was
            erased does not come back from the file.
        path: The file; empty where none is known, or the session was erased.
        file_id: Tells the file from another one at the same path: its device and number. Empty where it holds what was erased, so
            that it is never read from its beginning again.
        read_bytes: Where the next line begins that has not been imported.
        left_seq: The last message that the client's own compaction took out of its window; 0 where it has not compacted.
    """

    user_id: UserId
    agent_id: AgentId
    name: str
    session_id: SessionId | None
    path: str = ""
    file_id: str = ""
    read_bytes: int = 0
    left_seq: int = 0

    @property
    def holds_erased(self) -> bool:
        """The file holds what was erased with its session, before where the next line begins."""
        return bool(self.read_bytes and not self.file_id)


def name_transcript(conversation: str) -> str:
    """The name of a conversation among the followed ones of a user and an agent: nothing that it says can be read from it."""
    return hashlib.sha256(conversation.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_CHARS]
