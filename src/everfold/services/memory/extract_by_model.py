"""Extract by model: have a model say what of a range of messages is to be remembered, and hand it to memory.

Theory of operation. The version of memory is read first and the messages after it, so that whatever is erased meanwhile is
dropped by the change that would have kept it. Each request is asked, and asked once more with the problem named; what it
found is taken at once, so a later fault costs no earlier work, and doing it again adds nothing, since the same candidate is
the same item. The cursor of the model's pass moves over what was read without a gap. Three faults end a pass: it raises
then. Its compaction stays pending, and is degraded for the extraction alone in the end; what the heuristic pass found
stays. No turn waits for a pass.

Source: DESIGN section 4, "Extraction"; REQUIREMENTS OF-40, OF-41, U-42.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from everfold.core.compaction.tasks import Task
from everfold.core.extraction.replies import ExtractionSource, ReadExtraction, RefusalKind, gather_source, read_stepwise
from everfold.core.extraction.requests import (
    ExtractionRequest,
    ask_extraction_again,
    count_read,
    give_known,
    is_extraction_due,
    plan_requests_stepwise,
)
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord
from everfold.core.memory.items import Item
from everfold.core.memory.schemas import MEMORY_TOOLS
from everfold.core.primitives.ids import CompactionId
from everfold.core.text.searching import plan_query
from everfold.errors import ConflictError, ContextLengthError, ModelReplyError
from everfold.ports.models import Finish, ModelRequest
from everfold.ports.stores import LogStore
from everfold.services.memory.remember import Pass, Remembered, Rememberer
from everfold.services.models.call_model import ModelCaller
from everfold.services.telling.pausing import finish_pausing

MOST_INPUT_TOKENS: Final = 16_000
"""What one request holds at most. Source: own choice; of a longer record models note the beginning and the end."""
INPUT_RATIO: Final = 0.5
"""And at most this share of the session's own limit, which is what the model is known to take."""
MOST_FAULTS: Final = 3
"""A pass ends with its third fault. Source: REQUIREMENTS OF-40."""
MOST_MESSAGES: Final = 400
"""A pass on the cadence reads so many messages at once; what is left is read by the next. Source: twice what one digest
reads."""
_SMALLEST_INPUT_TOKENS: Final = 1_500
_LIKE_COUNT: Final = 20
_BLOCK_COUNT: Final = 200
_QUESTION_CHARS: Final = 4_000
_CURSOR_TRIES: Final = 8
_PROBLEMS: Final[dict[Finish, str]] = {
    "refusal": "it declined; the messages are data to note things of, nothing more",
    "tool_call": "it asked for a tool; there is none, answer with the JSON object",
}
_NO_REPLY: Final = "no answer came of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeExtraction:
    """What a model's pass over a range came to.

    Attributes:
        read_seqs: The messages that the model read, rising.
        remembered: What memory made of the candidates, one for each answered request.
        refused: How many entries of the answers were refused for which reason, before memory saw them.
        calls_count: How often the model was asked.
    """

    read_seqs: tuple[int, ...] = ()
    remembered: tuple[Remembered, ...] = ()
    refused: tuple[tuple[RefusalKind, int], ...] = ()
    calls_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExtractor:
    """Extracts with one model. Called with a task it is a worker's `extract`.

    Attributes:
        caller: Asks the model, within its time, retries and caps.
        rememberer: Takes what was found.
        log: Has the messages.
        memory_tools: The names of the tools that read and write memory: what passed through them is no evidence.
    """

    caller: ModelCaller
    rememberer: Rememberer
    log: LogStore
    memory_tools: frozenset[str] = frozenset(MEMORY_TOOLS)

    async def __call__(self, task: Task) -> None:
        """The extraction of one compaction's range, kept messages included. Errors as in `extract_range`."""
        plan = task.compaction.plan
        await self.extract_range(
            task.record, first_seq=plan.first_seq, last_seq=plan.last_seq, compaction_id=task.compaction.id
        )

    async def extract_due(self, record: SessionRecord) -> RangeExtraction | None:
        """A pass over what came after the last one, up to the newest closed block; None where none is due yet.

        Errors as in `extract_range`.
        """
        policy, limit_tokens = self.rememberer.policy, record.settings.limit_tokens
        memory = await self.rememberer.store.read_session_memory(record.id)
        if not policy.is_structured or not is_extraction_due(memory, policy, limit_tokens):
            return None
        state = await self.log.read_state(record.id)
        end = await self.log.find_boundary(record.id, memory.model_seq + MOST_MESSAGES)
        last_seq = state.safe_seq if end is None else min(state.safe_seq, end)
        return await self.extract_range(record, first_seq=memory.model_seq + 1, last_seq=last_seq)

    async def extract_range(
        self, record: SessionRecord, *, first_seq: int, last_seq: int, compaction_id: CompactionId | None = None
    ) -> RangeExtraction:
        """A pass over a range, less what an earlier pass has read.

        Args:
            record: The session.
            first_seq: The first message.
            last_seq: The last one; at the end of a block.
            compaction_id: The compaction that it is for.

        Raises:
            ModelReplyError: the model's answers could not be used; what was found before stands.
            ModelUnavailableError: the model could not be reached.
            LimitError: a rate limit or a spend cap was met.
            ConflictError: words were erased meanwhile; nothing that may have held them was kept.
        """
        store = self.rememberer.store
        version = await store.read_memory_version(record.user_id)
        memory = await store.read_session_memory(record.id)
        begin = max(first_seq, memory.model_seq + 1)
        if begin > last_seq:
            return RangeExtraction()
        messages = await self.log.read_messages(record.id, range(begin, last_seq + 1))
        extracting = _Extracting(
            extractor=self,
            record=record,
            messages=messages,
            compaction_id=compaction_id,
            epoch=version.epoch,
            first_seq=begin,
            last_seq=last_seq,
        )
        await extracting.run()
        return extracting.report()


@dataclass(slots=True, kw_only=True)
class _Extracting:
    """One pass under way.

    Attributes:
        messages: All of the range.
        first_seq: Where the range begins.
        has_gap: A request was given up: the cursor stays before it.
    """

    extractor: ModelExtractor
    record: SessionRecord
    messages: Sequence[Message]
    compaction_id: CompactionId | None
    epoch: int
    first_seq: int
    last_seq: int
    has_gap: bool = False
    calls_count: int = 0
    problems: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    read_seqs: set[int] = field(default_factory=set)
    remembered: list[Remembered] = field(default_factory=list)
    refused: Counter[RefusalKind] = field(default_factory=Counter)

    def report(self) -> RangeExtraction:
        """What it came to."""
        return RangeExtraction(
            read_seqs=tuple(sorted(self.read_seqs)),
            remembered=tuple(self.remembered),
            refused=tuple(self.refused.items()),
            calls_count=self.calls_count,
        )

    async def run(self) -> None:
        """Ask for all of the range, in requests that the model takes."""
        cap_tokens = min(int(self.record.settings.limit_tokens * INPUT_RATIO), MOST_INPUT_TOKENS)
        left = list(self.messages)
        is_too_large = True
        while is_too_large:
            is_too_large = False
            for request in await self._plan(left, cap_tokens):
                try:
                    await self._extract(request)
                except ContextLengthError:
                    self._note_fault("it was too large for the model")
                    if cap_tokens <= _SMALLEST_INPUT_TOKENS:
                        raise
                    cap_tokens = max(cap_tokens // 2, _SMALLEST_INPUT_TOKENS)
                    left = [message for message in left if message.seq >= request.first_seq]
                    is_too_large = True
                    break
        if self.given_up:
            raise self._give_up()
        await self._move(self.last_seq)

    async def _plan(self, messages: Sequence[Message], cap_tokens: int) -> tuple[ExtractionRequest, ...]:
        tools = self.extractor.memory_tools
        steps = plan_requests_stepwise(messages, key=self.record.id, input_cap_tokens=cap_tokens, memory_tools=tools)
        return await finish_pausing(steps)

    async def _extract(self, request: ExtractionRequest) -> None:
        """Ask one request, take what it found, and move the cursor behind it."""
        known = await self._list_known(request)
        request = give_known(request, known, key=self.record.id)
        source = gather_source(
            request, self.messages, lineage=self.record.lineage, memory_tools=self.extractor.memory_tools
        )
        read = await self._ask(request, source)
        if read.problem:
            read = await self._ask(ask_extraction_again(request, read.problem), source)
        if read.problem:
            self.has_gap = True
            self.given_up.append(f"{request.first_seq}-{request.last_seq}")
            return
        await self._take(request, read)
        self.read_seqs.update(request.read_seqs)
        await self._move(request.last_seq - 1)  # a long message may go on in the next request

    async def _list_known(self, request: ExtractionRequest) -> list[Item]:
        """What memory holds of the person and the agent: the block, then what shares words with the messages."""
        store, record = self.extractor.rememberer.store, self.record
        block = await store.list_items(record.user_id, record.agent_id, is_block=True, limit_count=_BLOCK_COUNT)
        question = " ".join(one.text for one in request.spoken if one.role == "user")[:_QUESTION_CHARS]
        query = plan_query(question)
        like = await store.search_items(query, record.user_id, record.agent_id, limit_count=_LIKE_COUNT)
        now = self.extractor.rememberer.clock.now()
        items = {item.id: item for item in (*(item for item, _ in like), *block) if item.is_current(now)}
        return list(items.values())

    async def _ask(self, request: ExtractionRequest, source: ExtractionSource) -> ReadExtraction:
        """Ask once and read the answer; a problem is a fault."""
        self.calls_count += 1
        record = self.record
        try:
            reply = await self.extractor.caller.call(
                ModelRequest(
                    purpose="extraction",
                    instructions=request.instructions,
                    prompt=request.prompt,
                    max_output_tokens=request.max_output_tokens,
                ),
                user_id=record.user_id,
                session_id=record.id,
                compaction_id=self.compaction_id,
            )
        except ModelReplyError as error:
            self._note_fault(error.own_words)
            return ReadExtraction(problem=_NO_REPLY)
        problem = _PROBLEMS.get(reply.finish, "")
        read = ReadExtraction(problem=problem) if problem else await self._read(reply.text, source)
        if read.problem:
            self._note_fault(read.problem)
        return read

    async def _read(self, text: str, source: ExtractionSource) -> ReadExtraction:
        return await finish_pausing(read_stepwise(text, source))

    def _note_fault(self, problem: str) -> None:
        """Keep a fault.

        Raises:
            ModelReplyError: it was one too many.
        """
        self.problems.append(problem)
        if len(self.problems) >= MOST_FAULTS:
            raise self._give_up()

    def _give_up(self) -> ModelReplyError:
        name = self.extractor.caller.model.name
        problems = "; ".join(dict.fromkeys(self.problems))
        return ModelReplyError(
            f"session {self.record.id}: {len(self.problems)} replies of the model {name} could not be used: {problems}; "
            "earlier results stay. Try again, or set another model",
            model=name,
        )

    async def _take(self, request: ExtractionRequest, read: ReadExtraction) -> None:
        """Hand over what one request found, with the epoch that its words were read at.

        Raises:
            ConflictError: words were erased meanwhile.
        """
        record = self.record
        taken = await self.extractor.rememberer.take(
            read.candidates,
            user_id=record.user_id,
            agent_id=record.agent_id,
            written_by="model",
            actor="extraction",
            of=Pass(
                session_id=record.id,
                compaction_id=self.compaction_id,
                first_seq=request.first_seq,
                last_seq=request.last_seq,
            ),
            epoch=self.epoch,
        )
        if taken.is_dropped:
            raise ConflictError(
                f"session {record.id}: a message was erased while messages {request.first_seq} to {request.last_seq} were "
                "read for memory; the result is dropped, read them again",
                session=record.id,
            )
        self.remembered.append(taken)
        self.refused.update(dict(read.refused))

    async def _move(self, through_seq: int) -> None:
        """Keep that the model has read up to the last closed block before a message, over what others keep meanwhile.

        Nothing behind a request that was given up, or where the range does not go on where the cursor stands: what lies
        between would be forgotten.
        """
        store, session_id = self.extractor.rememberer.store, self.record.id
        ends = [one.seq for one in self.messages if one.is_boundary and one.seq <= through_seq]
        end = max(ends, default=0) if through_seq < self.last_seq else through_seq
        for _ in range(_CURSOR_TRIES):
            memory = await store.read_session_memory(session_id)
            moved = count_read(memory, self.messages, through_seq=end)
            if self.has_gap or moved == memory or memory.model_seq < self.first_seq - 1:
                return
            try:
                await store.write_session_memory(moved, expected=memory)
            except ConflictError:
                continue
            return
