"""The guarantees of a session, checked from outside after every request.

A `Prover` drives a session as a client would and keeps what it gave and what it was shown. What it claims is derived
again from the messages it gave, from the certificates and from the rendered requests, not from the code that made
them: lossless (G1), never neither (G2), user words (G3), no drift (G4), cache (G5), valid (G6), converges (G12).

Source: DESIGN section 1.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final, cast

from everfold.core.compaction.record import Compaction
from everfold.core.log.messages import Message, WireFormat
from everfold.core.primitives.json_values import JsonObject
from everfold.core.replacement.supersession import has_ended, list_current
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.strengths import measure_strength
from everfold.core.text.tokens import (
    IMAGE_TOKENS,
    LOW_DETAIL_IMAGE_TOKENS,
    MESSAGE_OVERHEAD_TOKENS,
    estimate_json_tokens,
    estimate_text_tokens,
)
from everfold.core.windows.entries import MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.rendering import Provider, render
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.errors import BudgetUnsatisfiableError
from everfold.session import Session
from everfold.testing.judges.requests import (
    check_anthropic_request,
    check_openai_request,
    check_responses_request,
    check_window_rules,
    find_extras,
)

PROVIDERS: Final[tuple[Provider, ...]] = ("openai", "anthropic")
_LATE: Final = datetime.max.replace(tzinfo=UTC)
LEAST_BLOCK_TOKENS: Final = 48
"""A standing block that only counts what it lacks has about so many."""
FIRST_COUNT: Final = 8
"""So many windows of a session are always looked at."""
_SPELLING: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False)
Flat = tuple[tuple[str, str], ...]
"""A request as a row of (role, content) parts, so that a longer request can be compared with a shorter one."""


class Prover:
    """A session under proof.

    Args:
        session: The session, which no other code may be using.
        wire_format: The form of what is appended; None finds it by message.
        is_prefix_held: Whether a request must extend the one before where nothing was compacted or changed.
    """

    def __init__(self, session: Session, *, wire_format: WireFormat | None = None, is_prefix_held: bool = True) -> None:
        self.session = session
        self.wire_format: WireFormat | None = wire_format
        self.is_prefix_held = is_prefix_held
        self.given: list[Mapping[str, object]] = []
        self.extras: set[str] = set()
        self.erased: set[int] = set()
        self.digest_texts: dict[str, str] = {}
        self._flat: dict[Provider, Flat] = {}
        self._settings: object = None
        self._events_count = 0
        self._windows_count = 0
        self._watermark = 0

    async def append(self, *wires: Mapping[str, object], client_id: str | None = None) -> list[int]:
        """Append messages and remember them as they were given."""
        given = [cast("dict[str, object]", json.loads(json.dumps(wire))) for wire in wires]
        seqs = await self.session.append(list(wires), wire_format=self.wire_format, client_id=client_id)
        new = [wire for seq, wire in zip(seqs, given, strict=True) if seq > len(self.given)]
        self.given += new
        self.extras |= find_extras(new)
        return seqs

    async def refresh(self, wire: Mapping[str, object]) -> int:
        """Append a context refresh, as the engine itself does."""
        (seq,) = await self.session.append(wire, source="refresh", wire_format="openai")
        self.given.append(cast("dict[str, object]", json.loads(json.dumps(wire))))
        self.extras |= find_extras(self.given[-1:])
        return seq

    async def window(self, *, limit: int | None = None, suffix: str | None = None, is_thorough: bool = True) -> Window:
        """The window, after everything that it must hold to was checked.

        Args:
            limit: As in `Session.window`.
            suffix: As in `Session.window`.
            is_thorough: False checks only what costs O(window): its report, the cache, that no fold is taken back. For
                long logs, where the whole proof at every request would cost O(log) each time.

        Raises:
            AssertionError: a guarantee does not hold; says which and where.
            BudgetUnsatisfiableError: as the session raised it, after it was found to be honest.
        """
        before = await self.session.inspect.state()
        try:
            window = await self.session.window(limit=limit, suffix=suffix)
        except BudgetUnsatisfiableError as error:
            after = await self.session.inspect.state()
            _hold(after == before, f"G12: the error {error} came after something was written: {before} -> {after}")
            await self._check_smallest(error, limit)
            raise
        self._check_report(window, suffix)
        self._check_cache(window, (await self.session.inspect.state()).compactions_count)
        self._check_watermark(window)
        if not is_thorough:
            return window
        self._check_requests(window, suffix)
        self._check_budget(window)
        self._check_digest_texts(window)
        await self._check_never_neither(window)
        await self._check_user_words(window)
        self._check_questions(window)
        await self._check_converged(window, limit, suffix)
        return window

    async def reopen(self, engine: Everfold) -> None:
        """Go on with a new handle, as after a restart, which must show what the old one showed."""
        try:
            before = await self.session.window(preview=True)
        except BudgetUnsatisfiableError:
            before = None
        state = await self.session.inspect.state()
        self.session = await engine.session(id=self.session.id)
        _hold(await self.session.inspect.state() == state, "G1: a new handle reads another state")
        if before is not None:
            after = await self.session.window(preview=True)
            _hold(after == before, f"G2: a new handle shows another window: {after.report} instead of {before.report}")

    async def check_history(self) -> None:
        """G1: everything that was given reads back equal, in order, and nothing else."""
        last_seq = (await self.session.inspect.state()).last_seq
        _hold(last_seq == len(self.given), f"G1: {last_seq} messages are stored, {len(self.given)} were given")
        stored: list[Message] = []
        for first in range(1, last_seq + 1, 1000):
            stored += await self.session.messages(first, min(first + 999, last_seq))
        seqs = [message.seq for message in stored]
        wanted = [seq for seq in range(1, last_seq + 1) if seq not in self.erased]
        _hold(seqs == wanted, f"G1: history gives {seqs}, expected {wanted}")
        for message in stored:
            given = self.given[message.seq - 1]
            _hold(spell(message.wire) == spell(given), f"G1: message {message.seq} reads back other than it was given")

    async def check_all(self) -> None:
        """History, and the session's own verification."""
        await self.check_history()
        verification = await self.session.verify()
        _hold(verification.is_sound, f"verify finds {verification.problems[:5]}")

    # --- what one window must hold to

    def _check_requests(self, window: Window, suffix: str | None) -> None:
        checks = {
            "openai": partial(check_openai_request, extras=self.extras),
            "anthropic": partial(check_anthropic_request, extras=self.extras),
        }
        for provider in PROVIDERS:
            request = render(window, provider)
            if not self.given:
                _hold(request["messages"] == [], f"G6: {provider}: an empty log renders {request['messages']}")
                continue
            wrong = [*checks[provider](request), *check_window_rules(request, kind=provider)]
            _hold(not wrong, f"G6: {provider}: {wrong[:5]}")
            _hold(request == render(window, provider), f"G6: {provider}: the same window renders in two ways")
            if suffix and provider == "anthropic":
                last = flatten_request(request)[-1]
                _hold(suffix[:20] in last[1], f"G5: the dynamic suffix is not last, but {last}")

        if self.given:
            wrong = check_responses_request(render(window, "responses"), extras=self.extras)
            _hold(not wrong, f"G6: responses: {wrong[:5]}")

    def _check_report(self, window: Window, suffix: str | None) -> None:
        report = window.report
        bound = (
            report.budget_tokens
            if suffix or find_suffix(window)
            else report.budget_tokens - report.fixed_tokens + report.by_slice["fixed"]
        )
        _hold(report.tokens <= bound, f"G12: the report counts {report.tokens}, allowed are {bound}: {report}")

    def _check_budget(self, window: Window) -> None:
        report = window.report
        has_low_detail = '"detail": "low"' in spell(render(window, "openai"))
        for provider in PROVIDERS:
            tokens = count_tokens(render(window, provider), low_detail=has_low_detail)
            _hold(
                tokens <= report.budget_tokens,
                f"G12: {provider}: {tokens} tokens by an own count, the budget is {report.budget_tokens}; {report}",
            )

    def _check_cache(self, window: Window, compactions_count: int) -> None:
        settings = self.session.settings
        is_cache_break = (
            compactions_count != self._events_count
            or settings != self._settings
            or not self._windows_count
            or not self.is_prefix_held
            or bool(window.report.cache_breaks)
        )
        for provider in PROVIDERS:
            flat = flatten_prefix(window, provider)
            before = self._flat.get(provider, ())
            if not is_cache_break and flat[: len(before)] != before:
                at = next((i for i, (old, new) in enumerate(zip(before, flat, strict=False)) if old != new), len(flat))
                raise AssertionError(
                    f"G5: {provider}: no event, but part {at} changed from {before[at : at + 1]!r:.300} "
                    f"to {flat[at : at + 1]!r:.300}"
                )
            self._flat[provider] = flat
        self._events_count, self._settings = compactions_count, settings
        # A request that holds only the system prompt has a constant opener for want of any message; it is never sent.
        has_messages = any(not isinstance(e, MessageEntry) or e.slice != "fixed" for e in window.entries)
        self._windows_count = self._windows_count + 1 if has_messages else 0

    def _check_watermark(self, window: Window) -> None:
        watermark = window.report.compacted_through
        _hold(watermark >= self._watermark, f"G5: the watermark went back from {self._watermark} to {watermark}")
        self._watermark = watermark

    def _check_digest_texts(self, window: Window) -> None:
        texts = {
            e.shown.digest_id: e.digest_text for e in window.entries if isinstance(e, RangeEntry) and e.digest_text
        }
        for digest_id, text in texts.items():
            old = self.digest_texts.setdefault(digest_id, text)
            _hold(self.erased != set() or text == old, f"G4: the digest {digest_id} changed from {old!r} to {text!r}")

    async def _check_never_neither(self, window: Window) -> None:
        state = await self.session.inspect.state()
        shown = set(_shown_seqs(window))
        digests = {e.shown.digest_id for e in window.entries if isinstance(e, RangeEntry) and e.digest_text}
        compactions = [
            compaction
            for compaction in await list_all_compactions(self.session)
            if compaction.ordinal <= state.compactions_count
        ]
        read_by: dict[int, set[str]] = {}
        replaced = {one.seq for one in state.refreshes[:-1]}
        for compaction in compactions:
            certificate = compaction.certificate
            if certificate is None:
                raise AssertionError(f"G2: the event {compaction.id} has no certificate")
            for covered in (*certificate.covered, *certificate.folded_later):
                if covered.group == "folded" or covered in certificate.folded_later:
                    read_by.setdefault(covered.seq, set()).add(covered.digest_id)
            replaced.update(
                it.seq for it in certificate.covered if it.group == "refresh" and it.seq < state.refresh_seq
            )
            if certificate.rollup_last_seq:
                for seq in range(1, certificate.rollup_last_seq + 1):
                    read_by.setdefault(seq, set()).add(f"{compaction.id}.rollup")
        joined_through = max(
            (compaction.report.joined_through for compaction in compactions if compaction.report), default=0
        )
        newest = {compaction.revises: compaction.id for compaction in compactions if compaction.revises}
        waiting = {
            f"{newest.get(compaction.id, compaction.id)}.digest"
            for compaction in compactions
            if compaction.plan.folded and compaction.plan.last_seq > joined_through
        }
        _hold(waiting <= digests, f"G4: the digests {sorted(waiting - digests)} left before they were rolled up")
        open_from = state.safe_seq
        for seq in range(1, len(self.given) + 1):
            needs_none = seq in self.erased or seq in replaced or seq > open_from
            is_held = seq in shown or needs_none or bool(read_by.get(seq, set()) & digests)
            _hold(is_held, f"G2: message {seq} is neither shown nor read by one of {sorted(digests)}")
        _hold(
            list(window.report.withheld_seqs) == list(range(open_from + 1, len(self.given) + 1)),
            f"G2: withheld are {window.report.withheld_seqs}, the open step begins after {open_from}",
        )

    def _check_questions(self, window: Window) -> None:
        """What stands over a kept message quotes the assistant's message before it, and names it as the assistant's."""
        for entry in window.entries:
            for seq, line in entry.asked.items() if isinstance(entry, RangeEntry) else ():
                before = self.given[seq - 2]
                title, _, quote = line.removesuffix('"]').partition('"')
                _hold(
                    title == f"[Answers the assistant's message {seq - 1}: ", f"G9: over message {seq} stands {line!r}"
                )
                is_said = before["role"] == "assistant" and _squeeze(quote) in _squeeze(" ".join(_said_texts(before)))
                _hold(is_said, f"G9: message {seq - 1} does not say {quote!r}")

    async def _check_user_words(self, window: Window) -> None:
        """Whole user messages that the window shows stand in both requests word for word; so do standing lines."""
        words = {provider: _readable(render(window, provider)) for provider in PROVIDERS}
        block = next((e.text for e in window.entries if isinstance(e, TextEntry) and e.slice == "standing"), "")
        for message in _shown_messages(window):
            if message.kind != "user" or message.cuts:
                continue
            for text in _said_texts(self.given[message.seq - 1]):
                for provider in PROVIDERS:
                    _hold(
                        text in words[provider], f"G3: {provider}: message {message.seq} is not word for word: {text!r}"
                    )
        shown = set(_shown_seqs(window))
        gone = [
            seq for seq in range(1, window.report.compacted_through + 1) if seq not in shown and seq not in self.erased
        ]
        notes = await self.session._store.read_notes(self.session.id, gone)
        told = [line for note in notes for line in note.lines if line.standing]
        lines = [line for line in told if measure_strength(line.kind, line.quote)]
        standing = [line for line in lines if not has_ended(line, _LATE)]
        flat_block = _squeeze(block)
        absent = {
            _squeeze(line.quote): line for line in list_current(standing) if _squeeze(line.quote) not in flat_block
        }
        counted = re.search(r"(\d+) more not shown, messages (\d+)(?:-(\d+))?", block)
        count = int(counted[1]) if counted else 0
        named = range(int(counted[2]), int(counted[3] or counted[2]) + 1) if counted else range(0)
        missing = list(absent.values())
        if len(missing) > count or any(line.seq not in named for line in missing):
            notes = await self.session._store.read_notes(self.session.id, sorted(shown))
            beside = [line for note in notes for line in note.lines if line.standing]
            missing = [line for line in missing if not _is_superseded(line, [*told, *beside])]  # by any, however weak
        has_room = window.report.usable_tokens * self.session.settings.policy.standing_ratio >= LEAST_BLOCK_TOKENS
        _hold(
            not has_room or (len(missing) <= count and all(line.seq in named for line in missing)),
            f"G3: standing statements {[(line.seq, line.quote) for line in missing[:3]]} are neither quoted nor counted "
            f"({len(missing)} in all) in {block!r}",
        )

    async def _check_converged(self, window: Window, limit: int | None, suffix: str | None) -> None:
        state = await self.session.inspect.state()
        again = await self.session.window(limit=limit, suffix=suffix)
        after = await self.session.inspect.state()
        _hold(after == state, f"G12: asked again, the window was compacted again: {state} -> {after}")
        _hold(
            [render(again, provider) for provider in PROVIDERS] == [render(window, provider) for provider in PROVIDERS],
            "G12: asked again, the window is another",
        )

    async def _check_smallest(self, error: BudgetUnsatisfiableError, limit: int | None) -> None:
        """The limit that an error names works, and one less does not."""
        smallest = error.smallest_limit_tokens
        asked = self.session.settings.limit_tokens if limit is None else limit
        _hold(smallest > asked, f"G12: the error names {smallest} as the smallest limit, but {asked} was refused")
        if smallest > self.session.settings.limit_tokens:
            return
        await self.session.window(limit=smallest, preview=True)
        try:
            await self.session.window(limit=smallest - 1, preview=True)
        except BudgetUnsatisfiableError:
            return
        raise AssertionError(f"G12: the error names {smallest} as the smallest limit, but {smallest - 1} works")


class PrefixWatch:
    """Holds the requests of any number of sessions to G5: each extends the one before, unless a break came between.

    Args:
        every: Of a session's windows after the first few, one of so many is looked at.
    """

    def __init__(self, *, every: int = 1) -> None:
        self._every = every
        self._seen: dict[str, tuple[object, Flat]] = {}
        self._counts: Counter[str] = Counter()
        self._told: set[str] = set()

    def see(self, key: str, window: Window, *, settings: object, epoch: int) -> None:
        """Compare a window with the one before of the same session.

        Raises:
            AssertionError: the beginning of the request changed although nothing of the past did.
        """
        self._counts[key] += 1
        if any(one.reason in {"memory", "refresh"} for one in window.report.cache_breaks):
            self._told.add(key)
        if self._counts[key] > FIRST_COUNT and self._counts[key] % self._every:
            return
        flat = flatten_prefix(window)
        past = tuple(
            (entry.shown, tuple(message.seq for message in entry.kept)) if isinstance(entry, RangeEntry) else entry
            for entry in window.entries
            if isinstance(entry, RangeEntry) or (isinstance(entry, TextEntry) and entry.slice == "standing")
        )
        cache_breaks = (settings, epoch, window.report.compacted_through, past)
        old_breaks, old = self._seen.get(key, (None, ()))
        _hold(
            cache_breaks != old_breaks or key in self._told or flat[: len(old)] == old,
            f"G5: session {key}: the beginning of the request changed",
        )
        self._told.discard(key)
        if says_something(window):
            self._seen[key] = (cache_breaks, flat)


def says_something(window: Window) -> bool:
    """Whether a window shows more than what is fixed and what was erased: the constant opener alone is never sent."""
    return any(
        not isinstance(entry, MessageEntry) or (entry.slice != "fixed" and not entry.message.is_erased)
        for entry in window.entries
    )


def spell(value: object) -> str:
    """A JSON value as text in which key order, the form of numbers and every code point can be told apart."""
    return _SPELLING.encode(value)


async def list_all_compactions(session: Session) -> list[Compaction]:
    """Every event of a session, oldest first."""
    found: list[Compaction] = []
    while page := await session.inspect.compactions(after_ordinal=found[-1].ordinal if found else 0, limit=100):
        found += page
    return found


def flatten_request(request: JsonObject) -> Flat:
    """A request as (role, part) in order, system and tools first, without cache marks."""
    parts: list[tuple[str, str]] = []
    for key in ("tools", "system"):
        parts += [(key, spell(_unmarked(item))) for item in cast("Sequence[object]", request.get(key, ()))]
    for message in cast("Sequence[Mapping[str, object]]", request["messages"]):
        content = message.get("content")
        rest = {key: value for key, value in message.items() if key != "content"}
        blocks = content if isinstance(content, list) else [content]
        spelled = spell(rest)
        parts += [(spelled, spell(_unmarked(block))) for block in blocks]
    return tuple(parts)


def flatten_prefix(window: Window, provider: Provider = "openai") -> Flat:
    """The request of a window without its dynamic suffix, which is the very last content."""
    flat = flatten_request(render(window, provider))
    return flat[:-1] if find_suffix(window) else flat


def find_suffix(window: Window) -> str:
    """The dynamic suffix of a window; empty for none."""
    return next((e.text for e in window.entries if isinstance(e, TextEntry) and e.slice == "suffix"), "")


def _unmarked(value: object) -> object:
    return {k: v for k, v in value.items() if k != "cache_control"} if isinstance(value, dict) else value


def count_tokens(request: JsonObject, *, low_detail: bool = False) -> int:
    """The fixed estimate of everything that a request says, counted from its rendered form alone.

    Args:
        request: In either provider's form.
        low_detail: Images without a detail count as in low detail: Anthropic's form cannot say it.
    """
    tokens = sum(estimate_json_tokens(tool) for tool in cast("Sequence[JsonObject]", request.get("tools", ())))
    for block in cast("Sequence[JsonObject]", request.get("system", ())):
        tokens += MESSAGE_OVERHEAD_TOKENS + _count_block(block, low_detail=low_detail)
    for message in cast("Sequence[JsonObject]", request["messages"]):
        tokens += MESSAGE_OVERHEAD_TOKENS
        content = message.get("content")
        if isinstance(content, str):
            tokens += estimate_text_tokens(content)
        elif isinstance(content, list):
            tokens += sum(_count_block(cast("JsonObject", block), low_detail=low_detail) for block in content)
        for call in cast("Sequence[JsonObject]", message.get("tool_calls", ())):
            function = cast("Mapping[str, str]", call["function"])
            tokens += estimate_text_tokens(function["name"]) + estimate_text_tokens(function["arguments"])
    return tokens


def _count_block(block: JsonObject, *, low_detail: bool) -> int:
    match block:
        case {"type": "text", "text": str(text)}:
            return estimate_text_tokens(text)
        case {"type": "image"}:
            return LOW_DETAIL_IMAGE_TOKENS if low_detail else IMAGE_TOKENS
        case {"type": "image_url", "image_url": {"detail": "low"}}:
            return LOW_DETAIL_IMAGE_TOKENS
        case {"type": "image_url"}:
            return IMAGE_TOKENS
        case {"type": "tool_use", "name": str(name), "input": inputs}:
            return estimate_text_tokens(name) + estimate_text_tokens(json.dumps(inputs, ensure_ascii=False))
        case {"type": "tool_result", "content": str(text)}:
            return estimate_text_tokens(text)
        case {"type": "tool_result", "content": list(blocks)}:
            return sum(_count_block(cast("JsonObject", inner), low_detail=low_detail) for inner in blocks)
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return estimate_text_tokens(text)
        case _:
            return estimate_json_tokens(block)


def _readable(request: JsonObject) -> str:
    """All strings of a request, joined."""
    return "\n".join(_strings(request))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _shown_messages(window: Window) -> Iterator[Message]:
    for entry in window.entries:
        if isinstance(entry, MessageEntry):
            yield entry.message
        elif isinstance(entry, RangeEntry):
            yield from entry.kept


def _shown_seqs(window: Window) -> list[int]:
    return [message.seq for message in _shown_messages(window)]


def _said_texts(wire: Mapping[str, object]) -> list[str]:
    """The texts of a user's wire message as a provider can take them: lone surrogates replaced."""
    content = wire.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return [_as_utf8(text) for text in texts if isinstance(text, str) and text.strip()]


def _as_utf8(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _is_superseded(line: ExtractLine, lines: Sequence[ExtractLine]) -> bool:
    """Whether one newer statement alone supersedes this one; among many, which one does may change as they come."""
    newer = [other for other in lines if (other.seq, other.start) > (line.seq, line.start)]
    return any(line not in list_current([line, other]) for other in newer)


def _squeeze(text: str) -> str:
    """A text without what a block may change: case, white space, broken marks."""
    return " ".join(text.lower().split())


def _hold(is_held: object, problem: str) -> None:
    if not is_held:
        raise AssertionError(problem)
