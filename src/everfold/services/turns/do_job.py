"""Do a job: find what its ids name in the store, and have the service that it is for do it."""

from typing import assert_never

from everfold.core.primitives.ids import SessionId
from everfold.ports.jobs import (
    AttemptCompaction,
    DreamPair,
    DreamRange,
    EmbedUser,
    ExtractSession,
    Job,
    MemoryJob,
    RefreshSession,
    SettleBreaks,
    WakeSession,
)
from everfold.services.turns.agent_memory import Memories
from everfold.services.turns.background import Background
from everfold.services.turns.settle_breaks import settle_breaks


async def do_job(background: Background, memories: Memories, job: Job) -> None:
    """Do a job in this process; whether something is left to do is asked of the store.

    Raises:
        EverfoldError: as the work itself; the store has what the job was about, for the next one who looks.
    """
    match job:
        case WakeSession():
            await background.worker.work_session(job.session_id)
        case AttemptCompaction():
            await background.worker.attempt(job.session_id, job.compaction_id)
        case SettleBreaks():
            await settle_breaks(background.worker.store, background.worker.handover, job.session_id, job.reported_count)
        case RefreshSession():
            if background.worker.refresher is not None:
                await background.worker.refresher.refresh_beside(job.session_id)
        case _:
            await _do_for_memory(background, memories, job)


async def _do_for_memory(background: Background, memories: Memories, job: MemoryJob) -> None:
    match job:
        case ExtractSession():
            await _extract(memories, job.session_id)
        case EmbedUser():
            if memories.embedding is not None:
                await memories.embedding.fill_user(job.user_id)
        case DreamPair():
            if background.dreaming is not None:
                await background.dreaming.dream(job.user_id, job.agent_id)
        case DreamRange():
            await _dream_range(memories, job)
        case _:
            assert_never(job)


async def _extract(memories: Memories, session_id: SessionId) -> None:
    record = await memories.store.get_session(session_id)
    extractor = memories.get(record.agent_id).extractor
    if extractor is not None:
        await extractor.extract_due(record)


async def _dream_range(memories: Memories, job: DreamRange) -> None:
    record = await memories.store.get_session(job.session_id)
    await memories.dreamer.dream_range(record.user_id, record.agent_id, record.id, job.first_seq, job.last_seq)
