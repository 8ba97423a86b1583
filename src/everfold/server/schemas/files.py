"""Memory files over HTTP."""

from pydantic import Field

from everfold.core.memory.files import MemoryFile
from everfold.server.schemas.schema import Given, Schema, many, project, wrap

MemoryFileSchema = project(
    "MemoryFile",
    MemoryFile,
    "agent=agent_id path chars_count written_at",
    "A file without what it says.",
    words={"path": "Below `/memories`."},
    chars_count=(int, lambda file: len(file.content), "How long it is."),
)
MemoryFilesSchema = wrap("MemoryFiles", "Memory files, by agent and path.", files=many(MemoryFileSchema))


class FileText(Schema):
    """A memory file with what it says."""

    agent: str = Field(description="Whose it is.", examples=["default"])
    path: str = Field(examples=["/memories/notes.md"])
    content: str = Field(description="Secrets are replaced by marks.", examples=["Two cats."])


class NewFile(Given):
    """What a memory file is to say."""

    content: str = Field(description="At most 64,000 characters.", examples=["Two cats."])
