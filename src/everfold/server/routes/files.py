"""Memory files: what agents keep for themselves about a user with the memory tool, to be read, written and deleted."""

from typing import Annotated

from fastapi import Query

from everfold.core.primitives.ids import AgentId
from everfold.memory import Memory
from everfold.server.access import AnyKey, Caller, Context, OfAgentMemory, OfMemory
from everfold.server.routing import Fields, make_router
from everfold.server.runtime import Runtime
from everfold.server.schemas.files import FileText, MemoryFilesSchema, NewFile
from everfold.services.memory.memory_files import MemoryFiles

router = make_router("files")

PathQuery = Annotated[str, Query(description="Where the file is, below `/memories`.", examples=["/memories/notes.md"])]


@router.get("/api/users/{user}/files", response_model=MemoryFilesSchema)
async def list_files(memory: OfMemory) -> Fields:
    """List the memory files of every agent, without their content; an agent's API key sees its own."""
    return {"files": await memory.list_files()}


@router.get("/api/users/{user}/agents/{agent}/files")
async def read_file(
    memory: OfMemory, agent: OfAgentMemory, caller: AnyKey, runtime: Context, path: PathQuery
) -> FileText:
    """Read one memory file of an agent; its topics are below `/memories/topics`."""
    files = await _open(runtime, memory, agent, caller)
    return FileText(agent=agent, path=path, content=await files.read(path))


@router.put("/api/users/{user}/agents/{agent}/files")
async def write_file(
    memory: OfMemory, agent: OfAgentMemory, caller: AnyKey, runtime: Context, path: PathQuery, new: NewFile
) -> FileText:
    """Write one memory file, or replace its content. The text is scanned like text of the agent."""
    files = await _open(runtime, memory, agent, caller)
    await files.write(path, new.content)
    return FileText(agent=agent, path=path, content=await files.read(path))


@router.delete("/api/users/{user}/agents/{agent}/files", status_code=204)
async def delete_file(
    memory: OfMemory, agent: OfAgentMemory, caller: AnyKey, runtime: Context, path: PathQuery
) -> None:
    """Delete one memory file, or a folder with all its files. Nothing of it stays in the store."""
    await (await _open(runtime, memory, agent, caller)).delete(path)


async def _open(runtime: Runtime, memory: Memory, agent: AgentId, caller: Caller) -> MemoryFiles:
    return await runtime.engine.memory_files(user=memory.user_id, agent=agent, actor=caller.actor)
