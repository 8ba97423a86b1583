"""Transcript files of other systems: files in, lists of messages out."""

from everfold.adapters.transcripts.reading import FORMATS, parse_transcript, read_transcript
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, Transcript, TranscriptMessage

__all__ = [
    "FORMATS",
    "Conversation",
    "Transcript",
    "TranscriptMessage",
    "WireFormat",
    "parse_transcript",
    "read_transcript",
]
