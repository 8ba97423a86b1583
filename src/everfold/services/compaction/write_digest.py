"""Write a digest with a model: ask, verify, ask again, split, or give up and leave the extractive digest standing.

A model's mistake is a fault here, never an exception: after a bad text the model is asked once more with its faults
named, then for two halves, then the digest is given up, and `WrittenDigest.digest` is None. A request that turns out
too large is cut smaller. Errors that are not about the text reach the caller, whose compaction has attempts of its
own: a model that cannot be reached, a rate limit, a spend cap, a cancellation.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from everfold.core.digests.abstractive import compose_abstractive_digest, measure_body_budget
from everfold.core.digests.extractive import DigestSource, DigestText
from everfold.core.digests.requests import (
    LEAST_OUTPUT_TOKENS,
    DigestRequest,
    FoldedMessage,
    ask_again,
    halve_messages,
    list_coverage,
    plan_digest_requests,
)
from everfold.core.digests.verification import Fault, clean_reply, verify_stepwise
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import ContextLengthError, ModelReplyError
from everfold.ports.models import ModelReply, ModelRequest
from everfold.services.telling.pausing import finish_pausing

CallModel = Callable[[ModelRequest], Awaitable[ModelReply]]
"""Asks the compaction model once, within its time limit, recorded."""

MOST_CALLS = 24
"""A digest costs at most so many calls. Source: six requests of four calls each; a longer range is folded in parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestOrder:
    """What a digest is to be written of, and within which bounds.

    Attributes:
        messages: The folded messages whole, rising.
        sources: The same as the extractive digest reads them.
        cap_tokens: What the whole digest may measure.
        input_cap_tokens: What one request may measure.
        key: What the marks around the record are keyed with: the session's id.
        hint: What the coordinator's hooks gave.
        focus: What the user asked to care for.
    """

    messages: Sequence[FoldedMessage]
    sources: Sequence[DigestSource]
    first_seq: int
    last_seq: int
    cap_tokens: int
    input_cap_tokens: int
    key: str
    hint: str | None = None
    focus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDigest:
    """What came of it.

    Attributes:
        digest: None when it was given up: the extractive digest stands.
        faults: Everything that was wrong on the way, in order, also where a later attempt was good.
        read_seqs: The messages that a model read for the digest, rising; empty without one.
        elided_seqs: Those of them whose middle was left out and named.
    """

    digest: DigestText | None
    faults: tuple[Fault, ...]
    calls_count: int
    read_seqs: tuple[int, ...] = ()
    elided_seqs: tuple[int, ...] = ()


class _GivenUpError(Exception):
    """No text that may stand can be had; ends the writing, never leaves this module."""


async def write_digest(call: CallModel, order: DigestOrder) -> WrittenDigest:
    """Have a model write the digest of folded messages; all of it passes every check, or there is none.

    Each request is asked at most twice, then its messages in two halves once each. A provider's refusal of a request
    (`ModelReplyError`) counts as the model's fault and is not repeated.

    Raises:
        ModelError: the model could not be reached.
        LimitError: a rate limit or a spend cap was met.
    """
    writing = _Writing(call=call, order=order)
    try:
        digest = await writing.write()
    except _GivenUpError:
        digest = None
    if digest is None:
        return WrittenDigest(digest=None, faults=tuple(writing.faults), calls_count=writing.calls_count)
    coverage = list_coverage(writing.answered)
    return WrittenDigest(
        digest=digest,
        faults=tuple(writing.faults),
        calls_count=writing.calls_count,
        read_seqs=tuple(sorted(coverage.whole + coverage.elided)),
        elided_seqs=coverage.elided,
    )


async def _verify(reply: ModelReply, request: DigestRequest) -> tuple[Fault, ...]:
    """Verify a reply, and let others through between the checks: they take milliseconds each."""
    steps = verify_stepwise(
        reply.text,
        reply.finish,
        input_text=request.input_text,
        wishes=(request.wishes,),
        source_tokens=request.source_tokens,
        cap_tokens=request.cap_tokens,
        first_seq=request.first_seq,
        last_seq=request.last_seq,
        estimate=estimate_text_tokens,
    )
    return await finish_pausing(steps)


@dataclass(slots=True, kw_only=True)
class _Writing:
    """One digest on its way: the answers so far, in order, and the requests that they answer."""

    call: CallModel
    order: DigestOrder
    faults: list[Fault] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    answered: list[DigestRequest] = field(default_factory=list)
    calls_count: int = 0

    async def write(self) -> DigestText | None:
        order = self.order
        budget = measure_body_budget(
            order.sources,
            first_seq=order.first_seq,
            last_seq=order.last_seq,
            cap_tokens=order.cap_tokens,
            estimate=estimate_text_tokens,
        )
        if not budget:
            self._give_up(Fault(kind="no_room", detail=f"{order.cap_tokens} tokens leave no room for a model's text"))
        await self._write_all(order.messages, budget, order.input_cap_tokens)
        digest = compose_abstractive_digest(
            self.bodies,
            order.sources,
            first_seq=order.first_seq,
            last_seq=order.last_seq,
            cap_tokens=order.cap_tokens,
            estimate=estimate_text_tokens,
        )
        if digest is None:
            self._give_up(Fault(kind="too_long", detail="with the extractive lines it passed the cap, or told nothing"))
        return digest

    async def _write_all(self, messages: Sequence[FoldedMessage], usable_tokens: int, input_cap_tokens: int) -> None:
        """Texts for all of these messages, within the room; smaller requests where one turns out too large."""
        requests = self._plan(messages, usable_tokens, input_cap_tokens)
        by_seq = {message.seq: message for message in messages}
        for request in requests:
            own = [by_seq[seq] for seq in request.read_seqs]
            taken_count = len(self.bodies)
            try:
                await self._write_one(request, own, input_cap_tokens)
            except ContextLengthError as error:
                self.faults.append(Fault(kind="context_length", detail=error.own_words))
                del self.bodies[taken_count:], self.answered[taken_count:]
                await self._write_all(own, request.cap_tokens, input_cap_tokens // 2)

    def _plan(
        self, messages: Sequence[FoldedMessage], usable_tokens: int, input_cap_tokens: int
    ) -> tuple[DigestRequest, ...]:
        order = self.order
        requests = plan_digest_requests(
            messages,
            key=order.key,
            input_cap_tokens=input_cap_tokens,
            output_tokens=usable_tokens,
            hint=order.hint,
            focus=order.focus,
        )
        if not requests:
            detail = (
                f"requests of {input_cap_tokens} tokens and answers of {usable_tokens} are too small for the messages"
            )
            self._give_up(Fault(kind="no_room", detail=detail))
        return requests

    async def _write_one(
        self, request: DigestRequest, messages: Sequence[FoldedMessage], input_cap_tokens: int
    ) -> None:
        """A text for one request: asked, asked again with its faults, then in halves."""
        faults = await self._ask(request)
        if faults:
            faults = await self._ask(ask_again(request, [fault.detail for fault in faults]))
        if not faults:
            return
        halves = halve_messages(messages) if request.cap_tokens >= 2 * LEAST_OUTPUT_TOKENS else None
        if halves is None:
            raise _GivenUpError
        total = sum(message.tokens for message in messages)
        for half in halves:
            share = request.cap_tokens * sum(message.tokens for message in half) // max(total, 1)
            budget = min(max(share, LEAST_OUTPUT_TOKENS), request.cap_tokens - LEAST_OUTPUT_TOKENS)
            for part in self._plan(half, budget, input_cap_tokens):
                if await self._ask(part):
                    raise _GivenUpError

    async def _ask(self, request: DigestRequest) -> tuple[Fault, ...]:
        """Ask once and verify; a good answer is taken."""
        if self.calls_count >= MOST_CALLS:
            raise _GivenUpError
        self.calls_count += 1
        try:
            reply = await self.call(
                ModelRequest(
                    purpose="digest",
                    instructions=request.instructions,
                    prompt=request.prompt,
                    max_output_tokens=request.max_output_tokens,
                )
            )
        except ModelReplyError as error:
            self._give_up(Fault(kind="no_reply", detail=error.own_words))
        faults = await _verify(reply, request)
        self.faults += faults
        if not faults:
            self.bodies.append(clean_reply(reply.text))
            self.answered.append(request)
        return faults

    def _give_up(self, fault: Fault) -> NoReturn:
        self.faults.append(fault)
        raise _GivenUpError
