"""Memory as a whole: its topics, and what became of it."""

from everfold.server.access import OfMemory
from everfold.server.routing import make_router
from everfold.server.shapes.memory import MemoryIndex, show_topic_line

router = make_router("memory")


@router.get("/api/users/{user}/memory")
async def read_memory(memory: OfMemory) -> MemoryIndex:
    """The topics of a user without what they say, by name; a key of an agent sees what its agent sees."""
    head, topics = await memory.head(), await memory.topics()
    lines = sorted((show_topic_line(topic) for topic in topics), key=lambda line: (line.name, line.tier))
    return MemoryIndex(topics=lines, revision=head.revision, epoch=head.epoch)
