"""The coverage certificate: what became of every message of a compaction's range. The database alone proves it.

A certificate is a list of entries, one a message, and one hash over them. `check_certificates` checks every
claim against the stored messages and digests and gives the first that is false.

Source: DESIGN section 3.3.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from everfold.core.compaction.layout import Layout

GoneMessages = Mapping[int, Literal["erased", "retracted"]]
"""Messages whose words no window may show any more, by number, and why."""

CoverGroup = Literal["fixed", "head", "kept", "folded", "refresh", "erased", "retracted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """One message of a range: its group, the hash of its stored bytes, and the digest that read it (or none)."""

    seq: int
    group: CoverGroup
    content_hash: str
    digest_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What one compaction did with every message it touched.

    Attributes:
        covered: The messages of the range, in order.
        folded_later: Messages of older ranges that left the window, and the rollup that read them; for a late digest,
            the messages that it reads in the place of an earlier one.
        digests: The hash of each digest's text, by its id.
        rollup_last_seq: The rollup of this compaction read every message up to here; 0 when it made none.
        total_hash: SHA-256 over all of it, hex.
    """

    compaction_id: str
    first_seq: int
    last_seq: int
    covered: tuple[Covered, ...]
    folded_later: tuple[Covered, ...]
    digests: tuple[tuple[str, str], ...]
    rollup_last_seq: int = 0
    total_hash: str = ""


def hash_text(text: str) -> str:
    """SHA-256 of a text, hex; lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seal_certificate(certificate: Certificate) -> Certificate:
    """The certificate with the hash over its content."""
    return Certificate(
        compaction_id=certificate.compaction_id,
        first_seq=certificate.first_seq,
        last_seq=certificate.last_seq,
        covered=certificate.covered,
        folded_later=certificate.folded_later,
        digests=certificate.digests,
        rollup_last_seq=certificate.rollup_last_seq,
        total_hash=_hash_content(certificate),
    )


def _content(certificate: Certificate) -> list[object]:
    return [
        certificate.compaction_id,
        certificate.first_seq,
        certificate.last_seq,
        [[c.seq, c.group, c.content_hash, c.digest_id] for c in certificate.covered],
        [[c.seq, c.group, c.content_hash, c.digest_id] for c in certificate.folded_later],
        [list(pair) for pair in certificate.digests],
        certificate.rollup_last_seq,
    ]


def _hash_content(certificate: Certificate) -> str:
    return hash_text(json.dumps(_content(certificate), separators=(",", ":")))


def certificate_to_text(certificate: Certificate) -> str:
    """The certificate as JSON text."""
    return json.dumps([*_content(certificate), certificate.total_hash], separators=(",", ":"))


def certificate_from_text(text: str) -> Certificate:
    """The certificate that `certificate_to_text` wrote."""
    compaction_id, first, last, covered, folded_later, digests, rollup_last_seq, total_hash = json.loads(text)
    return Certificate(
        compaction_id=compaction_id,
        first_seq=first,
        last_seq=last,
        covered=tuple(_covered(row) for row in covered),
        folded_later=tuple(_covered(row) for row in folded_later),
        digests=tuple((id_, hash_) for id_, hash_ in digests),
        rollup_last_seq=rollup_last_seq,
        total_hash=total_hash,
    )


def _covered(row: Sequence[object]) -> Covered:
    seq, group, content_hash, digest_id = row
    return Covered(
        seq=cast("int", seq),
        group=cast("CoverGroup", group),
        content_hash=cast("str", content_hash),
        digest_id=cast("str", digest_id),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationProblem:
    """Something that is not as the certificates say. `seq` is 0 where it is not about one message."""

    compaction_id: str
    seq: int
    problem: str


def check_certificate(
    certificate: Certificate,
    *,
    expected_first_seq: int,
    message_hashes: Mapping[int, str],
    digest_hashes: Mapping[str, str],
) -> list[VerificationProblem]:
    """Everything in one certificate that the stored rows contradict; empty when it holds.

    Args:
        certificate: The certificate of a committed compaction.
        expected_first_seq: Where its range must begin: one after the range before it.
        message_hashes: The hash of each stored message of the range, made from its bytes now.
        digest_hashes: The hash of each stored digest, made from its text now.
    """
    problems: list[VerificationProblem] = []

    def find(problem: str, seq: int = 0) -> None:
        problems.append(VerificationProblem(compaction_id=certificate.compaction_id, seq=seq, problem=problem))

    if _hash_content(certificate) != certificate.total_hash:
        find("the certificate's hash does not match its content")
    if certificate.first_seq != expected_first_seq:
        find(f"its range begins at {certificate.first_seq}, expected {expected_first_seq}: ranges must be contiguous")
    seqs = [covered.seq for covered in certificate.covered]
    if seqs != list(range(certificate.first_seq, certificate.last_seq + 1)):
        find(f"its messages are not exactly {certificate.first_seq} to {certificate.last_seq}, each once")
    for covered in (*certificate.covered, *certificate.folded_later):
        if problem := _find_change(covered, message_hashes.get(covered.seq)):
            find(problem, covered.seq)
        if covered.group == "folded" and covered.digest_id not in digest_hashes:
            find(f"the digest {covered.digest_id!r} that read it is missing", covered.seq)
    for digest_id, digest_hash in certificate.digests:
        if digest_hashes.get(digest_id) != digest_hash:
            find(f"the digest {digest_id!r} is missing or was changed")
    return problems


def _find_change(covered: Covered, stored_hash: str | None) -> str:
    """What is wrong with the stored bytes of a message; empty when nothing is."""
    if covered.group in {"erased", "retracted"}:
        return "" if stored_hash is None else f"it was {covered.group}, but is stored"
    if stored_hash is None:
        return "the stored message is missing"
    return "" if stored_hash == covered.content_hash else "the stored message was changed"


def check_forgotten(
    layout: Layout, reads: Mapping[str, Collection[int]], gone: GoneMessages, *, compaction_id: str
) -> list[VerificationProblem]:
    """Where what one compaction put in force still holds, quotes or has read an erased or a retracted message (G2, G10).

    Args:
        layout: What the compaction put in force.
        reads: The messages that each of its digests read or may quote, by digest.
        gone: The erased and the retracted messages of the log, and which they are.
        compaction_id: The compaction, for the problems.
    """
    problems = [(held.seq, "is held") for held in layout.held]
    problems += [(held.asked.seq, f"is quoted over message {held.seq}") for held in layout.held if held.asked]
    problems += [(line.seq, "is quoted as standing") for line in layout.standing]
    problems += [(line.seq, "waits to be quoted as standing") for line in layout.standing_pool]
    for digest_id, seqs in reads.items():
        problems += [(seq, f"the digest {digest_id!r} has read it") for seq in gone.keys() & seqs]
    return [
        VerificationProblem(compaction_id=compaction_id, seq=seq, problem=f"it was {gone[seq]}, but {problem}")
        for seq, problem in problems
        if seq in gone
    ]


def check_asked(layout: Layout, texts: Mapping[int, str], *, compaction_id: str) -> list[VerificationProblem]:
    """Questions over kept messages whose words are not in the log, by the texts of the messages that they quote."""
    return [
        VerificationProblem(
            compaction_id=compaction_id, seq=asked.seq, problem="it lacks the words that are quoted of it"
        )
        for asked in layout.asked
        if not 0 < asked.start + asked.length <= len(texts.get(asked.seq, ""))
    ]


def check_never_neither(
    layout: Layout, certificates: Sequence[Certificate], *, compaction_id: str, last_seq: int, refresh_seq: int = 0
) -> list[VerificationProblem]:
    """Messages up to the watermark that are neither shown nor read by a digest that is shown (G2).

    Args:
        layout: What the window shows of the past.
        certificates: Those of all compactions up to the layout's, oldest first.
        compaction_id: The layout's compaction, for the problems.
        last_seq: The newest message of the log; the watermark cannot be past it.
        refresh_seq: The newest context refresh: those before it were replaced, and need no words.
    """
    problems: list[VerificationProblem] = []
    shown_digests = {shown.digest_id for shown in layout.ranges}
    rollup = layout.rollup
    rollup_last_seq = rollup.last_seq if rollup else 0
    held = layout.held_seqs
    read_again = {
        one.seq for certificate in certificates for one in certificate.folded_later if one.digest_id in shown_digests
    }
    decided = 0
    for certificate in certificates:
        for covered in certificate.covered:
            decided = covered.seq
            is_replaced = covered.group == "refresh" and covered.seq < refresh_seq
            is_shown = covered.seq in held or covered.group in {"fixed", "erased", "retracted"} or is_replaced
            is_read = covered.seq <= rollup_last_seq or covered.digest_id in shown_digests or covered.seq in read_again
            if not (is_shown or is_read):
                problem = f"it is {covered.group}, not shown, and no digest that is shown has read it"
                problems.append(VerificationProblem(compaction_id=compaction_id, seq=covered.seq, problem=problem))
    if decided != layout.watermark or layout.watermark > last_seq:
        problem = f"the watermark is {layout.watermark}, but certificates decide up to {decided} of {last_seq}"
        problems.append(VerificationProblem(compaction_id=compaction_id, seq=0, problem=problem))
    if layout.ranges and [layout.ranges[0].first_seq, layout.ranges[-1].last_seq] != [1, layout.watermark]:
        problem = f"the shown ranges do not reach from 1 to the watermark {layout.watermark}"
        problems.append(VerificationProblem(compaction_id=compaction_id, seq=0, problem=problem))
    for before, after in zip(layout.ranges, layout.ranges[1:], strict=False):
        if after.first_seq != before.last_seq + 1:
            problem = f"the shown ranges have a gap between {before.last_seq} and {after.first_seq}"
            problems.append(VerificationProblem(compaction_id=compaction_id, seq=0, problem=problem))
    return problems
