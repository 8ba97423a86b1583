"""Seeded English: sentences from templates over a vocabulary of several thousand words, cut to a size in tokens.

Made for logs on which search and digests mean something: words repeat with natural frequencies (few common, many
rare), names and identifiers come back, and no two sentences need be alike. Deterministic for a given `Random`.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from random import Random
from typing import Final

# Four characters of English are about one token. Source: OpenAI help, "What are tokens and how to count them".
TOKEN_CHARS: Final = 4
# Records are full of digits and bars. Source: our measure over 3,000 messages of `endless_log(1)` with cl100k_base.
ROW_TOKEN_CHARS: Final = 2.84


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NOUNS: Final = _words(
    "account address agenda agreement alarm album allergy analysis answer apartment appointment archive arrival article "
    "assignment attic audience backup badge balance balcony barrel basement basket battery beach bearing bicycle bill "
    "blanket board boiler booking border bottle boundary branch bridge briefing broker brush bucket budget building "
    "bulb bundle bus button cabinet cable calendar camera campaign candle canoe canvas car card cargo carpet carton "
    "castle catalogue ceiling cellar certificate chair chapter charge chart checklist chimney choir circuit claim "
    "clause client clinic clock coast coat code collar colleague column comment committee compass complaint concert "
    "condition conference connector contract copy corner cottage counter country coupon courier course court cover "
    "crate creek crew crop curtain customer dam damage dashboard deadline debt deck decision delay delivery department "
    "deposit desk diagram dinner discount dish dispute district ditch doctor document door draft drawer driver drum "
    "edge editor elevator engine entry envelope error estimate evening event evidence exam exhibit expense extension "
    "fabric factory farm fault fee fence ferry festival field figure file filter fixture flag flight floor folder "
    "footage forecast forest form formula frame freight fridge fuel funding furnace gallery garage garden gate gauge "
    "gear glass grain grant graph greenhouse group guarantee guest guide hall hammer handle harbour header headline "
    "heater hedge helmet highway hill hinge hobby holiday hook hospital hotel house index inspection instrument "
    "insurance interview invitation invoice island issue itinerary jacket jar journey judge kettle key kitchen ladder "
    "lake lamp lantern laptop launch laundry layer leaflet lease ledger lens letter library licence lid lighthouse "
    "link list loan lobby lock lodge logbook lorry luggage lunch machine magazine mailbox manual map marker market "
    "mast meadow medicine meeting melody member memo menu merchant message meter migration mill mirror module monitor "
    "mortgage motor mountain museum mushroom napkin needle neighbour network newsletter notebook notice nozzle number "
    "nurse oak object offer office orchard order outlet oven package paddle page paint palette panel paper parcel park "
    "partner passage passport password patch path patient pattern pavement payment peak pedal pencil permit phone "
    "photo piano picture pier pillow pipe pipeline plan plank plant plate platform plaza plug pocket policy pond pool "
    "porch portrait poster pottery printer prize process profile program project proof proposal pump purchase puzzle "
    "quarter query queue quilt quote rack radiator rail ramp ranch rating receipt recipe record reference refund "
    "region registry release rent repair reply report request reservation resident resort response restaurant result "
    "return review ridge river road roof room rope rota route rug rule runway saddle sail salad sample sandal saucer "
    "scale scarf schedule scheme school scooter score screen script sculpture season seat section sensor server "
    "session shed shelf shelter shipment shop shore shovel shuttle signal sketch sleeve slope socket sofa source spade "
    "speaker spring square stable staircase stamp statement station statue step stock stone storage stove strategy "
    "stream street string studio subject suburb suitcase summary summit supplier survey switch table tablet tailor "
    "tank target task tax teacher team telescope template tenant tender tent terminal terrace test theatre thread "
    "ticket tide tile timetable title toolbox topic torch tour towel tower town track trade trail train transfer "
    "treaty tree trial trip truck trumpet tunnel turbine tutor umbrella uniform unit update valley valve vase vault "
    "vehicle vendor venue verdict village vineyard visit voice voucher voyage wage wagon waiter wall wallet warehouse "
    "warranty watch waterfall weather website weekend well wheel window winter wire witness workshop yard zone"
)
_VERBS: Final = _words(
    "accept add adjust advise answer approve arrange ask assemble attach avoid book borrow bring build buy calculate "
    "call cancel carry change charge check choose claim clean close collect compare complete confirm contact copy "
    "correct count cover create cut decide declare defer delay deliver describe design discuss divide download draft "
    "draw drop edit empty enter estimate examine exchange expand explain export extend fasten file fill finish fix "
    "fold follow forward gather grant group guard handle hang hire hold import improve include inform inspect install "
    "insure invite join keep label launch lend lift limit link list load lock lower mail manage mark match measure "
    "mention merge mind modify move name note notify obtain offer open order organise pack paint park patch pause pay "
    "pick place plan plant polish post postpone prepare present press print process promise protect prove publish pull "
    "push quote raise reach record reduce refund register reject release remind remove rename rent repair repeat "
    "replace report request rescue reserve resolve restart restore return review rewrite rinse sand save schedule seal "
    "search select sell send separate serve settle ship shorten sign simplify sketch solve sort split stack start "
    "stop store submit supply switch test tidy trace track trade transfer translate trim unpack update upgrade upload "
    "verify visit wait warn wash watch weigh widen wrap write"
)
_ADJECTIVES: Final = _words(
    "annual available awkward basic blue brief bright broken bulky busy careful central cheap clean clear cold common "
    "complete complex copper correct costly crowded curious current daily damp dark deep dense detailed different "
    "digital direct double dry due dusty early eastern easy empty equal even exact extra faint fair familiar fast "
    "final firm flat flexible foggy formal fragile free fresh frozen full gentle glass golden green grey half handy "
    "hard heavy helpful hidden hollow honest huge humid idle inner joint junior large last late lean left legal light "
    "likely linen little local long loose loud low main major manual marble minor mobile modern monthly muddy narrow "
    "native neat new noisy northern numb odd official old open optional orange outer oval partial patient plain "
    "pleasant polite poor portable possible primary private prompt proper public purple quick quiet random rapid rare "
    "raw ready recent red regular remote rough round rural rusty safe second secure senior shallow sharp short silent "
    "silver simple single slow small smooth soft solid southern spare special square stable steady steep stiff "
    "straight strict striped strong sturdy sudden suitable summer sunny tall technical temporary tender thick thin "
    "tidy tight tiny total tough typical unusual upper urgent usual vacant vague valid vivid warm weak weekly western "
    "wet white whole wide wild wooden yearly yellow young"
)
_NAME_HEADS: Final = _words(
    "Al Ar Bel Ben Bor Bran Cal Car Cor Dal Dar Del Dor El Er Fal Fen Gar Gil Hal Har Hel Ing Jas Jor Kal Kel Kir Lan "
    "Lor Lun Mar Mel Mor Nal Nor Ol Or Pel Per Quin Ran Ros Sal Sel Sor Tal Tar Tor Ul Val Ver Wil Wyn Yor Zan"
)
_NAME_TAILS: Final = _words(
    "a ada ager ale amy ander anne ard aro ath bert bury by dale den der don dra ell emy en er essa eth ett ey field "
    "ford gate ham holm ia ick iel in ina ine ing is land ley lin lo mond mont na ness nia nor o olf on ora ow rick "
    "son stead ton us vale vik ward well wick win worth"
)
_UNITS: Final = _words("kg metres boxes hours pages seats litres euros samples rows")
_DAYS: Final = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

_USER_SENTENCES: Final = (
    "Can you {v} the {a} {n} before {day}?",
    "I still need to {v} the {n} for {name}.",
    "What was the {n} that {name} sent about the {n2}?",
    "Please {v} the {n} and then {v2} the {n2}.",
    "{name} finds the {n} rather {a}.",
    "The {a} {n} came back with {num} {unit}, which seems off.",
    "Shall we {v} {ident} first?",
    "Do we have room for {num} {unit} in the {n}?",
    "My {n} number is {ident}, in case they ask.",
    "Is it cheaper to {v} the {a} {n} or to {v2} a new one?",
    "How long would it take to {v} the {n} in {place}?",
    "It turns out that {name} had the {a} {n} since {day}.",
    "Thanks, that {n} looks {a}.",
    "Could the {n2} be why the {n} is so {a}?",
    "Where did we leave the {a} {n}?",
)
_ANSWER_SENTENCES: Final = (
    "The {a} {n} can be {vd} once {name} has {v2d} the {n2}.",
    "I {vd} the {n} and found {num} {unit} that nobody had {v2d}.",
    "For {place} the usual way is to {v} the {n} first and {v2} the {n2} later.",
    "Entry {ident} shows a {a} {n} with {num} {unit}.",
    "There are two options: {v} the {n}, or {v2} the {a2} {n2} until {day}.",
    "{name} {vd} it on {day}, so the {n} should be {a} by now.",
    "That leaves the {n2}, which is {a} but not {a2}.",
    "One thing to watch: a {a} {n} rarely {vs} well next to a {n2}.",
    "If the {n} stays {a}, I would {v} the {n2} instead.",
    "The cost comes to {num} euros, of which the {n} is about a third.",
    "In short, the {n} is {vd} and the {n2} is waiting for {name}.",
    "Next I can {v} {ident}, or {v2} the remaining {ns}.",
    "The {ns} from {place} were {vd} in {num} minutes.",
    "According to the {n}, the {a} {n2} belongs to {name} of {place}.",
    "I compared both {ns}: the {a} one {vs} faster, the {a2} one lasts longer.",
    "Nothing else in the {n} mentions {ident}.",
    "We might also {v} the {n2}, since the {n} is {vding} slowly.",
)
_STANDING_SENTENCES: Final = (
    "Remember: the {n} for {place} is always {vd} on {day}.",
    "Never {v} the {n} without asking {name} first.",
    "From now on, {v} every {a} {n} under {ident}.",
    "I prefer the {a} {n}, please do not offer the {a2} one.",
    "We decided to {v} the {n} in {place}, not the {n2}.",
    "Correction: the {n} is {num} {unit}, not {num2}.",
    "Always {v} the {n} before you {v2} the {n2}.",
    "Please remember that {name} is allergic to {ns}.",
    "The budget for the {n} must stay under {num} euros.",
    "Do not {v} anything for {name} on {day}.",
)


def make_seeded(seed: int) -> Random:
    """Give the random numbers of `seed`, the same on every machine."""
    return Random(seed)


def make_identifier(rng: Random) -> str:
    """Give a rare id: an order number, an invoice, a hash or a serial number, rarely the same twice."""
    number = rng.getrandbits(20)
    match number & 3:
        case 0:
            return f"ORD-{number % 90000 + 10000}"
        case 1:
            return f"INV-2031-{number % 9000 + 1000}"
        case 2:
            return f"{number:05x}{rng.getrandbits(12):03x}"
        case _:
            return f"SN{number % 900 + 100}-{chr(65 + number % 26)}{chr(65 + number % 23)}"


def make_name(rng: Random) -> str:
    """Give one of some 3,000 invented names of people and places."""
    return _pick(rng, _NAMES)


def make_word(rng: Random) -> str:
    """Give a noun, common ones more often."""
    return _pick(rng, _NOUNS)


def make_user_sentence(rng: Random) -> str:
    """Give one sentence as a user writes it: a question, a wish, a remark."""
    return _fill(rng, _USER_SENTENCES)


def make_answer_sentence(rng: Random) -> str:
    """Give one sentence as an assistant writes it."""
    return _fill(rng, _ANSWER_SENTENCES)


def make_standing_sentence(rng: Random) -> str:
    """Give one sentence that binds beyond its moment: a rule, a preference, a decision, a correction."""
    return _fill(rng, _STANDING_SENTENCES)


def make_user_text(rng: Random, *, size_tokens: int) -> str:
    """Give user sentences of about `size_tokens`, never more."""
    return _fit(rng, _USER_SENTENCES, size_tokens)


def make_answer_text(rng: Random, *, size_tokens: int) -> str:
    """Give answer sentences of about `size_tokens`, never more."""
    return _fit(rng, _ANSWER_SENTENCES, size_tokens)


def make_rows(rng: Random, *, size_tokens: int) -> str:
    """Give a table of records, one a line, of about `size_tokens`, never more."""
    lines: list[str] = []
    room_chars = int(size_tokens * ROW_TOKEN_CHARS)
    while room_chars > 0:
        line = _make_row(rng.getrandbits(80))
        lines.append(line[:room_chars])
        room_chars -= len(line) + 1
    return "\n".join(lines)


def _make_row(bits: int) -> str:
    """Spell one record from 80 random bits; ten fields from one draw, since tool results are most of a log."""
    owner, place = _NAMES[(bits & 4095) % len(_NAMES)], _NAMES[(bits >> 12 & 4095) % len(_NAMES)]
    noun, other = _LEANING_NOUNS[bits >> 24 & 1023], _LEANING_NOUNS[bits >> 34 & 1023]
    adjective = _ADJECTIVES[(bits >> 44 & 1023) % len(_ADJECTIVES)]
    number = bits >> 54
    ident = f"ORD-{number % 90_000 + 10_000}" if number & 1 else f"SN{number % 900 + 100}-{number >> 10 & 4095:03x}"
    return f"{ident} | {owner} | {noun} | {number % 9_001 / 100:.2f} | {adjective} {other} in {place}"


def _fit(rng: Random, templates: tuple[str, ...], size_tokens: int) -> str:
    limit_chars = size_tokens * TOKEN_CHARS
    text = _fill(rng, templates)
    while len(text) < limit_chars:
        text = f"{text} {_fill(rng, templates)}"
    if len(text) == limit_chars:
        return text
    return text[: max(text.rfind(" ", 0, limit_chars), 1)]


def _fill(rng: Random, templates: tuple[str, ...]) -> str:
    pieces = _split_template(templates[int(rng.random() * len(templates))])
    words = _SentenceWords(rng)
    sentence = "".join(words.spell(field) if is_field else field for is_field, field in pieces)
    return _ARTICLE.sub(r"\1n ", sentence)


@cache
def _split_template(template: str) -> tuple[tuple[bool, str], ...]:
    return tuple((index % 2 == 1, piece) for index, piece in enumerate(_SLOT.split(template)) if piece)


class _SentenceWords:
    """The words of one sentence: its noun and its verbs stay the same in all their forms, the rest is drawn anew."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._noun = _pick(rng, _NOUNS)
        self._verbs = {"v": _pick(rng, _VERBS), "v2": _pick(rng, _VERBS)}

    def spell(self, slot: str) -> str:
        if slot in _FORMS:
            verb, form = _FORMS[slot]
            return form(self._verbs[verb])
        if slot in {"n", "ns"}:
            return self._noun if slot == "n" else _plural(self._noun)
        if slot.startswith("num"):
            return str(int(self._rng.random() * 480) + 2)
        return make_identifier(self._rng) if slot == "ident" else _pick(self._rng, _WORDS_BY_SLOT[slot])


def _pick(rng: Random, words: tuple[str, ...]) -> str:
    """Pick with falling frequency: the square of a uniform number leans to the front, and every word is reached."""
    share = rng.random()
    return words[int(share * share * len(words))]


_IRREGULAR_PAST: Final = {
    "bring": "brought",
    "build": "built",
    "buy": "bought",
    "choose": "chosen",
    "cut": "cut",
    "draw": "drawn",
    "hang": "hung",
    "hold": "held",
    "keep": "kept",
    "lend": "lent",
    "pay": "paid",
    "rewrite": "rewritten",
    "sell": "sold",
    "send": "sent",
    "split": "split",
    "write": "written",
}
_DOUBLED: Final = frozenset(_words("cancel defer label submit transfer"))
_SINGLE: Final = frozenset(_words("open edit"))


@cache
def _past(verb: str) -> str:
    if verb in _IRREGULAR_PAST:
        return _IRREGULAR_PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{_doubled(verb)}ed"


@cache
def _gerund(verb: str) -> str:
    return f"{verb[:-1]}ing" if verb.endswith("e") else f"{_doubled(verb)}ing"


@cache
def _doubled(verb: str) -> str:
    ends_short = len(verb) in {3, 4} and verb[-1] in "bdgmnpt" and verb[-2] in "aeiou" and verb[-3] not in "aeiou"
    return verb + verb[-1] if verb in _DOUBLED or (ends_short and verb not in _SINGLE) else verb


@cache
def _third_person(verb: str) -> str:
    return _plural(verb)


@cache
def _plural(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


_SLOT: Final = re.compile(r"\{(\w+)\}")
# "a hour" and "a honest" speak with a vowel, "a usual" and "a uniform" without one.
_ARTICLE: Final = re.compile(r"\b([Aa]) (?=(?!us[eu]|uni)[aeiou]|hon|hour)")
_NAMES: Final = tuple(head + tail for head, tail in product(_NAME_HEADS, _NAME_TAILS))
_LEANING_NOUNS: Final = tuple(_NOUNS[index * index * len(_NOUNS) // 1024**2] for index in range(1024))
_WORDS_BY_SLOT: Final = {
    "n2": _NOUNS,
    "a": _ADJECTIVES,
    "a2": _ADJECTIVES,
    "name": _NAMES,
    "place": _NAMES,
    "unit": _UNITS,
    "day": _DAYS,
}
_FORMS: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "v": ("v", str),
    "v2": ("v2", str),
    "vs": ("v", _third_person),
    "vd": ("v", _past),
    "v2d": ("v2", _past),
    "vding": ("v", _gerund),
}
