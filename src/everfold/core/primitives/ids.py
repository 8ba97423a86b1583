"""Ids, with a type for each kind, so that they are not confused."""

from typing import NewType

SessionId = NewType("SessionId", str)

UserId = NewType("UserId", str)

AgentId = NewType("AgentId", str)

CompactionId = NewType("CompactionId", str)
