"""Slots: where two statements are the same but for one value, and whether a thing has only one of that value.

Without such a word as "correction" a newer statement takes an older one's place only here: the same words before and
behind, the same sort of value, and a verb or a noun that allows one value at a time. A number behind the name of a thing
tells it from others, so what stands before the verb has to be the same.

Source: own lists, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from everfold.core.clauses.assertions import BE, HAVE, LIVE, POINTERS, WORK, Assertion, is_adverb, list_stems
from everfold.core.statements.rules import list_word_set
from everfold.core.text.stems import PLAIN_FORMS

ValueSort = Literal["number", "code", "when", "state", "name", "word", "mixed"]
"""mixed: a number among other words, of which no rule knows what it counts."""

WEEKDAYS: Final = list_word_set(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun montag dienstag mittwoch donnerstag"
    " freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag segunda terça quarta quinta"
    " sexta segunda-feira terça-feira quarta-feira quinta-feira sexta-feira понедельник вторник среду среда четверг пятницу пятница субботу воскресенье"
)
HABITUAL: Final = list_word_set(
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends montags dienstags mittwochs donnerstags freitags samstags sonntags"
)
MONTHS: Final = list_word_set(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
    " januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre"
    " enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre"
    " ottobre dicembre januari februari maart mei augustus janeiro fevereiro março maio junho julho setembro outubro novembro dezembro"
)
ALSO_NAMES: Final = list_word_set("jan may mar april june august mai mars jun")
_JOINS: Final = list_word_set("at on um am à las alle om")
"""Between a day and a time: where both differ, the two may be two dates of one thing."""
_DAY_WORDS: Final = list_word_set("today tomorrow tonight noon midnight heute morgen demain mañana domani amanhã")
_WHEN_JOINS: Final = list_word_set("at on the of um am uhr h à a las le el al alle de de_ o'clock am pm next kl")
_NUMBER_WORDS: Final = list_word_set(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty forty fifty hundred"
    " zwei drei vier fünf sechs sieben acht neun zehn first second third fourth fifth sixth seventh eighth ninth tenth deux trois quatre cinq dos tres cuatro cinco"
)
ADJECTIVES: Final = list_word_set(
    "swedish german italian french spanish dutch english british irish scottish welsh danish norwegian finnish polish russian chinese japanese korean indian american canadian"
    " mexican brazilian portuguese greek turkish swiss austrian belgian australian european african asian catholic protestant jewish muslim christian hindu buddhist"
)
"""Written like names, but what a person or thing may be beside other things."""
PARTICLES: Final = list_word_set("de da di do du van von der of the 's la le el")
_UNIT_JOINS: Final = list_word_set("over to by € $ £ % percent per to and of")
STATES: Final = tuple(
    map(
        list_word_set,
        (
            "open closed shut",
            "failing passing failed passed",
            "paid unpaid overdue settled due",
            "pending shipped delivered cancelled canceled",
            "single married engaged divorced widowed",
            "vegetarian vegan pescatarian",
            "on off",
            "enabled disabled",
            "active inactive",
            "broken repaired fixed mended working",
            "locked unlocked",
            "open fixed resolved merged blocked approved closed rejected",
            "stable deprecated experimental supported unsupported",
            "frozen open",
            "full empty",
            "free occupied taken booked available",
            "red blue green yellow white black grey gray brown orange purple pink silver gold beige",
            "small medium large",
            "ill sick well healthy",
            "employed unemployed retired",
            "offen bezahlt unbezahlt",
            "offen geschlossen",
            "frei belegt besetzt",
        ),
    )
)
_PREPOSITIONS: Final = list_word_set(
    "at on in to for from by with under near around about um am im auf in bei von à au en de le el la a en las los alle di op om in bij no na em às the o"
)
_LIMITS: Final = list_word_set(
    "until till by before after under over above below within than to least most every up bis vor nach hasta antes fino entro tot até avant jusqu'à"
)
_SCHEDULED: Final = list_word_set("out expected due scheduled set planned booked slated valid fixed up")
LABELS: Final = list_word_set(
    "room level floor size year grade class tier gate platform berth box seat desk shelf bed page chapter version number channel lane table building pier track stall table"
    " zimmer raum gleis platz chambre salle quai habitación stanza camera kamer spoor"
)
_ATTRIBUTES: Final = list_word_set("code pin number password version id extension passcode")
MANY: Final = list_word_set(
    "son daughter child kid brother sister sibling cousin nephew niece aunt uncle friend colleague neighbour neighbor cat dog pet horse fish bird student"
    " teammate roommate flatmate grandson granddaughter twin sohn tochter bruder schwester hund katze freund freundin frère sœur fils fille chat chien"
    " hijo hija hermano hermana perro gato figlio figlia fratello sorella cane zoon dochter broer zus hond kat filho filha irmão irmã"
)
ONE_NAMES: Final = list_word_set(
    "name nickname boss manager employer doctor gp dentist landlord landlady therapist vet wife husband partner spouse supervisor address wifi wi-fi"
    " leader lead ceo cto captain owner bank gym insurance hometown birthday timezone zone nationality title branch provider contact engineer"
    " treasurer organist caterer florist photographer dj plumber electrician gardener caretaker nanny babysitter instructor adviser advisor attorney lawyer solicitor dispatcher"
    " foreman hairdresser barber optician physiotherapist cardiologist dermatologist surgeon pharmacist realtor broker architect contractor mechanic supplier drummer goalkeeper referee organiser"
    " organizer moderator chairman chairwoman principal headteacher officiant janitor receptionist bookkeeper librarian conductor"
    " assistant coach trainer laptop chef mayor president chair secretary host username login school cleaner accountant notary"
    " midwife director headmaster head keeper number editor word ärztin arzt zahnarzt vermieter adresse médecin dentiste patron médico dentista jefe"
    " dirección medico capo baas arts dokter huisarts"
)
"""Of these there is one at a time, told by a name."""
ONE_WORDS: Final = list_word_set(
    "hint code colour color word pronouns branch editor language password passcode e-mail email address username login lieblingsfarbe passwort couleur color colore"
    " kleur cor"
)
"""Of these as well, told by any one word."""
_ROLE_MID: Final = list_word_set("with at in called named the el le il by on")
FAVOURITE: Final = list_word_set(
    "favourite favorite fav fave default main current primary preferred next new usual regular go-to favorito favorita preferito preferita préféré préférée lieblings"
)
OFTEN: Final = list_word_set(
    "bus train ferry tram shuttle metro boat zug bus train tren treno trein trem market class course lesson yoga training practice choir rehearsal shift session club therapy physio"
    " collection prayer mass service lecture seminar workshop kurs cours clase lezione les aula"
)
"""What goes or takes place several times a day or week."""
_BOUND: Final = re.compile(
    r"\b(?:goes to|go to|meets? at|meets? in|steht in|stands? in|liegt in|sits? in|arbeitet (?:bei|für)|works? (?:at|for|bei)|stud(?:y|ies) (?:at|in)|reports? to|belongs? to|is run by|is with|made by|written by|led by|travaille chez|trabaja en|lavora (?:a|da)|werkt bij|runs? on|hosted with|registered (?:with|at|in)|commute by|insured with|is led by|taught by|coached by|delivered (?:to|by)|sent to|stored at|kept (?:in|at)|charged to|billed to|reserved for the|assigned to the|assigned to|owned by|led by|run by|hosted (?:on|at|by|in)|written in|based in|booked (?:by|for)|reserved for|called|named|parked (?:on|at|in)|located (?:in|at)|stored (?:in|on)|made of|set to|managed by)(?: the| our| my)?$"
)
_PLACED: Final = re.compile(r"^(?:in|at|on|under|with|room|near|the)(?: (?:the|my|room|our))?$")
_NUMBER: Final = re.compile(r"\d[\d.,'/-]*%?")
_TIME: Final = re.compile(r"\d{1,2}(?:[:.h]\d\d)|\d{1,2}(?:am|pm|h)|\d{1,2}(?:st|nd|rd|th)")
_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d)?")
CODE: Final = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w.:/@#+-]+|[\w.+-]+@[\w.-]+|(?:\w*/){2,}[\w./-]*|\w+[.-]\w[\w.-]*")
INDEFINITE: Final = list_word_set(
    "a an one another some any every each no there several many most two three few other both someone ein eine une un uno una een um uma es hay"
)
_SOMEBODYS: Final = list_word_set(
    "his her their its your sein seine ihr ihre son sa ses leur su sus suo sua zijn haar hun seu dele dela"
)
"""Of whom it is, another sentence says."""
_TASTES: Final = list_word_set(
    "like likes love loves hate hates want wants know knows speak speaks see sees prefer prefers support supports own owns"
)
NEVER: Final = list_word_set("never nie niemals jamais nunca mai nooit")
MODALS: Final = list_word_set("can could may might kann könnte peut puede può kan pode")
_SETTLED: Final = frozenset(("decided", "agreed", "settled"))
_PAST: Final = re.compile(r"^(?:was|were|had|war|waren|était|fue|era|\w{3,}ed)$")
PAST_FORMS: Final = frozenset(PLAIN_FORMS) - list_word_set(
    "am is are been has does goes flies children feet geese halves knives leaves men mice people shelves teeth wives wolves women better best worse worst further farther farthest"
)
"""Forms of irregular verbs that tell what has happened."""


class Slot(NamedTuple):
    """The one place in which two statements differ: what stands before it and behind, and both values."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    older: tuple[str, ...]
    newer: tuple[str, ...]
    older_sort: ValueSort
    newer_sort: ValueSort


_MOST_VALUE_WORDS: Final = 6
TITLES: Final = list_word_set("dr mr mrs ms prof frau herr herrn doctor docteur doctora señor señora")


def find_slot(older: Assertion, newer: Assertion) -> Slot | None:
    """The one place behind the verb in which two clauses differ; None where they differ in more, or before it."""
    head = _count_common(older.tokens, newer.tokens)
    while head > older.verb_at + 1 and _belongs_to_value(older, head):
        head -= 1
    tail = _count_common(older.tokens[head:][::-1], newer.tokens[head:][::-1])
    one = slice(head, len(older.tokens) - tail)
    other = slice(head, len(newer.tokens) - tail)
    said, told = older.tokens[one], newer.tokens[other]
    if not said or not told or max(len(said), len(told)) > _MOST_VALUE_WORDS or not 0 <= older.verb_at < head:
        return None
    before, after = older.tokens[:head], older.tokens[one.stop :]
    return Slot(
        before=before,
        after=after,
        older=said,
        newer=told,
        older_sort=sort_value(said, older.raw[one], before, after),
        newer_sort=sort_value(told, newer.raw[other], before, after),
    )


def _belongs_to_value(older: Assertion, head: int) -> bool:
    """Whether the last word that both have is a part of the value: of a number in groups, of a name with its title."""
    last, value = older.tokens[head - 1], older.tokens[head : head + 1]
    if last in TITLES or (_NUMBER.fullmatch(last) and value and (_NUMBER.fullmatch(value[0]) or value[0] in MONTHS)):
        return True
    is_name = older.raw[head - 1][:1].isupper() and bool(value) and older.raw[head][:1].isupper()
    return is_name and last not in MONTHS and last not in WEEKDAYS


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def sort_value(tokens: Sequence[str], raw: Sequence[str], before: Sequence[str], after: Sequence[str]) -> ValueSort:
    """What sort of value words are, given what stands around them."""
    if _is_when(tokens, before, after):
        return "when"
    if all(is_number(token) or token in _UNIT_JOINS for token in tokens):
        return "number"
    if any(is_number(token) or names_time(token) for token in tokens) and not _is_title(raw):
        return "mixed"
    if len(tokens) == 1 and CODE.fullmatch(tokens[0]):
        return "code"
    if len(tokens) == 1 and any(tokens[0] in states for states in STATES):
        return "state"
    is_name = not ADJECTIVES.issuperset(tokens) and all(
        word[:1].isupper() or word in PARTICLES or is_number(word) for word in raw
    )
    return "name" if is_name else "word"


def is_number(token: str) -> bool:
    """Whether a lower-cased word is a number, in figures or in letters."""
    return token in _NUMBER_WORDS or (token[:1].isdecimal() and _NUMBER.fullmatch(token) is not None)


def is_past(token: str) -> bool:
    """Whether a lower-cased verb tells what has happened."""
    return token in PAST_FORMS or _PAST.match(token) is not None


def _is_title(raw: Sequence[str]) -> bool:
    """Whether words with a number are a name: an address, a driver's number."""
    return any(
        word[:1].isupper() and not word.isupper() and (word.lower() in ALSO_NAMES or not names_time(word.lower()))
        for word in raw
    )


_CLOCK: Final = re.compile(
    r"(?:(?:half|quarter) (?:past|to) \w+|\d{1,2}(?:[:.]\d\d)? (?:am|pm|uhr|h|o'clock)|noon|midnight|midday)"
)


def _is_when(tokens: Sequence[str], before: Sequence[str], after: Sequence[str]) -> bool:
    if _is_wide_weekday(tokens, before, after) or _CLOCK.fullmatch(" ".join(tokens)):
        return True
    marks = [token for token in tokens if token not in _WHEN_JOINS]
    named = [token for token in marks if names_time(token)]
    if len(tokens) == 1 and tokens[0] in ALSO_NAMES and before and before[-1] not in _PREPOSITIONS | _LIMITS | {"of"}:
        return False
    if named and not _JOINS.isdisjoint(tokens[1:]):
        return False
    if named:
        return all(names_time(token) or _NUMBER.fullmatch(token) for token in marks)
    follows = after[0] if after else ""
    return (
        bool(marks)
        and all(_NUMBER.fullmatch(token) for token in marks)
        and (
            follows in MONTHS
            or follows in ("uhr", "h", "am", "pm", "o'clock")
            or (bool(before) and before[-1] in MONTHS)
        )
    )


def names_time(token: str) -> bool:
    """Whether a lower-cased word is a day, a month or a time."""
    return (
        token in WEEKDAYS
        or token in HABITUAL
        or token in MONTHS
        or token in _DAY_WORDS
        or (token[:1].isdecimal() and (_TIME.fullmatch(token) or _ISO_DATE.fullmatch(token)) is not None)
    )


def _is_wide_weekday(tokens: Sequence[str], before: Sequence[str], after: Sequence[str]) -> bool:
    if len(tokens) != 1:
        return tokens[1:2] == ("曜",) or tokens[:1] in (("周",), ("星",))
    is_chinese = tokens[0] in "一二三四五六日天" and bool(before) and before[-1] in "周期拜"
    return is_chinese or (tokens[0] in "月火水木金土日" and bool(after) and after[0] == "曜")


def list_values(assertion: Assertion) -> dict[ValueSort, frozenset[str]]:
    """The stems of what a clause says behind its verb, by sort."""
    found: dict[ValueSort, set[str]] = {}
    for at in range(assertion.verb_at + 1, len(assertion.tokens)):
        token = assertion.tokens[at]
        sort = sort_value((token,), (assertion.raw[at],), assertion.tokens[:at], assertion.tokens[at + 1 :])
        if sort not in ("word", "mixed") and list_stems((token,)):
            found.setdefault(sort, set()).update(list_stems((token,)))
    return {sort: frozenset(values) for sort, values in found.items()}


def list_units(assertion: Assertion) -> frozenset[str]:
    """The words right behind numbers, which tell what they count."""
    pairs = zip(assertion.tokens, assertion.tokens[1:], strict=False)
    return list_stems(
        word for number, word in pairs if is_number(number) and not names_time(word) and not is_number(word)
    )


def is_value(words: Sequence[str]) -> bool:
    """Whether words are only a number, a code or a time."""
    return sort_value(words, words, ("at",), ()) in ("number", "code", "when")


def is_definite(assertion: Assertion) -> bool:
    """Whether a clause speaks of a thing that it names, not of one among several or of what is only pointed at."""
    before = assertion.tokens[: max(assertion.verb_at, 0)]
    if not before:
        return assertion.is_first
    return before[0] not in INDEFINITE | _SOMEBODYS and not (len(before) == 1 and before[0] in POINTERS)


def holds_one(older: Assertion, slot: Slot, *, is_marked: bool = False) -> bool:
    """Whether the thing that both speak of has one value at a time in this place.

    Args:
        older: The older clause.
        slot: Where the newer one differs.
        is_marked: The newer one says that it is so now: what would be a list else is a change.
    """
    if not is_marked and _may_be_many(older, slot):
        return False
    if not _are_one_sort(slot) or not MODALS.isdisjoint(older.tokens[max(older.verb_at - 1, 0) : older.verb_at + 1]):
        return False
    if older.tokens[0] in NEVER and slot.before[-1] not in _LIMITS:
        return False
    is_order = not older.is_first and (older.verb_at == 0 or older.tokens[0] in ("always", "bitte", "never"))
    if not is_order and not is_definite(older):
        return False
    if older.tokens[older.verb_at] in _SETTLED:
        return slot.older_sort in ("when", "number", "code") and not older.is_joined
    if is_past(older.tokens[older.verb_at]):
        return False
    return _allows(older, slot, is_order=is_order, is_marked=is_marked)


def _may_be_many(older: Assertion, slot: Slot) -> bool:
    """Whether one does such a thing in several places, with several people or for several reasons."""
    way = " ".join(slot.before[older.verb_at :])
    found = _MANY_WAYS.search(way)
    is_own = older.is_first and slot.older_sort == "word"
    return found is not None and (is_own or found["any"] is not None)


_MANY_WAYS: Final = re.compile(
    r"^(?:go to(?: the)?|goes to|study in(?: the)?|work for|(?P<any>live with|runs? on|(?:is|are) (?:sent to|written by|made of)))$"
)


def _are_one_sort(slot: Slot) -> bool:
    sorts = {slot.older_sort, slot.newer_sort}
    if sorts == {"number", "when"}:
        return bool(slot.before) and slot.before[-1] in ("at", "um", "à", "las", "alle", "om", "às", "closes", "opens")
    if sorts == {"number", "code"}:
        return True
    if "mixed" in sorts:
        return False
    if len(sorts) > 1:
        return sorts <= {"name", "code", "number"} and _has_one(slot)
    if sorts == {"state"}:
        return any(slot.older[0] in states and slot.newer[0] in states for states in STATES)
    return True


def _allows(older: Assertion, slot: Slot, *, is_order: bool, is_marked: bool) -> bool:
    verb, mid = older.tokens[older.verb_at], slot.before[older.verb_at + 1 :]
    if is_one_of_many(older) and not is_marked:
        return False
    if slot.before[-1] in _LIMITS and slot.older_sort in ("when", "number"):
        return is_order or verb in BE or not older.is_first
    if is_order:
        return _allows_order(verb, mid, slot)
    match slot.older_sort:
        case "when":
            return _allows_when(older, verb, mid, slot, is_marked=is_marked)
        case "number" | "code":
            return _allows_number(older, verb, mid, slot) or _has_one(slot)
        case "state":
            return verb in BE and not mid
        case _:
            return _allows_name(older, verb, mid, slot)


def is_one_of_many(older: Assertion) -> bool:
    """Whether a clause speaks of a relative, a friend or a pet without a name: there may be several."""
    before = older.tokens[: older.verb_at]
    if before[:1] == ("the",) or "best" in before or any(word[:1].isupper() for word in older.raw[1 : older.verb_at]):
        return False
    return any(
        word in MANY and (at + 1 == len(before) or before[at + 1] in ("'s", "of", "from", "at", "in", "with"))
        for at, word in enumerate(before)
    )


def _allows_order(verb: str, mid: Sequence[str], slot: Slot) -> bool:
    if verb == "call":
        return tuple(mid) == ("me",) and slot.older_sort == slot.newer_sort == "name"
    if verb in ("answer", "reply"):
        return mid[-1:] in (("in",), ["in"])
    return verb in ("use", "keep", "set", "launch", "make") and slot.older_sort in ("number", "code", "when")


def _allows_when(older: Assertion, verb: str, mid: Sequence[str], slot: Slot, *, is_marked: bool) -> bool:
    if verb in HAVE:
        return False
    if not HABITUAL.isdisjoint((*slot.older, *slot.newer)) and not is_marked:
        return False
    allowed = _PREPOSITIONS | _SCHEDULED | _LIMITS | WEEKDAYS | MONTHS | {"end", "beginning", "middle", "of"}
    if not allowed.issuperset(mid):
        return verb not in BE and older.is_first and is_marked
    if older.is_first:
        return is_marked or verb not in (*BE, *WORK)
    nouns = older.tokens[: older.verb_at]
    return is_marked or (OFTEN.isdisjoint(nouns) and (len(nouns) > 1 or slot.older[0] not in WEEKDAYS))


def _allows_number(older: Assertion, verb: str, mid: Sequence[str], slot: Slot) -> bool:
    mid = [word for word in mid if not is_adverb(word)]
    if verb in _TASTES:
        return False
    if verb in HAVE or verb in ("need", "needs"):
        if not mid:
            return bool(slot.after) or slot.older_sort == "code"
        return mid[-1] in _ATTRIBUTES and len(mid) <= 2  # noqa: PLR2004  (an article and the noun)
    if verb in ("take", "takes") and (older.is_first or not slot.after):
        return not mid and ("of" in slot.after or "de" in slot.after)
    if verb in ("run", "runs", "use", "uses", "läuft") and len(mid) == 1 and mid[0] not in _PREPOSITIONS:
        return older.raw[older.verb_at + 1][0].isupper() or all("." in value[0] for value in (slot.older, slot.newer))
    if verb in BE and older.is_first and mid and not LABELS.intersection(mid):
        return False
    if slot.older_sort == "code" and mid and not (LABELS | _ATTRIBUTES).intersection(mid) and verb in BE:
        return mid[-1] in ("at", "set", "to")
    return (_PREPOSITIONS | LABELS | _ATTRIBUTES | _SCHEDULED | _LIMITS | HAVE).issuperset(mid) or (
        bool(LABELS.intersection(mid[-1:])) and verb in BE
    )


def _allows_name(older: Assertion, verb: str, mid: Sequence[str], slot: Slot) -> bool:
    if verb in LIVE:
        return (len(mid) <= 1 and slot.older_sort == "name") or "在" in mid
    if verb in WORK:
        return len(mid) == 1 and mid[0] in ("at", "for", "bei", "chez", "en", "alla", "bij", "na")
    if _has_one(slot):
        return True
    before = " ".join(slot.before)
    if _BOUND.search(before):
        return True
    is_single = verb in BE and verb not in ("are", "sind", "sont", "son", "zijn", "são", "sono")
    is_placed = is_single and bool(_PLACED.match(" ".join(mid))) and bool(mid)
    return is_placed and slot.older_sort == "name" and not older.is_first


def _has_one(slot: Slot) -> bool:
    """Whether the subject is a noun of which there is one ("my dentist is"), or is named the favourite, the main one."""
    at = next((at for at, token in enumerate(slot.before) if token in BE), -1)
    nouns = slot.before[: max(at, 0)]
    if not nouns or not _ROLE_MID.issuperset(slot.before[at + 1 :]):
        return False
    end = next((at for at, noun in enumerate(nouns) if noun in _BEHIND_NOUN), len(nouns))
    nouns = nouns[:end]
    if not nouns or nouns[-1] in MANY:
        return False
    if {slot.older_sort, slot.newer_sort} & {"word", "state", "mixed"}:
        is_word = len(slot.older) == len(slot.newer) == 1 or not FAVOURITE.isdisjoint(nouns)
        return is_word and (nouns[-1] in ONE_WORDS or not FAVOURITE.isdisjoint(nouns))
    return nouns[-1] in ONE_NAMES | ONE_WORDS or not FAVOURITE.isdisjoint(nouns) or _has_contact(nouns)


_BEHIND_NOUN: Final = frozenset(("of", "for", "to", "at", "in", "on"))


def _has_contact(nouns: Sequence[str]) -> bool:
    """Whether it is the one noun of a place ("the contact at Acme")."""
    return len(nouns) > 2 and nouns[-2] in ("at", "in", "for") and nouns[-3] in ONE_NAMES  # noqa: PLR2004
