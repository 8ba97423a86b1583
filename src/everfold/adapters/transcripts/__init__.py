"""Transcript files of other systems: files in, lists of messages out."""

from everfold.adapters.transcripts.reading import FORMATS, parse_transcript, read_transcript
from everfold.adapters.transcripts.transcript import Conversation, Transcript, TranscriptMessage, WireFormat

__all__ = [
    "FORMATS",
    "Conversation",
    "Transcript",
    "TranscriptMessage",
    "WireFormat",
    "parse_transcript",
    "read_transcript",
]
