"""A transcript file on this machine that its client still writes."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from everfold.adapters.transcripts.growing import read_growth
from everfold.core.log.transcripts import Growth

PIECE_BYTES: Final = 1_000_000
"""So much of a file is read at once, unless one message is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFile:
    """A file that grows, as `everfold.services.turns.follow_transcript.GrowingTranscript` wants it.

    Attributes:
        client: Whose it is: one of `everfold.adapters.transcripts.growing.CLIENTS`.
        name: The client's own id of the conversation.
        is_over: Nothing will follow: a message that may go on is taken as it is.
    """

    file: Path
    client: str
    name: str
    is_over: bool = False

    @property
    def path(self) -> str:
        """Where it is."""
        return str(self.file)

    @property
    def file_id(self) -> str:
        """Its device and number."""
        found = self.file.stat()
        return f"{found.st_dev}:{found.st_ino}"

    def find_line(self, at_bytes: int) -> int:
        """Where the first line from there on begins, or the file ends."""
        if not at_bytes:
            return 0
        with self.file.open("rb") as opened:
            opened.seek(at_bytes - 1)
            opened.readline()
            return min(opened.tell(), opened.seek(0, os.SEEK_END))

    def read(self, start_bytes: int) -> Growth:
        """What it holds from a line on, some megabyte at a time."""
        size_bytes, piece_bytes = self.file.stat().st_size, PIECE_BYTES
        while True:
            with self.file.open("rb") as opened:
                opened.seek(start_bytes)
                data = opened.read(piece_bytes)
            is_end = start_bytes + len(data) >= size_bytes
            growth = read_growth(data, self.client, name=self.name, is_over=self.is_over and is_end)
            if growth.read_bytes or is_end or len(data) < piece_bytes:
                return growth
            piece_bytes *= 2
