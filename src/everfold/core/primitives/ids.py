"""Ids, so that no two kinds of them are taken for each other."""

from typing import NewType

SessionId = NewType("SessionId", str)

UserId = NewType("UserId", str)

AgentId = NewType("AgentId", str)

CompactionId = NewType("CompactionId", str)
