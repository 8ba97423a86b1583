"""Whether a sentence of a user tells something of himself or of his world that outlasts the moment.

Theory of operation: what a sentence is about stands at its beginning, so its first word that is no opener ("btw", "and")
chooses the one reading that is tried; most sentences cost a few lookups of words. The readings know subjects and verbs: a
state of the speaker or of what is his ("I play", "my car is"), an event of his that has a time, a name or a number,
and a named value ("plan: Basic"). What is felt, supposed, asked or happening right now tells nothing that lasts.

Source: DESIGN section 4, extraction; own grammar, tuned on the dev split of tests/data/memory_statements.jsonl only.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from everfold.core.statements.extracts import LineKind
from everfold.core.statements.rules import IMPERATIVES, KIN_WORDS, STATES_OF_BEING, list_marked_words, list_word_set

_Reading: TypeAlias = Callable[[Sequence[str], bool], bool]
"""Whether words that begin with the subject tell what lasts, given whether they have a time, a name or a number."""

_OPENERS: Final = list_marked_words(
    "and but so ok okay yes yeah yep yea no nah well also btw hi hello hey oh sorry certainly sure right because plus as"
    " anyway then good day sir madam"
)
_MOST_OPENERS: Final = 3
_MARKS: Final = ",.!:;"
_SHORT_WORDS: Final = 7
"""What a person says in note form is this short."""
_NO_NOTES: Final = IMPERATIVES | list_word_set(
    "what when where who whom whose which why how wat wht whats wats wheres hows is are am was were do does did can could"
    " would will shall should may might must has have had you u ur your maybe perhaps if thank thanks thx cheers git npm"
    " pip docker sudo cd ls i i'm im i've ive i'd i'll we we're we've he she they it it's its that that's thats those glad aw aww definitely absolutely totally exactly congrats congratulations nope hey no yes yeah yep see way long error failed warning please pls plz"
    " kind best regards dear greetings happy wo wie wann warum wer welche welcher gibt dónde donde cómo como cuándo cuando qué que cuál cuánto cuanto por où quand comment pourquoi combien quel quelle dove quando come perché quanto waar hoe wanneer danke merci gracias grazie bedankt obrigado hola bonjour guten gimme execute any anything some ha haha hahaha lol lmao great nice wow ugh not imagine suppose hypothetically"
)

_ADVERBS: Final = list_word_set(
    "also just only actually originally currently now still always usually mostly really both all then had recently"
    " first already finally normally regularly sometimes often perhaps should do did mention that 've am r"
)
_FELT: Final = list_word_set(
    "think thought guess hope hoped wish wonder wondered wondering mean see agree understand know feel felt appreciate suppose"
    " believe bet swear apologise apologize thank would wouldn't could couldn't can can't cant cannot pressed tried try clicked"
    " get want wanted might may will won't shall imagine remember forgot miss missed admit say said tell told asked ask look"
    " looked checked don't dont didn't not need must keep never was were sure"
)
"""What is in a mind or at hand: of it only the other rules judge."""
_LASTING: Final = list_word_set(
    "own owns live work worked play study studied teach run use speak belong grew born moved adopted married retired sing"
    " raise host manage lead maintain suffer wear drive commute volunteer rent share employ sell make build serve lost bought"
    " inherited founded joined left quit graduated stopped"
)
_HAVING: Final = list_word_set("have has got")
_NOT_HELD: Final = list_word_set(
    "been done gotten so each great question problem issue look idea feeling request no to it this that these nothing time fun"
)
_MOODS: Final = list_word_set(
    "so very too sorry afraid sure not glad happy here tired hungry bored trying looking wondering having going gonna done back"
    " good fine ok okay well ready confused stuck kidding thankful grateful interested late excited sick cold curious lost"
    " really quite pretty about thinking sitting waiting calling writing asking talking feeling able aware seeing unable"
    " stunned sad mad angry only getting impressed proud inspired blessed honored honoured keen amazed in grateful"
)
_WED: Final = ("married", "divorced", "engaged")
_VERBS: Final = list_word_set(
    "is are was were has have had lives live works work goes comes turns turned falls starts ends runs run uses use needs need"
    " died passed got wants speaks likes hates loves consists can can't cannot cant must called named listens sits belongs"
    " closes opens costs takes leaves lands contains happens stays supports begins arrives joins studies plays teaches moved"
    " suffers visits handles owns points expires ships adopted only doesn't isn't aren't"
)
_REACH: Final = 7
"""Within how many words a verb follows its subject."""
_BOUND: Final = list_word_set(
    "written owned called named located based hosted stored made managed maintained led deployed divided split closed open due"
)
_COUNTS: Final = list_word_set("two three four five six seven eight nine ten eleven twelve")
_PLACED: Final = list_word_set("the a an my our in on under at called for")


def _tell_self(words: Sequence[str], has_fact: bool) -> bool:  # noqa: FBT001 - one shape for all readings
    at, count = 1, len(words)
    while at < count - 1 and words[at] in _ADVERBS:
        at += 1
    verb = words[min(at, count - 1)]
    if verb in _LASTING:
        return True
    if verb in _HAVING or words[at - 1] in _HAVING:
        return _NOT_HELD.isdisjoint(words[at : at + 4])
    if words[at - 1] in ("am", "are", "r"):
        return _tell_being(words[at - 1 :], has_fact)
    return has_fact and verb not in _FELT and len(verb) > 1


def _tell_being(words: Sequence[str], has_fact: bool) -> bool:  # noqa: FBT001 - as above
    at, count = 1, len(words)
    while at < count - 1 and (words[at] in _ADVERBS or words[at].endswith("ly")):
        at += 1
    if at >= count or words[at].rstrip(_MARKS) in _MOODS:
        return at < count - 1 and words[at] == "getting" and words[at + 1] in _WED
    return has_fact or not words[at].endswith(("ing", "ed"))


def _tell_mine(words: Sequence[str], has_fact: bool) -> bool:  # noqa: FBT001 - as above
    part = words[1:_REACH]
    if _VERBS.isdisjoint(part):
        return False
    return has_fact or not any(word.endswith("ing") for word in part)


def _tell_thing(words: Sequence[str], has_fact: bool) -> bool:  # noqa: FBT001 - as above
    part = words[1:_REACH]
    if _VERBS.isdisjoint(part):
        return False
    return (
        has_fact
        or not _BOUND.isdisjoint(words[2:])
        or any(_is_placed(pair) for pair in zip(part, words[2:], strict=False))
    )


def _is_placed(pair: tuple[str, str]) -> bool:
    return pair[0] in ("is", "are") and pair[1] in ("in", "under", "at")


def _tell_count(words: Sequence[str], has_fact: bool) -> bool:  # noqa: ARG001, FBT001 - as above
    return any(word in _COUNTS or word.isdigit() for word in words[1:3])


def _tell_it(words: Sequence[str], has_fact: bool) -> bool:  # noqa: FBT001 - as above
    at = 2 if words[0] == "it" else 1
    return has_fact and (len(words) == at or (len(words) > at and words[at] in _PLACED))


def _tell_kin(words: Sequence[str], has_fact: bool) -> bool:  # noqa: ARG001, FBT001 - as above
    return not _VERBS.isdisjoint(words[1:4])


def _tell_dropped(words: Sequence[str], has_fact: bool) -> bool:  # noqa: FBT001 - as above
    return has_fact and len(words) > 1


def _tell_state(words: Sequence[str], has_fact: bool) -> bool:  # noqa: ARG001, FBT001 - as above
    return True


def _tell_by(pattern: str) -> _Reading:
    match = re.compile(pattern).match
    return lambda words, _: match(" ".join(words)) is not None


_READINGS: Final[tuple[tuple[str, _Reading], ...]] = (
    ("i we ive i've we've", _tell_self),
    ("i'm im we're were", _tell_being),
    ("my our me mine ours", _tell_mine),
    ("the this these all every each in on at", _tell_thing),
    ("there's theres there", _tell_count),
    ("it's its it", _tell_it),
    (
        "moved adopted bought got born started quit left joined graduated retired divorced married live lives work works living working",
        _tell_dropped,
    ),
    (KIN_WORDS, _tell_kin),
    (" ".join(sorted(set(STATES_OF_BEING.split()) - {"from", "years", "single", "based"})), _tell_state),
    (
        "ich wir",
        _tell_by(
            r"\w+ (?:bin|sind|habe|haben|wohne|wohnen|lebe|leben|arbeite|arbeiten|komme|kommen|heiße|nutze|nutzen|spiele|lerne|verwende|verwenden)\b"
            r"(?! (?:so|sehr|mir|eine frage|müde|keine ahnung))"
        ),
    ),
    (
        "mein meine meiner unser unsere unserer",
        _tell_by(r"\w+ (?:\S+ ){1,4}?(?:ist|sind|hat|haben|heißt|lautet|läuft|liegt|wohnt|arbeitet|war)\b"),
    ),
    (
        "soy vivo trabajo tengo somos vivimos tenemos estudio nací",
        _tell_by(r"\w+ (?!que\b|una pregunta|hambre|sueño|frío|calor)\w+"),
    ),
    ("yo nosotros", _tell_by(r"\w+ (?:no )?(?:soy|vivo|trabajo|tengo|somos|vivimos|tenemos|estudio)\b")),
    (
        "mi mis nuestro nuestra nuestros nuestras",
        _tell_by(r"\w+ (?:\S+ ){1,4}?(?:es|son|está|están|tiene|tienen|vive|trabaja|se llama|fue|era)\b"),
    ),
    (
        "je nous j'ai j'habite",
        _tell_by(
            r"je suis (?!désolé|content|perdu|sûr|très)|j'(?:ai|habite) (?!une question|besoin|faim)"
            r"|(?:je|nous) (?:travaille|vis|avons|sommes|vivons|habitons|travaillons)\b(?! (?:une question|besoin|faim))"
        ),
    ),
    ("mon ma mes notre nos", _tell_by(r"\w+ (?:\S+ ){1,4}?(?:est|sont|a|ont|habite|travaille|s'appelle|vit|était)\b")),
    ("ho sono lavoro abbiamo siamo abito", _tell_by(r"\w+ (?!una domanda|bisogno|fame|stanco|capito)\w+")),
    ("mio mia nostro nostra", _tell_by(r"\w+ (?:\S+ ){1,4}?(?:è|ha|vive|lavora|si chiama)\b")),
    ("ik wij", _tell_by(r"\w+ (?:ben|zijn|heb|hebben|woon|wonen|werk|werken)\b(?! (?:een vraag|moe|zo))")),
    ("mijn onze ons", _tell_by(r"\w+ (?:\S+ ){1,4}?(?:is|zijn|heeft|woont|werkt|heet)\b")),
)
"""By first word. Of German, Spanish, French, Italian and Dutch only the first person and what is its own are read."""
_BY_FIRST: Final = {first: reading for firsts, reading in reversed(_READINGS) for first in firsts.split()}
FACT_READINGS: Final = (_tell_it, _tell_dropped)
"""Readings that tell nothing where there is no time, name or number."""
_BEGINNINGS: Final = _OPENERS.union(first for first, reading in _BY_FIRST.items() if reading not in FACT_READINGS)
"""What a sentence that holds no fact begins with, if it tells anything."""
_match_value: Final = re.compile(
    r"(?:[\w'#/-]+ ){0,3}[\w'#/-]+(?::| ?=|'s| is| are| has| lives?| runs?| sits?| works?| no\.?) ?\S"
).match
"""What is named and then said in note form: a label with its value, or a thing that is, has, lives or runs."""
_is_command: Final = re.compile(r" --?\w|[$|&>]|\w\(").search
_MAY_PASS: Final = list_marked_words(
    "now moment morning afternoon rn today haha hahaha /s again working down crash crashed crashes crashing broken slow funny course"
    " maybe perhaps would wouldn't could couldn't might like appreciate you u"
)
_passes: Final = re.compile(
    r"\b(?:right now|at the moment|this morning|this afternoon|rn|today|haha\w*|again|not working|(?:is|are|was|so|too|very|'s) (?:down|broken|slow)|crash\w*|so funny|of course|maybe|perhaps"
    r"|(?:was|were) like|appreciate|(?:can|could|would|will) (?:you|u))\b|/s\b"
    r"|\b(?:would|could|might)(?:n't)?(?: \w+)? (?:be|have|need|take|make|buy|miss|go|think)\b"
).search
"""What makes a sentence one of its moment, of a supposition, of a joke or of a request."""


_ASKED_CHARS: Final = 400
_ASKED: Final = re.compile(r"[^.!?\n]*\?\s*$")
_OFFERS: Final = re.compile(
    r"\b(?:shall i|should i|can i|may i help|do you want me|would you like me|anything else|can you (?:share|show|send|paste)|could you (?:share|show|send|paste)"
    r"|how (?:can|may) i|what can i|how are you|how's it going|what do you think|isn't it|right\?)"
)
_ANSWER_CHARS: Final = 200
_NODS: Final = list_word_set(
    "yes yeah yep yea no nope nah sure ok okay fine please thanks thank you great good right exactly correct of course certainly"
    " absolutely definitely maybe perhaps i don't dont know not really sounds do it go ahead that that's is alright cool perfect idk"
)


def tells_lasting(sentence: str, kind: LineKind) -> bool:
    """Whether a sentence that is neither a question nor a statement of any other kind tells what lasts.

    Args:
        sentence: The sentence as it was said, not blank.
        kind: What it holds: a time, a number, an identifier, a path, else a name; "lead" for none of them.
    """
    has_fact = kind != "lead"
    if sentence[-1] == "?" or not (has_fact or _lower(sentence.split(None, 1)[0]) in _BEGINNINGS) or '"' in sentence:
        return False
    lowered = _lower(sentence)
    words = lowered.split()
    subject: Sequence[str] = words
    reading = _BY_FIRST.get(words[0])
    if reading is None and words[0] in _OPENERS:
        reading, subject = _find_reading(words)
    is_told = reading is not None and reading(subject, has_fact)
    if not is_told and not (has_fact and _is_note(lowered, words, is_named_only=kind == "name")):
        return False
    return _MAY_PASS.isdisjoint(words) or _passes(lowered) is None


def _lower(text: str) -> str:
    return text.lower().replace("\u2019", "'")


def _is_note(lowered: str, words: Sequence[str], *, is_named_only: bool) -> bool:
    """Whether words in note form name a value; a name alone may be that of the person spoken to."""
    is_label = words[0].endswith(":")
    if words[0].rstrip(_MARKS) in _NO_NOTES and not is_label:
        return False
    is_short = len(words) <= _SHORT_WORDS and not is_named_only
    return (is_short or _match_value(lowered) is not None) and not _is_command(lowered)


def _find_reading(words: Sequence[str]) -> tuple[_Reading | None, Sequence[str]]:
    """The reading that the first word behind openers asks for, and the words from there on."""
    for at, word in enumerate(words[1 : _MOST_OPENERS + 1], 1):
        if (reading := _BY_FIRST.get(word) or _BY_FIRST.get(word.rstrip(_MARKS))) is not None:
            return reading, words[at:]
        if word not in _OPENERS:
            break
    return None, words


def is_answer(sentence: str, *, before: str) -> bool:
    """Whether a short sentence answers a question about the speaker or his world that ends what was said before.

    What only agrees, refuses, thanks or asks back is none, and neither is what answers an offer.
    """
    asked = _ASKED.search(before[-_ASKED_CHARS:].lower())
    if asked is None or _OFFERS.search(asked[0]) or len(sentence) > _ANSWER_CHARS or sentence.endswith("?"):
        return False
    words = [word.strip(_MARKS) for word in sentence.lower().split()]
    return words[0] not in IMPERATIVES and not _NODS.issuperset(words)
