"""Assertions: a sentence taken apart into what it speaks of, its verb and what it says, for comparing it with another.

No grammar stands behind it: the first word of a list of verbs parts the two. What has no such verb has no subject, and
is compared by its words alone. Chinese and Japanese are taken apart by character.

Source: own lists, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from everfold.core.statements.rules import list_word_set
from everfold.core.text.stems import stem

REMEMBERED_TEXTS: Final = 1024
REMEMBERED_READINGS: Final = 256
"""How many sentences stay taken apart. A reading is some fourteen objects, and each is looked at whenever Python collects
garbage, in one step of the event loop. Source: own measurement, batches of 1,000 notes: 4096 of each kind of reading were
100,000 objects and collections of 130 to 175 ms, where 86,000 of our libraries alone take 35 ms."""
WIDE: Final = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN: Final = re.compile(
    rf"\d[\d.,:/'-]*\d(?![^\W\d_])|\d(?![\w])|[€$£%]|[{WIDE}]|'s\b|(?:(?![{WIDE}'])[^\W_])(?:(?:(?![{WIDE}'])[\w.:/@#+-])*(?:(?![{WIDE}'])[^\W_]))?"
)
_CLAUSE_START: Final = r"(?:^|[,;:.!?] |\b(?:now|so|and|but|because|since|cause|lol|anymore|any more) )"
_APOSTROPHES: Final = (
    (re.compile(r"\u2019"), "'"),
    (re.compile(r"(?<=\ws)'(?= \w)"), "'s"),
    (re.compile(r"\bcan't\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"\blet's not\b", re.IGNORECASE), "we do not"),
    (re.compile(r"\blet's\b", re.IGNORECASE), "we"),
    (re.compile(r"\bI'm\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(we|you|they)'re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"(?<=\w)'s (?=(?:been|gone|become)\b)"), " has "),
    (
        re.compile(
            r"(?<=\w)'s (?=(?:moved|left|retired|switched|dropped|changed|stopped|quit|sold) (?:to|from|on|out|off|away|over|the|my|our|his|her|their|us|me)\b)"
        ),
        " has ",
    ),
    (re.compile(r"\b(it|that|there|he|she)'s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"(?<=\w)'s (?=(?:not|no longer)\b)"), " is "),
    (re.compile(r"\b(I|we|you|they|it|he|she|that|there)'ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"\b(I|we|you|they)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(I|we|he|she|they)'d (?=like|love|prefer|rather)", re.IGNORECASE), r"\1 would "),
    (re.compile(r"\b([jnlmscd]|qu)'(?=[^\W\d_])", re.IGNORECASE), r"\1e "),
)
_CONTRACTIONS: Final = (
    (re.compile(r"\b(?:cannot|cant)\b", re.IGNORECASE), "can not"),
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should)nt\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\blets not\b", re.IGNORECASE), "we do not"),
    (re.compile(rf"({_CLAUSE_START})im (?!\w+(?:en|er|r)\b)"), r"\1I am "),
    (
        re.compile(rf"({_CLAUSE_START})(it|that|he|she)s (?=[\w']+(?: [\w'-]+){{0,4}}(?:[,;.!?]|$))", re.IGNORECASE),
        r"\1\2 is ",
    ),
)
"""The same as it is typed without an apostrophe."""
_OPENERS: Final = re.compile(
    r"\s*(?:(?:please |pls |bitte )?(?:remember|note|keep in mind|don't forget|do not forget|fyi|btw|by the way|merk dir|recuerda|retiens|ricorda|onthoud|lembre)"
    r"(?: that| this|,? dass| que| che| dat)?[:,]? |(?:i (?:told you|mentioned|said)(?: before| earlier)?(?: that)?) (?=(?:the|my|our|i|we)\b)(?!.*\b(?:it|that|they|he|she) (?:is|are|was|were|(?:should|must|will|has to|have to|needs to) be) )|(?:oh|ok|okay|hi|hey|well|so|and|sorry|yes|hmm|ah|please|pls|plz),? )+",
    re.IGNORECASE,
)

BE: Final = list_word_set(
    "be is are am was were been ist sind bin war est sont suis était es son está están soy estoy è sono sta ben zijn é são sou estou"
    " liegt lautet beträgt be_ 是 在 は heißt heiße"
)
HAVE: Final = list_word_set("have has hat habe haben ai ont tiene tengo ha ho heeft heb tem tenho")
DETERMINERS: Final = list_word_set(
    "the my our a an his her your their 's der die das den mein meine unser unsere ein eine le la les mon ma el mi il de het mijn o minha meu"
)
LIVE: Final = list_word_set(
    "live lives living wohne wohnt wohnen lebe lebt habite habitent vis vit vivo vive abito abita woon woont moro mora живу живёт живет 住"
)
WORK: Final = list_word_set(
    "work works working arbeite arbeitet arbeiten travaille trabajo trabaja lavoro lavora werk werkt trabalho trabalha работаю работает"
)
_HABITS: Final = list_word_set(
    "use uses using study studies drive drives take takes drink drinks eat eats play plays smoke smokes deploy deploys nutze nutzen nutzt"
    " verwende verwenden utilise utilisons usamos uso usiamo usa gebruiken gebruik gebruikt используем использую"
)
_OTHERS: Final = list_word_set(
    "cost costs weigh weighs last lasts start starts begin begins end ends finish finishes open opens close closes leave leaves depart departs"
    " arrive arrives land lands ship ships expire expires run runs listen listens need needs hold holds seat seats contain contains read reads owe owes"
    " earn earns meet meets come comes lie lies sit sits board boards ring rings fly flies launch keep make makes serve serves pay pays charge charges"
    " send answer reply report reports lead leads prefer prefers like likes love loves hate hates go goes stay stays stand stands want wants own owns"
    " practises practices rehearses store stores get gets grow grows gives teach teaches play plays call set sets support supports stop stops belong belongs"
    " manage manages handle handles see sees speak speaks know knows host hosts happens takes requires require measures park parks sleep sleeps steht stehen sitzt sitzen"
    " kostet kosten wiegt dauert fährt fahren beginnt endet öffnet schließt kommt läuft spricht spreche coûte pèse part dure commence ferme ouvre parle"
    " cuesta pesa sale empieza termina abre cierra hablo costa pesa parte inizia finisce apre chiude kost weegt vertrekt begint eindigt custa sai começa termina"
    " abre fecha"
)
VERBS: Final = BE | HAVE | LIVE | WORK | _HABITS | _OTHERS
HABITS: Final = (
    BE
    | HAVE
    | LIVE
    | WORK
    | _HABITS
    | list_word_set("run runs listen keep go goes deploy answer send drives lease rent rents")
)
FIRST: Final = list_word_set("i we ich wir je nous yo nosotros io noi ik wij eu nós я мы 我 私 私たち")
_FIRST_VERBS: Final = list_word_set(
    "vivo trabajo usamos uso tengo soy estoy abito lavoro usiamo ho sono moro trabalho tenho sou habite"
)
POINTERS: Final = list_word_set(
    "it that this they these those he she es das er sie ce cela ça eso esto él ella esso dat het hij zij isso ele ela это"
)
_STOP: Final = (
    (BE | HAVE) - {"son", "bin", "hat"}
    | list_word_set(
        "a an the my our of to for with by and or but as than so at on in from into be been being do does did not no never that this it there"
        " which who will would shall should can could may might must has have had just please any more longer 's i we me us"
        " der die das den dem des ein eine einen einem einer mein meine meinen meinem meiner unser unsere und oder aber mit von vom zu zum zur"
        " im am um bei nicht kein keine mehr sich ich wir le la les un une des du de mon ma mes notre nos et ou mais avec par pour à au aux ne pas plus"
        " always please immer bitte siempre toujours sempre altijd je nous se en chez el los las una unos mi mis nuestro nuestra y o pero con por para al del ya se yo il lo gli i uno mio nostro nostra e ed"
        " ma con per da di nel nella al alla alle ai non più si io het een mijn onze ons en of maar met van voor te naar bij op om niet geen meer langer"
        " ik o os um uma meu minha nosso nossa mas com por para no na em às ao não mais eu мой моя мы я и а но в на с не больше 我 的 了 着 私 の"
    )
    | POINTERS
    | list_word_set("you him them himself herself itself decided agreed decide")
)
_IDENTIFYING: Final = list_word_set("his her their your")


_JOINED: Final = re.compile(r"(?<!\d)[,;]|[,;](?!\d)|\b(?:and|but|because|so|which|who|und|aber|weil|et|y|e)\b")
_ORDERS: Final = (("never",), ("always",), ("please",))
_PREPOSITIONS: Final = list_word_set(
    "of to for with by at in on from into about over under per and or two three four five six seven eight nine ten"
)
_FORMS: Final = {"leaves": "leave", "leaving": "leave"}
"""Forms that `stem` takes for a noun's."""


_NOTE: Final = re.compile(
    r"(?P<thing>[^\W\d_](?:[^:;,.!?\n]|\d[.,]\d){1,50}?)(?:: | - | = )(?P<value>[^:;,!?\n]+(?:[.:]\d\d)?[^:;,!?\n]*)$"
)
"""A note without a verb: "Deadline: 3 May"."""
_LABEL: Final = re.compile(
    r"(?i)(?:no|oh|ok|sorry|hey|correction|update|typo|note|reminder|fyi|edit|remember|wrong|oops|change|heads.up|todo|ps|attention|important|actually|ne[iu]n|korrektur|erratum|corr\w+)\b"
)
"""What opens a note without naming what it is of."""


class Assertion(NamedTuple):
    """A clause taken apart.

    Attributes:
        raw: Its tokens as they were written.
        tokens: The same in lower case.
        verb_at: The place of its verb among them; -1 where no list has one of its words.
        content: The stems of what it says, without words of grammar.
        subject: Those of them before the verb, and `predicate` those from the verb on.
        is_first: Whether the speaker is its subject.
        is_joined: Whether it may say more than one thing: a list, or clauses joined by a word or a comma.
        is_pointing: Whether its subject is only pointed at ("it", "that"), or missing.
    """

    raw: tuple[str, ...]
    tokens: tuple[str, ...]
    verb_at: int
    content: frozenset[str]
    subject: frozenset[str]
    predicate: frozenset[str]
    is_first: bool
    is_joined: bool
    is_pointing: bool


@lru_cache(maxsize=REMEMBERED_TEXTS)
def expand(text: str) -> str:
    """A sentence with its contractions written out, without what merely opens it."""
    if "'" in text or "\u2019" in text:
        for pattern, whole in _APOSTROPHES:
            text = pattern.sub(whole, text)
    for pattern, whole in _CONTRACTIONS:
        text = pattern.sub(whole, text)
    text = text[match.end() :] if (match := _OPENERS.match(text)) else text
    note = _NOTE.match(text)
    if note and not any(word in VERBS for word in list_tokens(text.lower())) and not _LABEL.match(text):
        return f"{note['thing']} is {note['value']}"
    return text


def list_stems(tokens: Iterable[str]) -> frozenset[str]:
    """The stems of lower-cased tokens that carry meaning."""
    return frozenset(stem(_FORMS.get(token, token)) for token in tokens if token not in _STOP)


def list_tokens(text: str) -> tuple[str, ...]:
    """The words, numbers and signs of a text; a character each of Chinese and Japanese."""
    return tuple(_TOKEN.findall(text))


@lru_cache(maxsize=REMEMBERED_READINGS)
def read_assertion(text: str) -> Assertion:
    """An expanded sentence or clause, taken apart."""
    raw = list_tokens(text)
    tokens = tuple(_lower(at, token) for at, token in enumerate(raw))
    at = _find_verb(tokens, raw)
    before = tokens[: max(at, 0)]
    owners = frozenset(stem(word) for word, mark in pairwise(before) if mark == "'s")
    subject = list_stems(before) | _IDENTIFYING.intersection(before) | owners
    is_first = _is_first(tokens, at)
    return Assertion(
        raw=raw,
        tokens=tokens,
        verb_at=at,
        content=list_stems(tokens) | owners,
        subject=subject,
        predicate=list_stems(tokens[max(at, 0) :]),
        is_first=is_first,
        is_joined=_JOINED.search(text.lower()) is not None,
        is_pointing=not subject - POINTERS and not is_first,
    )


def _lower(at: int, word: str) -> str:
    """A word in lower case; a letter that names a thing ("server A") stays apart from the word, and a month from "may"."""
    if at > 0 and word == "May":
        return "mai"
    if word in _NAMES_TOO and (at > 0 or word in ("Ben", "Ella")):
        return f"#{word.lower()}"
    is_letter = at > 0 and len(word) == 1 and word.isupper() and word != "I"
    return f"#{word.lower()}" if is_letter else word.lower()


def _find_verb(tokens: Sequence[str], raw: Sequence[str]) -> int:
    """The place of the verb: the first that a list has; else what stands where a verb does.

    An order has it behind "never" or "always", the speaker's own clause behind "I" and adverbs, any other where a word in
    "-s" follows what is no article.
    """
    if tokens[:1] in _ORDERS and len(tokens) > 1:
        return 1
    if tokens[:1] and tokens[0] in FIRST:
        at = next((at for at in range(1, len(tokens)) if not is_adverb(tokens[at])), -1)
        return at if at > 0 and tokens[at] not in _JOINERS else -1
    listed = next((at for at in range(len(tokens)) if _is_verb(tokens, at)), -1)
    guessed = next((at for at in range(1, len(tokens)) if raw[at].islower() and _may_be_verb(tokens, at)), -1)
    if listed >= 0 and not _is_late(listed):
        return listed
    at = min(filter(lambda at: at >= 0, (listed, guessed)), default=-1)
    if at >= 0 or not tokens:
        return at
    start = 1 if tokens[0] in _ADVERBS else 0
    return start if _is_order(tokens[start:]) else _find_verb_of_several(tokens)


def _find_verb_of_several(tokens: Sequence[str]) -> int:
    """The place of the verb behind an article and a noun in "-s", where no other verb is known; -1 without one."""
    at = next((at for at in range(1, min(len(tokens), _LATE)) if tokens[at].endswith("s") and tokens[at].isalpha()), 0)
    if tokens[0] not in _OWNERS - {"a", "an"} or not at or not _NO_ORDERS.isdisjoint(tokens[1 : at + 1]):
        return -1
    at = next((at for at in range(at + 1, len(tokens)) if not is_adverb(tokens[at])), 0)
    return at if 0 < at < len(tokens) - 1 and tokens[at].isalpha() and tokens[at] not in _NO_ORDERS | _JOINERS else -1


def _is_order(tokens: Sequence[str]) -> bool:
    """Whether a text without a known verb begins with one, as what follows is a thing with its article."""
    return len(tokens) > 2 and tokens[1] in _OWNERS and tokens[0].isalpha() and tokens[0] not in _NO_ORDERS  # noqa: PLR2004


_NO_ORDERS: Final = list_word_set(
    "all both half in on at for with from to by of under over about into and or but so not no only just also now then than as like even the a an my our his her their your this that"
    " what when where who why how if since because after before until while during without within i we you he she it they"
)


_ADVERBS: Final = list_word_set(
    "always never usually often also just really only mostly still currently now not do does did will would can normally"
    " regularly sometimes auch immer meistens siempre toujours sempre altijd ne me se mi"
)
_NO_ADVERBS: Final = list_word_set("fly apply reply rely supply family only early ally italy july assembly jelly belly")
_JOINERS: Final = list_word_set("and or und oder et ou y o e en of")
_OWNERS: Final = list_word_set("the a my our his her their your")
"""Behind these "son" is a child, not the Spanish verb."""
_NAMES_TOO: Final = frozenset(("Ben", "Per", "Al", "Ella"))
"""Names that are words of grammar in another language."""
_NOUNS_TOO: Final = list_word_set("part sale son bin hat")
"""Verbs of other languages that are nouns behind an English article."""
_LATE: Final = 6


def _is_late(at: int) -> bool:
    """Whether a listed verb stands so far behind that another may come before it."""
    return at > _LATE


def is_adverb(word: str) -> bool:
    """Whether a lower-cased word only says how, when or whether."""
    return word in _ADVERBS or (word.endswith("ly") and word not in _NO_ADVERBS)


def _may_be_verb(tokens: Sequence[str], at: int) -> bool:
    word, last = tokens[at], tokens[at - 1]
    is_form = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and word.isalpha()  # noqa: PLR2004
    return is_form and last not in DETERMINERS and last not in _PREPOSITIONS and not last.endswith("'s")


def _is_verb(tokens: Sequence[str], at: int) -> bool:
    """Whether a word is a verb here: one behind an article is a noun, but for those that are never."""
    word = tokens[at]
    follows = tokens[at + 1 : at + 2]
    if word in _NOUNS_TOO and not _OWNERS.isdisjoint(tokens[:at]):
        return False
    if follows == ("'s",):
        return False
    if word not in BE | HAVE and ((follows and follows[0] in BE) or _is_noun(tokens, at)):
        return False
    return word in VERBS and (word in BE or word in HAVE or at == 0 or tokens[at - 1] not in DETERMINERS)


def _is_noun(tokens: Sequence[str], at: int) -> bool:
    """Whether a verb's plain form follows one thing of the English third person, so that it has no verb's ending."""
    word, last = tokens[at], tokens[at - 1] if at else ""
    is_plain = at > 1 and not word.endswith("s")
    is_one = tokens[0] in _OWNERS and not last.endswith("s") and last not in _PLURALS
    return (
        is_plain
        and is_one
        and last not in _ADVERBS
        and last not in ("to", "'s")
        and any(token in BE for token in tokens[at + 1 :])
    )


_PLURALS: Final = list_word_set("people children men women police staff team family crew parents who that which")


def _is_first(tokens: Sequence[str], verb_at: int) -> bool:
    held = [token for token in tokens[:3] if token not in ("always", "never", "usually")]
    return bool(held) and (held[0] in FIRST or (verb_at == 0 and held[0] in _FIRST_VERBS))
