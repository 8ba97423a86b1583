"""What a coding agent's own summary of its work holds, beside ours of the same messages at the same number of tokens.

In some logs of agents the agent was told to compact itself; the summary that it wrote stands in the log. At each such
place, three texts stand for all messages before it (earlier summaries of the agent left out, since no participant said them):

- *The agent's own*: its summary, by a model, as it stands in the log. Its size is the size of the others.
- *Window*: what our window shows of these messages at a limit of so many tokens, recall off: standing instructions, digests,
  and the newest messages word for word.
- *Digest*: one extractive digest of all of them, of so many tokens.

Counted are, of each kind, the items that a text holds. They are read off the log by the patterns of this file:

- *Orders*: the sentences of 4 to 40 words that a person typed, questions included; of a message of more than 600 characters
  those of its first line (what follows is pasted). What the agent's program wrote in the user's name is left out.
- *Decisions*: sentences of the user and the agent with a word for a reason or a choice (because, instead of, decided).
- *Files*: the names of files that calls changed. *Errors*: the names from code in lines of results that report a failure, those
  of at most 200 characters that do not end as code does (longer ones are data). *Names*: names from code that at least five messages hold, those of the
  arguments of tools left out.
- *Next*: the names of files and from code that calls and answers of the next 30 messages use, if the messages before hold them:
  what the work needed as soon as the summary stood.

A file or a name is held when the text writes it as a whole word, whatever the case. An order is held when a line has 7 of 10
of its different words, a decision when a line has half of them: a summary says it in other words, and each of the agent's
lines is compared as it is, however long. This favours texts that quote: ours quotes only, and a decision that the agent
tells in words of its own is missed. It favours the agent in that a file or a name counts wherever it is named, in a list too.
What a summary says that no message said as a sentence (where the work stands, what is broken) counts nowhere.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from bench.memory_filling import unsynced
from bench.opening import temporary_folder
from bench.recall import DATA
from bench.report import Row
from bench.worth_answers import is_in
from bench.worth_rules import WORDS_SHARE, list_lines
from bench.worth_windows import PLAIN_SETTINGS, USER, Scope, fold_case, open_at, shown_texts
from everfold.core.digests.extractive import DigestSource, compose_digest
from everfold.core.log.messages import Message
from everfold.core.text.tokens import estimate_text_tokens
from everfold.session import iterate_log
from everfold.testing.kit.fakes import FakeClock

SUMMARY_MARK: Final = "This session is being continued from a previous conversation that ran out of context."
NEXT_COUNT: Final = 30
"""Messages after a summary that tell what the work needed."""
DECISION_SHARE: Final = 0.5
TYPED_CHARS: Final = 600
"""From here on a user message is taken for pasted but for its first line."""
FAILURE_CHARS: Final = 200
REPEATED_COUNT: Final = 5
NAME_CHARS: Final = 6
SENTENCE_WORDS: Final = range(4, 41)

Kind: TypeAlias = Literal["orders", "decisions", "files", "errors", "names", "next"]
Wire: TypeAlias = Mapping[str, Any]

_BEGAN_AT: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_WRITTEN_FOR_USER: Final = re.compile(r"\s*(?:<[a-z-]+>|\[Request interrupted|Base directory for this skill)")
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*")
_DECISION: Final = re.compile(
    r"\b(?:because|instead of|rather than|decided|so that|root cause|reason|let's|no need)\b", re.IGNORECASE
)
_NAME: Final = re.compile(r"\b(?=\w*(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]))[A-Za-z_]\w+\b")
_FILE: Final = re.compile(r"[\w.-]*\w\.[a-z]\w{0,4}\b")
_FAILURE: Final = re.compile(r"error|fail|panic|undefined|cannot|not found", re.IGNORECASE)
_CODE_ENDS: Final = tuple("{}();,[]")
_CHANGING: Final = frozenset(("new_string", "content", "new_str", "file_text", "patch"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an agent compacted itself.

    Attributes:
        before: All messages before the summary, earlier summaries left out.
        summary: What the agent wrote.
        after: The messages that follow.
    """

    name: str
    before: Sequence[Wire]
    summary: str
    after: Sequence[Wire]


def list_places(scope: Scope) -> list[Place]:
    """The places in a half of the logs that hold one; of an odd number the first half has one more."""
    logs = [(path.stem, json.loads(path.read_text("utf-8"))) for path in sorted((DATA / "agents").glob("*.json"))]
    logs = [(name, log) for name, log in logs if any(map(is_summary, log))]
    middle = (len(logs) + 1) // 2
    chosen = logs[:middle] if scope.half == "first" else logs[middle:]
    return [place for name, log in chosen for place in find_places(name, log)]


def find_places(name: str, log: Sequence[Wire]) -> Iterator[Place]:
    """The places of one log, in order."""
    for at, message in enumerate(log):
        if is_summary(message):
            before = [it for it in log[:at] if not is_summary(it)]
            after = log[at + 1 : at + 1 + NEXT_COUNT]
            yield Place(name=f"{name} #{at}", before=before, summary=message["content"], after=after)


def is_summary(message: Wire) -> bool:
    """Whether a message is what the agent's own compaction left of its log."""
    return message["role"] == "user" and (message["content"] or "").startswith(SUMMARY_MARK)


def list_items(place: Place) -> dict[Kind, list[str]]:
    """What a text about a place can hold, by kind, each once."""
    names = Counter(name for it in place.before for name in set(_NAME.findall(_read(it))))
    needed = [name for it in place.after if it["role"] == "assistant" for name in _list_names(_read(it))]
    schema = {key for it in place.before for arguments in _list_arguments(it) for key in arguments}
    frequent = [name for name, count in names.items() if count >= REPEATED_COUNT and len(name) >= NAME_CHARS]
    known = fold_case("\n".join(map(_read, place.before)))
    return {
        "orders": _once(_list_orders(place.before)),
        "decisions": _once(_list_decisions(place.before)),
        "files": _once(_list_changed(place.before)),
        "errors": _once(_list_errors(place.before)),
        "names": [name for name in frequent if name not in schema],
        "next": [name for name in _once(needed) if is_in(fold_case(name), known)],
    }


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _read(message: Wire) -> str:
    """The text of a message with the arguments of its calls."""
    given = [str(value) for arguments in _list_arguments(message) for value in arguments.values()]
    return "\n".join([message["content"] or "", *given])


def _list_arguments(message: Wire) -> list[Mapping[str, Any]]:
    """The arguments of each call of a message."""
    return [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls") or ()]


def _list_names(text: str) -> Iterator[str]:
    yield from (name for name in _NAME.findall(text) if len(name) >= NAME_CHARS)
    yield from _FILE.findall(text)


def _list_sentences(text: str) -> Iterator[str]:
    sentences = (found.strip() for found in _SENTENCE.findall(text))
    return (sentence for sentence in sentences if len(sentence.split()) in SENTENCE_WORDS)


def _list_orders(messages: Iterable[Wire]) -> Iterator[str]:
    for message in messages:
        if _is_typed(message):
            yield from _list_sentences(_cut_pasted(message["content"]))


def _cut_pasted(text: str) -> str:
    return text if len(text) <= TYPED_CHARS else text.strip().split("\n", 1)[0]


def _is_typed(message: Wire) -> bool:
    return message["role"] == "user" and not _WRITTEN_FOR_USER.match(message["content"])


def _list_decisions(messages: Iterable[Wire]) -> Iterator[str]:
    for message in messages:
        if message["role"] == "assistant" or _is_typed(message):
            text = message["content"] or ""
            said = _cut_pasted(text) if message["role"] == "user" else text
            yield from filter(_DECISION.search, _list_sentences(said))


def _list_changed(messages: Iterable[Wire]) -> Iterator[str]:
    for message in messages:
        for arguments in _list_arguments(message):
            path = arguments.get("file_path") or arguments.get("path")
            if path and not _CHANGING.isdisjoint(arguments):
                yield Path(path).name


def _list_errors(messages: Iterable[Wire]) -> Iterator[str]:
    for message in messages:
        if message["role"] == "tool":
            lines = filter(_is_failure, (message["content"] or "").splitlines())
            yield from (name for line in lines for name in _NAME.findall(line) if len(name) >= NAME_CHARS)


def _is_failure(line: str) -> bool:
    """Whether a line of a result reports a failure; a numbered line of a listed file and a line of code do not."""
    is_code = line[:6].strip().isdecimal() or line.rstrip().endswith(_CODE_ENDS)
    return len(line) <= FAILURE_CHARS and not is_code and _FAILURE.search(line) is not None


def count_held(items: Mapping[Kind, Sequence[str]], texts: Sequence[str]) -> Counter[Kind]:
    """How many items of each kind some texts hold."""
    lines = list_lines(texts)
    text = fold_case("\n".join(texts))
    judges: dict[Kind, Callable[[str], bool]] = {
        "orders": lambda item: _is_said(item, lines, WORDS_SHARE),
        "decisions": lambda item: _is_said(item, lines, DECISION_SHARE),
    }
    return Counter(
        {
            kind: sum(map(judges.get(kind, lambda item: is_in(fold_case(item), text)), found))
            for kind, found in items.items()
        }
    )


def _is_said(sentence: str, lines: Sequence[frozenset[str]], share: float) -> bool:
    (words,) = list_lines([sentence.replace("\n", " ")]) or [frozenset[str]()]
    return any(len(words & line) >= share * len(words) for line in lines)


def measure_summaries(scope: Scope) -> list[Row]:
    """What the three texts hold, over all places of a half."""
    if not (DATA / "agents").is_dir():
        return [Row(figure="summaries of agents", value="not measured: no EVERFOLD_DATA with agents/")]
    places = list_places(scope)
    if not places:
        return [Row(figure=f"summaries of agents, {scope.half} half", value="not measured: no log holds one")]
    counts: dict[str, Counter[Kind]] = {}
    tokens: Counter[str] = Counter()
    all_count: Counter[Kind] = Counter()
    for place in places:
        items = list_items(place)
        all_count.update({kind: len(found) for kind, found in items.items()})
        for way, texts in asyncio.run(_compact(place)).items():
            counts.setdefault(way, Counter()).update(count_held(items, texts))
            tokens[way] += sum(map(estimate_text_tokens, texts))
    of = f"summaries of {len(places)} places, {scope.half} half"
    return [
        *(Row(figure=f"{of}: tokens of {way}", value=float(total), digits=0) for way, total in tokens.items()),
        *(
            Row(figure=f"{of}, {kind} ({count}): {way}", value=100 * held[kind] / max(count, 1), unit="%", digits=0)
            for kind, count in all_count.items()
            for way, held in counts.items()
        ),
    ]


async def _compact(place: Place) -> dict[str, list[str]]:
    """The three texts that stand for what was before a place."""
    size_tokens = estimate_text_tokens(place.summary)
    clock = FakeClock(_BEGAN_AT)
    with temporary_folder() as folder, unsynced():
        async with open_at(folder / "summary.db", clock, PLAIN_SETTINGS) as engine:
            session = await engine.session(user=USER, limit=size_tokens)
            for message in place.before:
                if message["role"] == "assistant":
                    await session.window()
                clock.set(clock.now() + timedelta(seconds=20))
                await session.append(dict(message))
            window = await session.window()
            log = [message async for message in iterate_log(session)]
    return {
        "the agent's own": [place.summary],
        "our window": shown_texts(window),
        "one digest of ours": [_digest(log, size_tokens)],
    }


def _digest(log: Sequence[Message], size_tokens: int) -> str:
    sources = [
        DigestSource(
            seq=it.seq,
            origin=it.origin,
            role=it.kind,
            speaker=None,
            said_at=it.said_at,
            tokens=it.raw_tokens,
            lines=it.lines,
            is_result=it.kind in {"result", "late"},
            calls=(),
        )
        for it in log
    ]
    made = compose_digest(
        sources, first_seq=1, last_seq=log[-1].seq, cap_tokens=size_tokens, estimate=estimate_text_tokens
    )
    return made.text
