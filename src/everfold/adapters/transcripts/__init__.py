"""Transcript files of other systems: files in, lists of messages out."""

from everfold.adapters.transcripts.reading import (
    FORMATS,
    Found,
    parse_transcript,
    read_transcript,
    read_transcripts,
)
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, Transcript, TranscriptMessage

__all__ = [
    "FORMATS",
    "Conversation",
    "Found",
    "Transcript",
    "TranscriptMessage",
    "WireFormat",
    "parse_transcript",
    "read_transcript",
    "read_transcripts",
]
