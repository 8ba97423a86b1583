"""Attend: what memory does around one handle of a session: it takes up what was appended, and shows what it knows."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from everfold.core.compaction.folding import Fold
from everfold.core.extraction.requests import is_extraction_due
from everfold.core.log.messages import Message
from everfold.core.memory.items import Item
from everfold.core.memory.records import MemoryVersion
from everfold.core.observation.events import MemoryDelayed
from everfold.core.observation.hooks import MemoryWrite
from everfold.errors import EverfoldError, StoreError
from everfold.ports.jobs import DreamRange, EmbedUser, ExtractSession, Job
from everfold.ports.stores import Store
from everfold.services.memory.extract import Progress, extract_said, store_progress
from everfold.services.sessions.import_transcript import Imported
from everfold.services.sessions.live import LiveSession, load_session
from everfold.services.turns.agent_memory import AgentMemory
from everfold.services.turns.background import Background

MOST_TOLD = 100
"""How many items of one append plug-ins are told of."""


@dataclass(slots=True, kw_only=True)
class Attendant:
    """The memory of one handle.

    Attributes:
        progress: How far its session's messages have been looked at.
        log_epoch: That of the log at that time; it rises when a message is erased or retracted.
    """

    memory: AgentMemory
    progress: Progress | None = None
    log_epoch: int = 0

    async def begin(self, live: LiveSession) -> MemoryVersion | None:
        """Where memory stands before an append; None where that is not asked for, or cannot be read, which holds nothing up.

        How far the messages have been looked at tells the epoch too, so that a turn asks for neither.
        """
        if self.progress is not None and not self._tells:
            return None
        try:
            return await self.memory.store.read_memory_version(live.record.user_id)
        except StoreError as error:
            self._report(live, error)
            return None

    async def take(self, live: LiveSession, stored: Sequence[Message], version: MemoryVersion | None) -> None:
        """Take up what was appended. Never raises: what could not be done is done with the next append or window."""
        if self.progress is not None and self.log_epoch != live.state.epoch:
            self.progress = replace(self.progress, spoken=None)
        self.log_epoch = live.state.epoch
        self.progress = await extract_said(
            self.memory.store,
            self.memory.rememberer,
            live.record,
            last_seq=live.state.last_seq,
            report=lambda error: self._report(live, error),
            progress=self.progress,
            said=stored,
            epoch=None if version is None else version.epoch,
        )
        await self._extract_soon(live)
        if self.memory.embedding is not None:
            await self._do_later(live, EmbedUser(user_id=live.record.user_id))
        if version is not None and self._tells:
            await self.tell(live, version)

    async def _extract_soon(self, live: LiveSession) -> None:
        """Have a model read what was said once that is enough."""
        memory, progress = self.memory, self.progress
        if memory.extractor is None or progress is None:
            return
        if not is_extraction_due(progress.now, memory.policy, live.settings.limit_tokens):
            return
        try:
            self.progress = await store_progress(memory.rememberer, progress)
        except EverfoldError as error:
            self.progress = None  # read again with the next append
            self._report(live, error)
            return
        await self._do_later(live, ExtractSession(session_id=live.record.id))

    async def take_folds(self, live: LiveSession, folds: Sequence[Fold]) -> None:
        """Have what an overflow has just folded dreamed of at once."""
        if folds:
            first_seq, last_seq = folds[0].certificate.first_seq, folds[-1].certificate.last_seq
            await self._do_later(live, DreamRange(session_id=live.record.id, first_seq=first_seq, last_seq=last_seq))

    async def _do_later(self, live: LiveSession, job: Job) -> None:
        """Beside the turns; at once where background work runs inline, and then without harm to the turn."""
        if not self.memory.is_synchronous:
            self.memory.dispatcher.submit(job)
            return
        try:
            await self.memory.dispatcher.run(job)
        except EverfoldError as error:
            self._report(live, error)

    async def catch_up(self, live: LiveSession) -> None:
        """Extract from messages that no append has read: imported ones, or appended by a process that was killed."""
        if self.progress is None or self.progress.now.extracted_seq < live.state.last_seq:
            await self.take(live, (), await self.begin(live) if self._tells else None)

    @property
    def _tells(self) -> bool:
        """Whether plug-ins are told of what memory gains."""
        return self.memory.stream.plugins.hears(MemoryWrite)

    async def tell(self, live: LiveSession, before: MemoryVersion) -> None:
        """Tell the plug-ins what memory has gained since a moment."""
        changed = await self.memory.store.list_items(
            live.record.user_id,
            live.record.agent_id,
            statuses=("active", "superseded", "erased"),
            changed_after=before.revision,
            limit_count=MOST_TOLD,
        )
        for item in changed:
            await self.memory.stream.plugins.call(
                MemoryWrite(session=live.record, tier=item.tier, action=_action_of(item), text=_text_of(item))
            )

    def _report(self, live: LiveSession, error: EverfoldError) -> None:
        self.memory.stream.publish(
            MemoryDelayed(session_id=live.record.id, error_name=type(error).__name__, error=error)
        )


async def take_imported(
    store: Store, background: Background, memory: AgentMemory | None, imports: AsyncIterator[Imported]
) -> AsyncIterator[Imported]:
    """An import, each conversation of which is taken into memory and compacted once it is stored whole.

    The first window of a long conversation would compact it otherwise, and be slow.
    """
    async for imported in imports:
        if imported.stored_count == imported.messages_count:
            live = await load_session(store, await store.get_session(imported.session))
            if memory is not None:
                await Attendant(memory=memory).catch_up(live)
            if await background.worker.compactor(live).find_due():
                await background.work_on(imported.session)
        yield imported


def _action_of(item: Item) -> Literal["add", "replace", "remove"]:
    if item.status != "active":
        return "remove"
    return "add" if item.revision == 1 and item.supersedes is None else "replace"


def _text_of(item: Item) -> str:
    return item.statement if item.status == "active" else ""
