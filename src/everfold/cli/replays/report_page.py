"""The report page: a session's log as strips, in one self-contained file.

The page receives every message as data and inserts it as text, never as markup. Its Content-Security-Policy forbids it
to load or send anything.
"""

import html
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, get_args

from everfold.cli.replays.replaying import Replayed
from everfold.cli.tables.output import write_text
from everfold.core.compaction.layout import ShownRange
from everfold.core.compaction.strips import Fate, Strip
from everfold.core.log.messages import Message
from everfold.core.primitives.json_values import JsonObject, JsonValue, clean_text
from everfold.services.inspection.trace import Trace, TracedCompaction
from everfold.session import Session

FATES: Final[tuple[str, ...]] = get_args(Fate)

_ALL_CHARS: Final = 4_000_000
_MOST_CHARS: Final = 1_200
_LEAST_CHARS: Final = 160
"""A page of 5,000 messages stays under 10 MB, and each message shows enough text to be recognized."""

_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
"""Characters that could end the element that holds the data, or a line of it."""


async def write_report(path: Path, session: Session, replayed: Replayed) -> None:
    """Write the page of a session that was replayed.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    write_text(path, make_page(replayed.name, make_page_data(await session.inspect.trace(), replayed)))


def make_page(title: str, data: JsonObject) -> str:
    """The page as HTML."""
    head, _, rest = _template().partition("__TITLE__")
    middle, _, foot = rest.partition("__DATA__")
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    return f"{head}{html.escape(clean_text(title))}{middle}{text}{foot}"


@cache
def _template() -> str:
    return files("everfold.cli.replays").joinpath("report.html").read_text("utf-8")


def make_page_data(trace: Trace, replayed: Replayed) -> JsonObject:
    """The data of the page."""
    count = len(trace.now.fates)
    most_chars = max(_LEAST_CHARS, min(_MOST_CHARS, _ALL_CHARS // max(count, 1)))
    compactions: list[JsonValue] = [_compaction(traced) for traced in trace.compactions]
    digests: JsonObject = {
        id_: {
            "kind": digest.kind,
            "first": digest.first_seq,
            "last": digest.last_seq,
            "tokens": digest.tokens,
            "text": clean_text(digest.text),
        }
        for id_, digest in trace.digests.items()
    }
    return {
        "title": clean_text(replayed.name),
        "limit": replayed.report.limit_tokens,
        "budget": replayed.report.budget_tokens,
        "fates": list(FATES),
        "figures": _figures(replayed),
        "messages": [_message(trace.messages.get(seq), most_chars) for seq in range(1, count + 1)],
        "compactions": compactions,
        "now": {
            "strip": _runs(trace.now),
            "ranges": _ranges(trace.now_ranges),
            "tokens": replayed.report.window_tokens,
            "standing": replayed.window.report.by_slice.get("standing", 0),
        },
        "digests": digests,
    }


def _message(message: Message | None, most_chars: int) -> JsonValue:
    """Role, speaker, time, visible tokens, all tokens, text, characters left out; null for an erased one."""
    if message is None:
        return None
    view, text = message.view, message.view.text
    shown = clean_text(text[:most_chars])
    tokens = message.tokens or message.raw_tokens
    left_out = len(text) - min(len(text), most_chars)
    said_at = f"{message.said_at:%Y-%m-%d %H:%M}"
    return [view.role, clean_text(view.name or ""), said_at, tokens, message.raw_tokens, shown, left_out]


def _compaction(traced: TracedCompaction) -> JsonValue:
    report = traced.report
    return {
        "ordinal": traced.compaction.ordinal,
        "trigger": report.trigger,
        "first": report.first_seq,
        "last": report.last_seq,
        "kept": report.kept_count,
        "folded": report.folded_count,
        "folded_later": report.folded_later_count,
        "joined": report.joined_through,
        "before": report.tokens_before,
        "after": report.tokens_after,
        "cost": report.resent_tokens,
        "standing": report.standing_tokens,
        "standingText": clean_text(traced.standing_text),
        "stripBefore": _runs(traced.before),
        "strip": _runs(traced.after),
        "ranges": _ranges(traced.ranges),
    }


def _runs(strip: Strip) -> list[JsonValue]:
    return [[FATES.index(fate), count] for fate, count in strip.runs]


def _ranges(ranges: Sequence[ShownRange]) -> list[JsonValue]:
    return [[it.first_seq, it.last_seq, it.digest_id, it.digest_tokens] for it in ranges]


def _figures(replayed: Replayed) -> list[JsonValue]:
    """Value, what it is, and a remark."""
    it, shown = replayed.report, replayed.window.report
    compactions = sum(it.compactions.values())
    problems = len(it.verification.problems)
    share = f"{it.window_tokens / it.raw_tokens:.0%} of the tokens in" if it.raw_tokens else ""
    return [
        [f"{it.messages_count:,}", "messages", f"{it.requests_count:,} requests"],
        [f"{it.raw_tokens:,}", "tokens in", "every message in full"],
        [f"{it.window_tokens:,}", "tokens in the window", share],
        [f"{compactions:,}", "compactions", f"largest window {it.largest_window_tokens:,} of {it.budget_tokens:,}"],
        [f"{shown.message_count:,}", "kept verbatim", f"and {shown.digest_count} digests for the rest"],
        [f"{it.resent_per_token:.2f}", "sent again per token in", f"{it.resent_tokens:,} tokens by cache breaks"],
        [f"{it.stable_share:.0%}", "stable prefix", f"median {it.stable_share_median:.0%}, request to request"],
        ["valid" if not replayed.invalid_count else f"{replayed.invalid_count} invalid", "requests", replayed.provider],
        [
            "nothing lost" if not problems else f"{problems} problems",
            "verified",
            "each message in the window or a digest",
        ],
    ]
