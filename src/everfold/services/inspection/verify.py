"""Verify: everything that the certificates of a session claim, checked against what is stored, and nothing else."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from everfold.core.compaction.certificate import (
    Certificate,
    GoneMessages,
    VerificationProblem,
    check_asked,
    check_certificate,
    check_forgotten,
    check_never_neither,
    hash_text,
)
from everfold.core.compaction.layout import EMPTY_LAYOUT
from everfold.core.log.sessions import SessionRecord, find_holder
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.ports.stores import Store
from everfold.services.sessions.list_compactions import iterate_compactions

_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a verification saw. `problems` is empty when every guarantee holds."""

    session: SessionId
    messages_count: int
    compactions_count: int
    problems: tuple[VerificationProblem, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


async def verify_session(store: Store, record: SessionRecord) -> Verification:
    """Check every message, every certificate, that nothing is neither shown nor read, and that what was erased is gone.

    O(log).
    """
    state = await store.read_state(record.id)
    erased: set[int] = set()
    retracted: set[int] = set()
    problems = [problem async for problem in _check_messages(store, record.id, state.last_seq, erased, retracted)]
    problems += await _check_memory(store, record, erased)
    gone: GoneMessages = {**dict.fromkeys(retracted, "retracted"), **dict.fromkeys(erased, "erased")}
    certificates: list[Certificate] = []
    next_seq = 1
    async for certificate in _certificates(store, record.id, state.compactions_count):
        problems += await _check_compaction(store, record.id, certificate, next_seq)
        if gone:
            problems += await _check_gone(store, certificate, gone)
        next_seq = certificate.last_seq + 1
        certificates.append(certificate)
    layout = await store.read_layout(CompactionId(state.compaction_id)) if state.compaction_id else EMPTY_LAYOUT
    problems += check_never_neither(
        layout, certificates, compaction_id=state.compaction_id, last_seq=state.last_seq, refresh_seq=state.refresh_seq
    )
    asked = await store.read_messages(record.id, [asked.seq for asked in layout.asked])
    texts = {message.seq: message.view.text for message in asked}
    problems += check_asked(layout, texts, compaction_id=state.compaction_id)
    shown = [shown.digest_id for shown in layout.ranges if shown.digest_id]
    stored = await store.read_digests(shown)
    problems += [
        VerificationProblem(
            compaction_id=state.compaction_id, seq=0, problem=f"the digest {digest_id!r}, which is shown, is missing"
        )
        for digest_id in shown
        if digest_id not in stored
    ]
    return Verification(
        session=record.id,
        messages_count=state.last_seq,
        compactions_count=len(certificates),
        problems=tuple(problems),
    )


async def _check_messages(
    store: Store, session_id: SessionId, last_seq: int, erased: set[int], retracted: set[int]
) -> AsyncIterator[VerificationProblem]:
    """Every message from 1 to the last is there, once, and its bytes are those that were stored. Collects what is gone.

    Raises:
        CorruptStoreError: what was noted of a message cannot be read.
    """
    for first_seq in range(1, last_seq + 1, _PAGE):
        end_seq = min(first_seq + _PAGE - 1, last_seq)
        contents = await store.read_contents(session_id, first_seq, end_seq)
        await store.read_notes(session_id, range(first_seq, end_seq + 1))
        found = [content.seq for content in contents]
        erased.update(content.seq for content in contents if content.is_erased)
        retracted.update(content.seq for content in contents if content.is_retracted)
        for seq in range(first_seq, end_seq + 1):
            if found.count(seq) != 1:
                yield VerificationProblem(
                    compaction_id="", seq=seq, problem=f"it is stored {found.count(seq)} times, expected once"
                )
        for content in contents:
            if not content.is_erased and hashlib.sha256(content.content).hexdigest() != content.content_hash:
                yield VerificationProblem(
                    compaction_id="", seq=content.seq, problem="its bytes do not match the hash they were stored with"
                )


async def _certificates(store: Store, session_id: SessionId, last_ordinal: int) -> AsyncIterator[Certificate]:
    async for compaction in iterate_compactions(store, session_id):
        if compaction.certificate is not None and compaction.ordinal <= last_ordinal:
            yield compaction.certificate


async def _check_compaction(
    store: Store, session_id: SessionId, certificate: Certificate, next_seq: int
) -> list[VerificationProblem]:
    hashes: dict[int, str] = {}
    ranges = [(certificate.first_seq, certificate.last_seq), *((one.seq, one.seq) for one in certificate.folded_later)]
    for first_seq, last_seq in ranges:
        if first_seq > last_seq:
            continue
        for content in await store.read_contents(session_id, first_seq, last_seq):
            if not (content.is_erased or content.is_retracted):
                hashes[content.seq] = hashlib.sha256(content.content).hexdigest()
    ids = {id_ for id_, _ in certificate.digests} | {covered.digest_id for covered in certificate.covered}
    digests = await store.read_digests(sorted(ids - {""}))
    return check_certificate(
        certificate,
        expected_first_seq=next_seq,
        message_hashes=hashes,
        digest_hashes={id_: hash_text(digest.text) for id_, digest in digests.items()},
    )


async def _check_memory(store: Store, record: SessionRecord, erased: set[int]) -> list[VerificationProblem]:
    """No item of its user quotes an erased message, in no revision: what another one imported is not erased with it."""
    return [
        VerificationProblem(
            compaction_id="", seq=seq, problem=f"it was erased, but item {item.id} of memory still quotes it"
        )
        for seq in sorted(erased)
        for item in await store.find_quoting(find_holder(record.lineage, seq), [seq])
        if item.user_id == record.user_id
    ]


async def _check_gone(store: Store, certificate: Certificate, gone: GoneMessages) -> list[VerificationProblem]:
    reads: dict[str, list[int]] = {}
    for digest in (await store.read_digests([id_ for id_, _ in certificate.digests])).values():
        reads[digest.id] = [line.seq for line in digest.pool.list_lines()] if digest.pool else list(digest.reads)
    layout = await store.read_layout(CompactionId(certificate.compaction_id))
    return check_forgotten(layout, reads, gone, compaction_id=certificate.compaction_id)
