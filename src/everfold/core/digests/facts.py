"""Facts of a text that can be told right from wrong by their letters: identifiers, paths, addresses, numbers, times.

Theory of operation. A text is cut into pieces between blanks, quotes and brackets; what a piece looks like decides what
it is. A fact is *held* by a record when the record writes it: identifiers and addresses letter for letter, whatever
their case, standing alone (`ORD-66` does not hold `ORD-665`); a path or a dotted name also when each of its parts is
written somewhere, since a working directory and a file name make a path; a number by its value; a time of day by the
minute; a date as `held_dates` says. Counts up to twelve that stand bare need no source, and neither do the numbers of
the record's own messages.

Source: DESIGN 3.4, G7; docs/adr/0017-abstractive-digests.md has the rules and what they cost.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from everfold.core.digests.requests import Spoken
from everfold.core.statements.rules import list_word_set
from everfold.core.text.held_dates import HeldDates, find_dates

FactKind = Literal["url", "email", "path", "identifier", "date", "time", "number"]

SMALL_COUNT: Final = 12
"""A bare whole number up to here is taken for a count of what the digest itself lists."""
_MOST_SEARCHES: Final = 40
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_EDGES: Final = ".,!?:;…*_~-\u2013\u2014'\u2019\"\u201c\u201d„«»|&·•+="
_PIECES: Final = re.compile(r"(?:[^\s\"'`(){}\[\]<>,;=|*]|(?<=\d)[,'\u2019](?=\d))+")
_CITED: Final = re.compile(
    r"(?:#(?:seq\s?)?|\b(?:messages?|msgs?|seqs?)\.?\s?#?)\d+(?:\s?(?:[-\u2013,/]|and|to|und|et|y)\s?#?\d+)*"
    r"|[\[(]\d+(?:\s?[-\u2013,;]\s?\d+)*[\])]",
    re.IGNORECASE,
)
"""How messages are cited: `#57`, `messages 3-9`, `(57, 58)`."""
_DIGITS: Final = re.compile(r"\d+")
_NUMBERING: Final = re.compile(r"^[\s>#*-]*\d{1,3}[.)]\s", re.MULTILINE)
_TIME: Final = re.compile(
    r"(?<![\w.:])(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2}(?:\.\d+)?)?(?:\s?(?P<half>[ap])\.?m\b\.?)?z?(?![\w:])"
    r"|(?P<hour2>\d{1,2})\s?(?P<half2>[ap])\.?m\b\.?)",
    re.IGNORECASE,
)
_HALF: Final = re.compile(r"\d\s?[ap]\.?m")
_CLOCK: Final = re.compile(r"(?<=[\dt ])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?!\d)")
_LINK: Final = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s<>\"'`()\[\]{}|*]+")
_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_EXTENSION: Final = re.compile(
    r"[\w.-]*\w\.(?:py|pyi|js|mjs|ts|tsx|jsx|rs|go|java|kt|cc|cpp|hpp|cs|rb|php|swift|sh|sql|md|rst|txt|jsonl?|ya?ml|toml|ini|cfg|conf|env|lock|log|csv"
    r"|tsv|xml|html?|css|scss|docx?|xlsx?|pptx?|pdf|png|jpe?g|svg|zip|gz|tar|ipynb|db|sqlite)(?::\d+)*"
)
_NUMBER: Final = re.compile(r"\d+(?:[.,'\u2019]\d+)*")
_NUMERIC: Final = re.compile(
    r"(?:[~\u2248<>+\u00b1#\u00d7-]|x(?=\d)|(?:us|eur|usd|gbp)(?=[$€£¥\d])|n[or]\.?(?=\d))*[$€£¥]?(?P<value>\d+(?:[.,'\u2019]\d+)*)(?P<unit>%|‰|°?[a-zµ]{0,4}|[$€£¥])(?:/[a-z]{1,5})?",
    re.IGNORECASE,
)
_UNITS: Final = list_word_set(
    "% ‰ $ € £ ¥ k m mn mio bn b st nd rd th x ms ns s sec secs min mins h hr hrs d w y yr yrs kb mb gb tb kib mib gib kg g mg lb lbs oz km cm mm mi ft"
    " px pt usd eur gbp chf jpy l ml mph kmh kwh kw w v hz khz mhz ghz bps mbps gbps dpi rpm °c °f ° c f pp tok"
)
_RANGE: Final = re.compile(
    r"[$€£¥]?\d[\d.,:]*(?:%|[a-z]{0,3})(?:[-\u2013\u2014/x\u00d7:]+[$€£¥]?\d[\d.,:]*(?:%|[a-z]{0,3}))+"
)
_COUNTED: Final = re.compile(r"(\d+)-[a-z]+(?:-[a-z]+)*")
_SCALES: Final = {
    "k": 3,
    "thousand": 3,
    "m": 6,
    "mn": 6,
    "mio": 6,
    "million": 6,
    "bn": 9,
    "b": 9,
    "billion": 9,
}
_SCALED: Final = re.compile(r"(\d+(?:\.\d+)?)\s?(k|thousand|mn?|mio|million|bn?|billion)\b")
_COUNT_UNITS: Final = frozenset(("", "st", "nd", "rd", "th", "x"))
_UNSPACED: Final = re.compile(
    "[\u0590-\u10ff\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\U00020000-\U0003ffff]+"
)
"""Scripts without capitals, of which some set no blanks: no part of an identifier."""
_SPELLED: Final = re.compile(r"(\d)\s(thousand|million|billion)\b", re.IGNORECASE)
_SHORT_SCALES: Final = {"thousand": "k", "million": "m", "billion": "bn"}
_HUMP: Final = re.compile(r"[a-z][A-Z]")
_NAMES: Final = list_word_set(
    "github gitlab javascript typescript postgresql mysql sqlite mongodb youtube openai linkedin whatsapp iphone ipad macbook macos ios ebay"
    " powerpoint paypal airbnb tiktok facetime deepseek chatgpt fastapi graphql devops saas phd mcdonald"
)
"""Written with a capital inside, and no identifier."""
_DOTTED: Final = re.compile(r"[./\\:@]+|->|::")
_SLASHES: Final = re.compile(r"[/\\]+")
_RUNS: Final = re.compile(r"\d+|[^\W\d_]+")
_PHONE: Final = re.compile(r"(?<!\d)\+?\d[\d ()/.-]{6,24}")
_WORD: Final = re.compile(r"[a-z]+|[.,;:!?\n]")
_SMALL_WORDS: Final = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate("- - twenty thirty forty fifty sixty seventy eighty ninety".split())
    if word != "-"
}
_NUMBER_WORDS: Final = frozenset((*_SMALL_WORDS, *_TENS, "hundred", "dozen"))


class Fact(NamedTuple):
    """A fact as it is written, edges cut off."""

    kind: FactKind
    text: str


def plain_text(text: str) -> str:
    """The text in compatibility form without invisible characters; case stays."""
    return text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def list_facts(text: str) -> list[Fact]:
    """The facts of a text that pieces between blanks show; dates and times of day are left to the caller."""
    if not text.isascii():
        text = _UNSPACED.sub(" ", text)
    facts: list[Fact] = []
    if "://" in text:
        facts += [Fact("url", link.rstrip(_EDGES + "/")) for link in _LINK.findall(text)]
        text = _LINK.sub(" ", text)
    if " " in text:
        text = _SPELLED.sub(lambda match: match[1] + _SHORT_SCALES[match[2].lower()], text)
    return facts + [fact for piece in _PIECES.findall(text) if not _is_word(piece) for fact in _classify(piece)]


def _is_word(piece: str) -> bool:
    return piece.isalpha() and (piece[1:].islower() or piece.isupper() or len(piece) == 1)


def _read_numeric(bare: str) -> re.Match[str] | None:
    """A number with a unit that is one; a capital alone is a seat or a size, save for thousands and millions."""
    match = _NUMERIC.fullmatch(bare)
    if match is None or not (unit := match["unit"]):
        return match
    is_unit = unit.lower() in _UNITS and (len(unit) > 1 or not unit.isupper() or unit in {"K", "M"})
    return match if is_unit else None


def _classify(piece: str) -> Iterator[Fact]:
    bare = piece.strip(_EDGES).removesuffix("'s").removesuffix("\u2019s")
    lowered = bare.lower()
    if not bare or (len(bare) == 1 and not bare.isdecimal()):
        return
    if _EMAIL.fullmatch(lowered):
        yield Fact("email", bare)
    elif _read_numeric(bare):
        yield Fact("number", bare)
    elif _RANGE.fullmatch(lowered):
        yield from (Fact("number", one) for one in re.split(r"[-\u2013\u2014/x\u00d7]", bare) if one)
    elif _COUNTED.fullmatch(lowered):
        yield Fact("number", lowered.partition("-")[0])
    elif "/" in bare or "\\" in bare:
        yield from _classify_slashed(piece, bare)
    elif _EXTENSION.fullmatch(lowered):
        yield Fact("path", bare)
    elif _is_identifier(bare):
        yield Fact("identifier", bare)


def _classify_slashed(piece: str, bare: str) -> Iterator[Fact]:
    """A path, or words and identifiers that a slash only sets apart."""
    path = piece.strip(_EDGES.replace(".", "").replace("~", "").replace("_", "")).rstrip(".")
    if path[0] in "/~." or path.count("/") > 1 or "\\" in path or _EXTENSION.fullmatch(path.rpartition("/")[2].lower()):
        if any(character.isalnum() for character in path):
            yield Fact("path", path.rstrip("/"))
        return
    for part in bare.split("/"):
        yield from _classify(part)


def _is_identifier(bare: str) -> bool:
    has_digit = any(character.isdigit() for character in bare)
    has_letter = any(character.isalpha() for character in bare)
    if has_digit:
        return has_letter or len(bare) > 1
    if "_" in bare.strip("_"):
        return True
    if "." in bare and all(len(part) > 1 for part in bare.split(".")):
        return True
    return bool(_HUMP.search(bare)) and bare.lower().rstrip("s") not in _NAMES


class HeldFacts:
    """What a record writes, ready to be asked. Made in O(its length); each question is a search in C."""

    def __init__(self, spoken: Sequence[Spoken], others: Sequence[str] = (), *, first_seq: int, last_seq: int) -> None:
        self.first_seq, self.last_seq = first_seq, last_seq
        self.dates = HeldDates()
        texts = [plain_text(one.text).lower() for one in spoken]
        for one, text in zip(spoken, texts, strict=True):
            self.dates.add(text, one.said_at.date() if one.said_at else None)
        rest = [plain_text(text).lower() for text in others]
        for text in rest:
            self.dates.add(text, None)
        self.haystack = "\n".join((*texts, *rest))
        self.numbers = _read_numbers(self.haystack)
        said = {one.said_at.hour * 60 + one.said_at.minute for one in spoken if one.said_at}
        self.clocks = _read_clocks(self.haystack) | said
        self.searches_count = 0

    def list_missing(self, text: str) -> list[Fact]:
        """The facts of a text that the record does not hold, in the order of the text within each kind, each once."""
        plain = plain_text(text)
        missing: dict[Fact, None] = {}
        plain = _CITED.sub(self._blank_citation, _NUMBERING.sub(_blank, plain))
        plain = self._take_dates(plain, missing)
        plain = self._take_times(plain, missing)
        for fact in list_facts(plain):
            if not self.holds(fact):
                missing[fact] = None
        return list(missing)

    def _blank_citation(self, match: re.Match[str]) -> str:
        """Numbers of the record's own messages need no source; any other number behind the sign does."""
        numbers = [int(number) for number in _DIGITS.findall(match[0])]
        if all(self.first_seq <= number <= self.last_seq for number in numbers):
            return " " * len(match[0])
        return match[0].replace("#", " ").replace(",", " ")

    def _take_dates(self, plain: str, missing: dict[Fact, None]) -> str:
        parts: list[str] = []
        at = 0
        lowered = plain.lower()
        if len(lowered) != len(plain):
            plain = lowered
        for found in find_dates(lowered):
            if " may" in plain[found.start : found.end]:
                continue  # a verb behind a number
            if not self.dates.holds(found) and lowered[found.start : found.end] not in self.haystack:
                missing[Fact("date", plain[found.start : found.end])] = None
            parts += [plain[at : found.start], " "]
            at = found.end
            if plain[at : at + 1] in {"T", "t"}:
                at += 1
        return "".join([*parts, plain[at:]])

    def _take_times(self, plain: str, missing: dict[Fact, None]) -> str:
        def take(match: re.Match[str]) -> str:
            if match[0].lower() not in self.haystack and not self._holds_clock(match):
                missing[Fact("time", match[0])] = None
            return " "

        lowered = plain.lower()
        return _TIME.sub(take, lowered if len(lowered) != len(plain) else plain)

    def _holds_clock(self, match: re.Match[str]) -> bool:
        minutes = _read_clock(match)
        if minutes is None:
            return False
        hour = minutes // 60
        is_full = minutes % 60 == 0 and bool({str(hour), str(hour % 12 or 12)} & self.numbers)
        return is_full or minutes in self.clocks or (minutes + 720) % 1440 in self.clocks

    def holds(self, fact: Fact) -> bool:
        """Whether the record writes the fact."""
        lowered = fact.text.lower()
        if fact.kind == "number":
            return self._holds_number(lowered)
        if self.stands(lowered):
            return True
        if fact.kind == "path" or (fact.kind == "identifier" and _DOTTED.search(lowered)):
            joints = _SLASHES if fact.kind == "path" else _DOTTED
            parts = [part for part in joints.split(lowered) if part.strip(_EDGES)]
            return len(parts) > 1 and all(self.stands(part) for part in parts)
        return fact.kind == "identifier" and self._stands_spaced(lowered)

    def stands(self, lowered: str) -> bool:
        """Whether a lower-cased text stands in the record with no letter or digit of its own script beside it."""
        if not lowered:
            return True
        haystack, size = self.haystack, len(lowered)
        at = haystack.find(lowered)
        while at >= 0:
            before = haystack[at - 1 : at] if at else ""
            after = haystack[at + size : at + size + 1]
            if not (_joins(before, lowered[0]) or _joins(after, lowered[-1])):
                return True
            at = haystack.find(lowered, at + 1)
        return False

    def _stands_spaced(self, lowered: str) -> bool:
        """Whether it stands with blanks or hyphens between its letters and digits: `KX 441` for `KX-441`."""
        runs = _RUNS.findall(lowered)
        if not 2 <= len(runs) <= 6 or self.searches_count >= _MOST_SEARCHES or not lowered.isascii():  # noqa: PLR2004  (a composite, of few parts)
            return False
        self.searches_count += 1
        pattern = r"[-_ ]?".join(map(re.escape, runs))
        return re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", self.haystack) is not None

    def _holds_number(self, lowered: str) -> bool:
        match = _NUMERIC.fullmatch(lowered)
        if match is None:
            return all(self._holds_value(one, "") for one in _NUMBER.findall(lowered))
        value, unit = match["value"], match["unit"].lower()
        is_bare = lowered.strip("~#x-") == value + unit and unit in _COUNT_UNITS
        if self._holds_value(value, unit, is_bare=is_bare):
            return True
        listed = value.split(",")
        return len(listed) > 2 and all(self._holds_value(one, "", is_bare=True) for one in listed)  # noqa: PLR2004  (a list)

    def _holds_value(self, value: str, unit: str, *, is_bare: bool = False) -> bool:
        if is_bare and value.isdigit() and int(value) <= SMALL_COUNT:
            return True
        for form in _forms(value):
            if form in self.numbers:
                return True
            if unit in _SCALES and _scale(form, _SCALES[unit]) in self.numbers:
                return True
            if form.isdigit() and len(form) == 4 and self.dates.holds_year(int(form)):  # noqa: PLR2004  (a year)
                return True
        return False


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _joins(neighbour: str, edge: str) -> bool:
    """Whether two characters side by side are of one word; scripts without blanks join to nothing of another."""
    if not neighbour or not neighbour.isalnum() or not edge.isalnum():
        return False
    return neighbour.isascii() == edge.isascii() and not _UNSPACED.match(neighbour)


def _forms(value: str) -> list[str]:
    """A number as written in the ways it may be meant: signs for thousands taken out, or read as a decimal point."""
    plain = value.replace("'", "").replace("\u2019", "")
    forms = []
    for thousands, point in ((",", "."), (".", ",")):
        groups = plain.replace(point, thousands).split(thousands)
        if len(groups) > 1 and not all(len(group) == 3 for group in plain.split(point)[0].split(thousands)[1:]):  # noqa: PLR2004  (thousands)
            continue
        text = plain.replace(thousands, "").replace(point, ".")
        if text.count(".") <= 1:
            forms.append(_trim(text))
    return forms or [plain]


def _trim(text: str) -> str:
    whole, _, part = text.partition(".")
    part = part.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{part}" if part else whole


def _scale(form: str, power: int) -> str:
    """The number with its decimal point moved to the right."""
    whole, _, part = form.partition(".")
    part = part.ljust(power, "0")
    return _trim(f"{whole}{part[:power]}.{part[power:]}")


def _read_numbers(lowered: str) -> frozenset[str]:
    """The values of a text's numbers, in digits or in English words, scaled ones both ways."""
    numbers: set[str] = set()
    for value in set(_NUMBER.findall(lowered)):
        if len(value) <= 40:  # noqa: PLR2004  (a longer one is data)
            numbers.update(_forms(value))
            if "," in value:
                numbers.update(_trim(part) for part in value.split(",") if part.isdigit() and len(part) != 3)  # noqa: PLR2004  (thousands)
    for value, unit in set(_SCALED.findall(lowered)):
        numbers.update(_scale(form, _SCALES[unit]) for form in _forms(value) if len(form) <= 40)  # noqa: PLR2004  (as above)
    for run in set(_PHONE.findall(lowered)):
        numbers.add("".join(filter(str.isdecimal, run)).lstrip("0"))
    numbers.update(_read_number_words(lowered))
    return frozenset(numbers)


def _read_number_words(lowered: str) -> Iterator[str]:
    """Numbers that English words write, up to hundreds of thousands; each part of one counts too."""
    total = part = 0
    is_open = False
    for word in _WORD.findall(lowered):
        if not is_open and word not in _NUMBER_WORDS:
            continue
        if (value := _SMALL_WORDS.get(word, _TENS.get(word))) is not None:
            part += value
            is_open = True
            yield str(value)
            yield str(part)
        elif word in {"hundred", "thousand", "dozen"} and is_open | (word != "thousand"):
            scale = {"hundred": 100, "thousand": 1000, "dozen": 12}[word]
            part = max(part, 1) * scale
            is_open = True
            yield str(total + part)
            if word == "thousand":
                total, part = part, 0
        elif word == "and":
            continue
        else:
            yield str(total + part)
            total = part = 0
            is_open = False
    if is_open:
        yield str(total + part)


def _read_clocks(lowered: str) -> frozenset[int]:
    """Minutes of the day that a text names."""
    has_times = ":" in lowered or _HALF.search(lowered) is not None
    matches = (*_TIME.finditer(lowered), *_CLOCK.finditer(lowered)) if has_times else ()
    found = {_read_clock(match) for match in matches}
    if "noon" in lowered or "midday" in lowered:
        found.add(720)
    if "midnight" in lowered:
        found.add(0)
    return frozenset(minutes for minutes in found if minutes is not None)


def _read_clock(match: re.Match[str]) -> int | None:
    got = match.groupdict()
    hour, minute = int(got["hour"] or got["hour2"]), int(got["minute"] or 0)
    half = got.get("half") or got.get("half2")
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return hour * 60 + minute if hour < 24 and minute < 60 else None  # noqa: PLR2004  (a day)
