"""Whether a text that a model wrote may stand as a digest: a row of checks, each with what it found in words.

Every check is deterministic and can be satisfied; what they cannot see is a fluent misreading that invents nothing (G7),
which is why the extractive lines stand beside every text that passes.

Source: DESIGN 3.4, "verified before use"; docs/adr/0017-abstractive-digests.md has thresholds and measurements.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from everfold.core.digests.facts import Fact, HeldFacts, list_facts, plain_text
from everfold.core.digests.requests import Spoken, split_record
from everfold.core.primitives.stepwise import Steps
from everfold.core.statements.languages import find_other_language
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.segments import cut_prose
from everfold.core.text.words import read_matter
from everfold.core.threats.hostile import find_digest_threat
from everfold.core.threats.unseen import strip_unseen

FaultKind = Literal[
    "empty",
    "incomplete",
    "refusal",
    "tool_call",
    "too_long",
    "not_smaller",
    "lost_identifiers",
    "uncovered",
    "invented",
    "repeats",
    "language",
    "hostile",
    "no_room",
    "context_length",
    "no_reply",
]
"""What can be wrong. The last three are not about a text: there was no room for one, the request could not be made small
enough, the provider gave none."""
Finish: TypeAlias = Literal["complete", "length", "refusal", "tool_call"]

SAMPLE_COUNT: Final = 16
"""How many telling facts of the record are looked for. Source: docs/adr/0017, measured for 8, 16 and 32."""
HELD_RATIO: Final = 0.2
"""Which part of them a text must hold. Source: docs/adr/0017, between the poor texts and the good ones."""
_LEAST_SAMPLE: Final = 3
TURNS_RATIO: Final = 0.25
"""Which part of a record's turns a text must speak of: cite one of its messages, or share two telling words with it.
Source: own measurement on 249 stretches of LoCoMo, tau-bench and agent transcripts of 6 turns or more: honest digests
speak of 0.58 or more, without their citations of 0.42 or more; of single lines of them half speak of less than 0.33.
Records of fewer turns were not measured. Five summaries that coding agents wrote of their own sessions, in their own words
and without citations, speak of all turns; nine random sentences of them of 0.76 or more."""
_LEAST_TURNS: Final = 2
"""A record of one turn has no share. Source: own choice; of two to four turns a text must speak of one."""
_TURNS_A_SENTENCE: Final = 6
_ENOUGH_SENTENCES: Final = 4
"""One sentence for six turns, four for any number. Source: the same digests, none of which had less than six."""
_SHARED_WORDS: Final = 2
_NAMED_COUNT: Final = 8
_INSTRUCTED: Final = "English"
"""What `core.digests.requests` instructs in."""
_COPIED_RATIO: Final = 0.6
_SHINGLE_WORDS: Final = 10
_RUN_WORDS: Final = 50
_REPEATED_WORDS: Final = 6
_LEAST_REPEATABLE: Final = 48
_DISTINCT_RATIO: Final = 0.55
_REFUSAL_CHARS: Final = 500

_REASONING: Final = re.compile(r"<(think|thinking|reasoning|reflection|scratchpad)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_REASONING_END: Final = re.compile(r"</(?:think|thinking|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_REASONING_BEGIN: Final = re.compile(r"<(?:think|thinking|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_OUTER_FENCE: Final = re.compile(r"```(?:markdown|md|text|plaintext)?\n(.*)\n```", re.DOTALL)
_REFUSAL: Final = re.compile(
    r"(?:i(?:'m| am)? ?(?:am |'m )?(?:sorry|afraid)|i (?:can't|cannot|can not|won't|will not|am unable|must decline|apologi[sz]e)|i'm (?:unable|not able)"
    r"|unfortunately,? i|as an? (?:ai|language model|assistant)|my apologies|sorry,|es tut mir leid|ich kann (?:das|dies|dabei|ihnen)|je suis désolé"
    r"|je ne peux pas|lo siento|no puedo|desculpe|não posso|mi dispiace|non posso|申し訳|对不起|抱歉|很抱歉)"
)
_CALL_MARK: Final = re.compile(
    r"\s*(?:<\|?(?:tool_calls?|function_calls?|functioncall|python_tag|tool▁calls?)|<function[=_ ]|<invoke\b|<tool_use|\[tool_calls?\]|\[?function_call\]?:"
    r"|action:\s*\S+\s*\n\s*action input:)",
    re.IGNORECASE,
)
_CALL_LINE: Final = re.compile(r"^\[calls [^\n]*\]$", re.MULTILINE)
"""How a record has a call, which is in no language; see `core.digest_requests`."""
_CALL_KEYS: Final = frozenset(
    ("tool_calls", "function_call", "arguments", "parameters", "tool_name", "function", "tool_input")
)
_OPEN_ENDS: Final = list_word_set(
    "the a an of to and or but with for in on at by from as is are was were that which because if into than der die das und oder mit von zu für le la les et"
    " de du el y que"
)
_LAST_WORD: Final = re.compile(r"(?<!\w)[^\W\d_]{2,}$")
_INFLECTION: Final = re.compile(r"e?s|e?d|e?rs?|en|ly|y|[a-z]?(?:ings?|ed|ers?|ments?|ions?|ations?)|al|e|em|te|ten")
_PAIRS: Final = (("(", ")"), ("[", "]"), ("{", "}"))
_WORD: Final = re.compile(r"\w+")
_LIST_MARK: Final = re.compile(r"^[\s>*\-•#\d.)]+")
_CITATION: Final = re.compile(r"\(?#\d+(?:[-\u2013, #\d]*\d)?\)?")
_CITED_RANGE: Final = re.compile(r"#(\d{1,9})(?:\s?[-\u2013]\s?#?(\d{1,9}))?")
_MOST_CITED: Final = 12
"""A longer range is a claim and no citation."""
_SENTENCE_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})?")
_NO_NAMES: Final = list_word_set(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November"
    " December English"
)
_ROLE_WEIGHTS: Final = {"user": 2.0, "assistant": 1.3, "external": 0.5}
_KIND_WEIGHTS: Final = {"email": 2.0, "path": 1.6, "identifier": 2.0, "number": 1.0, "name": 1.4}
_PLAIN_WEIGHT: Final = 0.6
"""An identifier without a digit is as often a field of some JSON as a thing that is spoken of."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d|(?:19|20)\d\d$")
_LINK: Final = re.compile(r"[A-Za-z][\w+.-]{1,15}://\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong, in words that the model's next attempt can be told."""

    kind: FaultKind
    detail: str


def clean_reply(text: str) -> str:
    """A reply without what a model thought aloud, a code fence around all of it, characters that show nothing, and blanks."""
    text = _REASONING.sub("", text)
    ends = list(_REASONING_END.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    if (begin := _REASONING_BEGIN.search(text)) is not None:
        text = text[: begin.start()]
    text = strip_unseen(text).strip()
    fenced = _OUTER_FENCE.fullmatch(text)
    return fenced[1].strip() if fenced and "```" not in fenced[1] else text


def verify_stepwise(
    reply_text: str,
    finish: Finish,
    *,
    input_text: str,
    wishes: Sequence[str] = (),
    source_tokens: int,
    cap_tokens: int,
    first_seq: int,
    last_seq: int,
    estimate: Callable[[str], int],
) -> Steps[tuple[Fault, ...]]:
    """Everything that is wrong with a reply, with a pause after each check; empty when it may stand as a digest.

    Args:
        reply_text: As the model gave it; what it thought aloud is taken off first.
        finish: How it ended.
        input_text: The record that it was made from, as the model saw it.
        wishes: Other text that the model was given and may take facts from: hint and focus.
        source_tokens: What the folded messages measure; the text must be smaller.
        cap_tokens: What the text may measure.
        first_seq: The first message of the record; its numbers need no source.
        last_seq: The last one.
        estimate: The estimator that the window uses.

    O(length of record and reply), about a microsecond a character.
    """
    text = clean_reply(reply_text)
    if faults := _find_unusable(text, finish):
        return faults
    spoken = split_record(input_text)
    yield
    found = [*_check_size(text, source_tokens, cap_tokens, estimate), *_check_repeats(text, input_text)]
    if found:  # nothing else of a text without end is worth looking at
        return tuple(found)
    yield
    held = HeldFacts(spoken, wishes, first_seq=first_seq, last_seq=last_seq)
    yield
    found += [*_check_end(text, finish, held), *_check_invented(text, held)]
    yield
    found += _check_lost(text, spoken)
    yield
    found += _check_covers(text, spoken)
    yield
    found += [*_check_language(text, spoken), *_check_hostile(text)]
    return tuple(found)


def _find_unusable(text: str, finish: Finish) -> tuple[Fault, ...]:
    """What makes all other checks pointless: no text, a refusal, a call."""
    if finish == "tool_call" or _is_call(text):
        return (Fault(kind="tool_call", detail="it asked for a tool instead of writing text"),)
    if finish == "refusal" or _is_refusal(text):
        return (Fault(kind="refusal", detail="it declined instead of reporting what was said"),)
    if not any(character.isalnum() for character in text):
        return (Fault(kind="empty", detail="it was empty"),)
    return ()


def _is_call(text: str) -> bool:
    bare = text.removeprefix("```json").strip("` \n")
    if _CALL_MARK.match(text):
        return True
    if bare[:1] not in {"{", "["}:
        return False
    try:
        value: object = json.loads(bare)
    except (ValueError, RecursionError):
        return bool(re.match(r"[\[{]\s*[\[{]?\s*\"(?:name|tool|function|tool_calls|action)\"\s*:", bare))
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and ("name" in first or not _CALL_KEYS.isdisjoint(first))


def _is_refusal(text: str) -> bool:
    """Whether a text opens as a refusal and holds nothing else: it is short, and cites no message."""
    lowered = text.lower().replace("\u2019", "'")
    return len(text) <= _REFUSAL_CHARS and bool(_REFUSAL.match(lowered)) and not re.search(r"#\d|^#+ ", text)


def _check_size(text: str, source_tokens: int, cap_tokens: int, estimate: Callable[[str], int]) -> list[Fault]:
    tokens = estimate(text)
    faults: list[Fault] = []
    if tokens > cap_tokens:
        detail = f"it was too long: about {tokens} tokens, at most {cap_tokens} are allowed"
        faults.append(Fault(kind="too_long", detail=detail))
    if tokens >= source_tokens:
        detail = f"it was not smaller than the messages: {tokens} tokens of {source_tokens}"
        faults.append(Fault(kind="not_smaller", detail=detail))
    return faults


def _check_end(text: str, finish: Finish, held: HeldFacts) -> list[Fault]:
    if finish == "length":
        return [Fault(kind="incomplete", detail="it was cut off before its end")]
    last = text.rstrip().rpartition("\n")[2].strip()
    if text.count("```") % 2:
        return [Fault(kind="incomplete", detail="a code fence was left open")]
    bare = last.rstrip("*_ ")
    is_heading = last.startswith("#") and not last.lstrip("#").startswith(tuple("0123456789"))
    is_open = bare.endswith((",", ";", ":", "(", "[", "{", "-", "\u2013", "/", "=")) or is_heading
    words = _WORD.findall(bare.lower())
    is_open = is_open or last.count("`") % 2 == 1 or any(bare.count(left) > bare.count(right) for left, right in _PAIRS)
    if is_open or (words and words[-1] in _OPEN_ENDS and bare[-1:].isalpha() and len(words) > 2):  # noqa: PLR2004  (a line)
        return [Fault(kind="incomplete", detail="its last line was unfinished")]
    if _is_torn(bare, held):
        return [Fault(kind="incomplete", detail="it ended within a word")]
    return []


def _is_torn(bare: str, held: HeldFacts) -> bool:
    """Whether a text ends with the beginning of a word of the record that it is no form of."""
    last = _LAST_WORD.search(bare)
    if last is None or held.stands(lowered := last[0].lower()):
        return False
    longer = re.findall(rf"(?<!\w){re.escape(lowered)}(\w+)", held.haystack)
    return bool(longer) and not any(_INFLECTION.fullmatch(rest) for rest in longer)


def _check_invented(text: str, held: HeldFacts) -> list[Fault]:
    missing = held.list_missing(text)
    if not missing:
        return []
    named = ", ".join(fact.text[:60] for fact in missing[:_NAMED_COUNT])
    detail = f"these stand in no message, leave them out or copy what the messages say: {named}"
    return [Fault(kind="invented", detail=detail)]


def sample_facts(spoken: Sequence[Spoken], *, count: int = SAMPLE_COUNT) -> list[str]:
    """The facts and names of a record that a good digest is likeliest to keep, the most telling first.

    What the user said counts more, what several messages speak of counts more. Deterministic.
    """
    weights: dict[str, float] = {}
    shown: dict[str, str] = {}
    kinds: dict[str, str] = {}
    spread: Counter[str] = Counter()
    for one in spoken:
        role = _ROLE_WEIGHTS.get(one.role, 1.0)
        for kind, text in dict.fromkeys(_list_telling(one.text)):
            key = text.lower()
            shown.setdefault(key, text)
            kinds.setdefault(key, kind)
            spread[key] += 1
            weights[key] = max(weights.get(key, 0.0), role * _weigh(kind, text))
    for name in _list_small([key for key, kind in kinds.items() if kind == "name"], spoken):
        del weights[name]  # a word that began a sentence or a title
    ranked = sorted(weights, key=lambda key: -weights[key] * math.sqrt(min(spread[key], 16)))
    return [shown[key] for key in ranked[:count]]


def _list_small(names: Sequence[str], spoken: Sequence[Spoken]) -> list[str]:
    """The names, given in small letters, that are also written so somewhere."""
    record = "\n".join(one.text for one in spoken)
    words = set(_WORD.findall(record))
    return [
        name
        for name in names
        if name in words or (" " in name and name in record and re.search(rf"\b{name}\b", record))
    ]


def _weigh(kind: str, text: str) -> float:
    plain = kind == "identifier" and not any(map(str.isdigit, text))
    return _PLAIN_WEIGHT if plain else _KIND_WEIGHTS[kind]


def _list_telling(text: str) -> list[tuple[str, str]]:
    plain = _LINK.sub(" ", plain_text(text))
    found = [(fact.kind, fact.text) for fact in list_facts(plain) if _is_telling(fact)]
    names = [("name", name) for name in _SENTENCE_NAME.findall(plain) if name.split()[0] not in _NO_NAMES]
    return [*found, *names]


def _is_telling(fact: Fact) -> bool:
    if fact.kind == "url":
        return False
    if _DAY.match(fact.text):
        return False
    if fact.kind == "number":
        return sum(map(str.isdigit, fact.text)) > 2 or not fact.text.isalnum()  # noqa: PLR2004  (small ones are anywhere)
    return 3 <= len(fact.text) <= 80  # noqa: PLR2004  (longer ones are never copied)


def _check_lost(text: str, spoken: Sequence[Spoken]) -> list[Fault]:
    sample = sample_facts(spoken)
    if len(sample) < _LEAST_SAMPLE:
        return []
    reply = HeldFacts((Spoken(0, "", None, text),), first_seq=0, last_seq=0)
    lost = [fact for fact in sample if not _holds_roughly(reply, fact)]
    if len(sample) - len(lost) >= max(1, math.floor(HELD_RATIO * len(sample))):
        return []
    named = ", ".join(fact[:60] for fact in lost[:_NAMED_COUNT])
    return [Fault(kind="lost_identifiers", detail=f"it was too vague: of what matters it left out {named}")]


def _check_covers(text: str, spoken: Sequence[Spoken]) -> list[Fault]:
    """Whether a text speaks of enough turns of its record, in enough sentences: one line may not stand for fifty."""
    turns = [turn for turn in _list_turns(spoken) if len(turn.words) > _SHARED_WORDS]
    if len(turns) < _LEAST_TURNS:
        return []
    wanted = min(len(turns) // _TURNS_A_SENTENCE, _ENOUGH_SENTENCES)
    sentences_count = sum(_is_sentence(text[start:end]) for start, end in cut_prose(text, 0, len(text)))
    if sentences_count < wanted:
        detail = f"it said too little: {sentences_count} sentences for {len(turns)} turns"
        return [Fault(kind="uncovered", detail=detail)]
    words, cited = _read_telling(text), _read_cited(text)
    held = sum(not turn.seqs.isdisjoint(cited) or len(turn.words & words) >= _SHARED_WORDS for turn in turns)
    if held >= TURNS_RATIO * len(turns):
        return []
    detail = f"it spoke of {held} of {len(turns)} turns; say what matters of the others too"
    return [Fault(kind="uncovered", detail=detail)]


class _Turn(NamedTuple):
    """What the user says and all until the next time: the numbers of its messages, and their telling words."""

    seqs: set[int]
    words: set[str]


def _list_turns(spoken: Sequence[Spoken]) -> list[_Turn]:
    turns: list[_Turn] = []
    for one in spoken:
        if one.role == "user" or not turns:
            turns.append(_Turn(set(), set()))
        turns[-1].seqs.add(one.seq)
        turns[-1].words.update(_read_telling(one.text))
    return turns


def _read_telling(text: str) -> set[str]:
    """The words of a text that are no stop words; of scripts without blanks the pairs of characters."""
    return set(read_matter(text).split())


def _read_cited(text: str) -> set[int]:
    """The numbers of messages that a text cites, those within its ranges too."""
    cited: set[int] = set()
    for first, last in _CITED_RANGE.findall(text):
        cited.update(range(int(first), min(int(last or first), int(first) + _MOST_CITED) + 1))
    return cited


def _is_sentence(text: str) -> bool:
    return not text.startswith("#") and len(_list_words(text)) > _SHARED_WORDS


def _holds_roughly(reply: HeldFacts, fact: str) -> bool:
    """Whether a text holds a fact, or the last part of it: a file's name stands for its path."""
    lowered = fact.lower()
    last = re.split(r"[/\\]", lowered.rstrip("/"))[-1]
    return reply.stands(lowered) or (len(last) > 2 and last != lowered and reply.stands(last))  # noqa: PLR2004  (a name)


def _check_repeats(text: str, input_text: str) -> list[Fault]:
    lines = [_strip_line(line) for line in text.splitlines()]
    lines = [line for line in lines if len(line) > 8]  # noqa: PLR2004  (short ones may come twice)
    repeated = len(lines) - len(set(lines))
    if repeated >= 3 and repeated * 3 >= len(lines):  # noqa: PLR2004  (a third of all)
        return [Fault(kind="repeats", detail="it repeated the same lines")]
    words = _list_words(text)
    grams = [tuple(words[at : at + _REPEATED_WORDS]) for at in range(len(words) - _REPEATED_WORDS + 1)]
    if len(words) >= _LEAST_REPEATABLE and len(set(grams)) < _DISTINCT_RATIO * len(grams):
        return [Fault(kind="repeats", detail="it repeated the same words over and over")]
    if max((len(word) for word in words), default=0) > 400 or _has_loop(text):  # noqa: PLR2004  (no word is so long)
        return [Fault(kind="repeats", detail="it repeated the same characters over and over")]
    if _count_copied(words, _list_words(input_text)) >= _COPIED_RATIO * len(words):
        return [Fault(kind="repeats", detail="it copied the messages instead of reporting what they say")]
    return []


def _strip_line(line: str) -> str:
    return _CITATION.sub("", _LIST_MARK.sub("", line)).strip().lower()


def _list_words(text: str) -> list[str]:
    """The words of a text; of scripts without blanks each character."""
    return [
        word
        for run in _WORD.findall(text.lower())
        for word in ([run] if run.isascii() or not _is_unspaced(run) else list(run))
    ]


def _is_unspaced(run: str) -> bool:
    return any("\u2e80" <= character <= "\u9fff" or "\u0e00" <= character <= "\u0e7f" for character in run)


def _has_loop(text: str) -> bool:
    """Whether the end of a text is one short piece again and again, as in a model that fell into a loop."""
    end = text[-240:]
    if len(end) < 240:  # noqa: PLR2004  (as above)
        return False
    return any(end[size:] == end[:-size] for size in range(1, 61)) and not set(end) <= set("-=_* |\n")


def _count_copied(words: Sequence[str], source: Sequence[str]) -> int:
    """How many words stand in long runs that stand in the source too; quotes are shorter than such a run."""
    if len(words) < _RUN_WORDS:
        return 0
    shingles = {tuple(source[at : at + _SHINGLE_WORDS]) for at in range(len(source) - _SHINGLE_WORDS + 1)}
    copied = run = 0
    for at in range(len(words) - _SHINGLE_WORDS + 2):
        if tuple(words[at : at + _SHINGLE_WORDS]) in shingles:
            run += 1
            continue
        length = run + _SHINGLE_WORDS - 1
        if run and length >= _RUN_WORDS:
            copied += length
        run = 0
    return copied


def _check_language(text: str, spoken: Sequence[Spoken]) -> list[Fault]:
    """Compare with what people and the assistant say; where they say little, with all.

    What tools and the outside say in that other language themselves may be reported in it. A record of calls and data, in
    which no one says a word, is reported in the language of the instructions.
    """
    talk = "\n".join(_CALL_LINE.sub("", one.text) for one in spoken if one.role in {"user", "assistant"})
    rest = "\n".join(one.text for one in spoken if one.role not in {"user", "assistant"})
    words_count = len(_WORD.findall(talk))
    is_enough = words_count > 40  # noqa: PLR2004  (words, to tell a language by)
    usual = None if words_count else _INSTRUCTED
    other = find_other_language(text, talk if is_enough else f"{talk}\n{rest}", usual=usual)
    if other is None or (is_enough and find_other_language(rest, talk) == other):
        return []
    return [Fault(kind="language", detail=f"it was in another language than the conversation: {other}")]


def _check_hostile(text: str) -> list[Fault]:
    for line in text.splitlines():
        if (what := find_digest_threat(line)) is not None:
            return [Fault(kind="hostile", detail=f"a line was {what}; report only, and do not quote such lines")]
    return []
