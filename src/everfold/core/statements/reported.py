"""Reported words: what the writer of a text says that another person said, wrote or sent.

A report is a clause that names who speaks ("My boss wrote:", "The page says"), or that hands over a text ("Summarise
this mail:"). What the writer reports of himself stays his own. Behind a report a quotation reaches to its closing mark,
words on the same line to the end of the line, and what begins on a line of its own to the end of the text.

Only the clauses before a colon and before a quotation are looked at, and the lines that ask for something; their words
are looked up in tables, so the cost is that of finding the marks.

Source: own grammar of eleven languages, tuned on tests/data/others_words.jsonl.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from everfold.core.statements.quotations import Quotation, is_own_quote, is_title
from everfold.core.statements.reply_heads import blank_address, is_dated_head
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.segments import Span
from everfold.core.statements.work_requests import (
    POINTING,
    POINTING_STEMS,
    TEXTS,
    asks_for_work,
    asks_to_translate,
    gives_text,
)

_CLAUSE_CHARS: Final = 160
_COLON: Final = re.compile(r"(?<!\d)[:\uff1a](?!//)|[:\uff1a](?![/\d])")
_list_words: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?").findall
_ASIDE: Final = re.compile(r"\([^()]*\)")
_BOUNDS: Final = ".!?;:\n\u3002\uff01\uff1f\uff1a"

_SAYING: Final = list_word_set(
    "said says wrote writes told tells replied replies answered answers responded responds texted messaged emailed e-mailed mailed"
    " posted commented tweeted stated states claimed claims insists insisted demanded demands shouted warned warns reads announced asked asks"
    " printed prints returned returns showed shows displayed displays logged goes"
    " sagte sagt gesagt schrieb schreibt geschrieben meinte meint gemeint antwortete antwortet geantwortet steht heißt"
    " écrit répond répondu dijo dice dicho escribió escribe escrito respondió respondido pone detto scritto risposto scrive disse diz"
    " escreveu escreve respondeu dito zei zegt gezegd schreef schrijft geschreven antwoordde staat"
    " сказал сказала сказано говорит написал написала написано пишет ответил ответила powiedział powiedziała napisał napisała mówi pisze"
    " säger skrev skriver"
)
_URGING: Final = list_word_set(
    "argued argues begged begs complained complains emphasizes emphasises mentions recommends reminded reminds suggests whispered whispers"
    " advised advises instructed instructs urged urges proposes explained explains adds confirms declares"
)
"""Verbs of persons only."""
_PROPOSING: Final = list_word_set(
    "added emphasized emphasised mentioned noted ordered quoted recommended reported requested suggested proposed confirmed declared"
)
"""Verbs that things have behind them too, "Rule added: ..." and "Format requested: ...": they count behind words for persons,
and behind one word alone that is no thing: "Anna suggested: ..."."""
_THINGS: Final = list_word_set(
    "rule format change note request setting allergy address limit thing price option feature fix style language tone budget deadline size topic"
    " one item approach method solution constraint condition requirement preference exception point time date place route plan step task update"
    " correction detail info information deal goal design colour color name number value amount order booking appointment reminder test bug issue"
    " problem section page file line word phrase title field column key flag parameter policy answer reply question idea issue choice version"
)
_PERSONS: Final = list_word_set(
    "he she they who somebody someone everybody everyone nobody boss mum mom mother father dad parents wife husband partner spouse doctor dentist"
    " customer client manager colleague coworker teacher landlord landlady lawyer friend sister brother cousin neighbour neighbor ceo cto cfo"
    " director supplier vendor bank company support police therapist trainer coach recruiter professor boyfriend girlfriend son daughter uncle"
    " aunt grandma grandpa grandmother grandfather roommate flatmate accountant plumber nurse judge mayor president secretary assistant intern"
    " reviewer editor author caller guest stranger officer agent speaker pastor priest pharmacist"
)
_AUXILIARY: Final = list_word_set("has had have just also then again once already later")
_FRENCH_SAYING: Final = "dit"
_FRENCH_BEFORE: Final = list_word_set(
    "il elle on a ont ils elles ai m'a nous lui me chef texte page affiche qui patron client"
)
"""Words before "dit" that make it French; in Dutch it is "this"."""
_SELF: Final = list_word_set("i i've we we've ich wir je j'ai nous yo nosotros io noi eu nós ik wij я мы ja jag vi")
_NO_SUBJECT: Final = list_word_set(
    "that as being having so already easier enough here there without wie comme como come zoals как"
)
_TOLD: Final = list_word_set("told asked warned texted")
_BEING: Final = list_word_set("was were am are is be got been being")
_INVERTED: Final = list_word_set("schrieb sagte meinte schreef zei skrev escribió écrit написал написала")
"""Verbs that may stand before who says it, where a date begins the clause."""
_TIME: Final = re.compile(r"(?<=\d):(?=\d)")
_SELF_REACH: Final = 4
_SAYING_REACH: Final = 9
"""How many words may stand between who reports and the verb, and between the verb and what is reported."""
_PRESENTING: Final = list_word_set("here here's below attached hier voici voilà aquí aqui ecco вот segue")
_RECEIVING: Final = list_word_set(
    "got received found saw copied pasted sent forwarded gave showed texted mailed emailed came arrived bekommen erhalten reçu envoyé recibí llegó"
    " mandaron enviaron ricevuto mandato inviato recebi kreeg ontving пришло прислали"
)
_OF: Final = list_word_set("from by von di van от")
_THEIR: Final = list_word_set("his her their its")
_BE: Final = list_word_set("was is were are went")
_TAKEN: Final = list_word_set("copied taken pasted quoted cited excerpted straight")
_QUOTING: Final = list_word_set("quote quotation zitat citation cita citazione citação citaat цитата")
_ACCORDING: Final = list_word_set("laut selon según segundo secondo volgens согласно")
_MINE: Final = list_word_set(
    "my our mein meine meinen unser unsere mon ma mes nos mi mis nuestra nuestras mio mia miei meu minha mijn"
)
_RULES: Final = list_word_set(
    "rule rules preference preferences wish wishes plan note notes answer regel regeln règle règles regla reglas regola regole"
)
_states_laws: Final = re.compile(
    r"(?:(?:these|those|here) are )?(?:their|his|her)(?: \w+){0,2} (?:rules?|polic(?:y|ies)|guidelines|conventions|instructions|terms)"
    r"(?: (?:is|are|was|were))?|(?:their|his|her)(?: \w+)? (?:docs|rules|policies|guidelines|conventions|instructions|terms|notes) say"
    r"|the(?: \w+)? (?:docs|pages|manuals|websites) say"
).fullmatch
"""A clause that only names what others lay down. With more ("Follow their rules:") it is the writer who does, and "the
rules" are those of his own team as often."""
_DAYS: Final = (
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Now|Today|Tomorrow|Easter|Christmas)\b"
)
_NO_NAMES: Final = (
    r"(?:Home|Work|Here|School|Experience|Scratch|Above|Below|Memory|There|Then|Next|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Berlin|London|Paris"
    r"|Rome|Madrid|Vienna|Munich|Hamburg|Oslo|Dublin|Amsterdam|Boston|Chicago|Tokyo|Priority|Category|Topic|Train|Bus|Car|Plane|Bike|Boat|Date|Name|Size"
    r"|Team|Week|Day|Year|Month|Person|Type|Area|Status|Default|Hand|Phone|Email|Mail|Design|Request|Law|Hour|Owner|Project|Room|Country|City|Age)\b"
)
"""Words with a capital that are no people: "From Work: ...", "(by Priority)"."""
_NAME: Final = rf"(?!{_DAYS}|{_NO_NAMES})[A-Z][a-z]{{2,20}}"
_names_sender: Final = re.compile(rf"[\s>*#\-]*From {_NAME}(?: {_NAME})?[\s*]*").fullmatch
_names_text: Final = re.compile(
    r"[\s>*#\-]*(?:(?:customer|client|guest|buyer)(?:'s)? (?:review|comment|complaint|feedback)"
    r"|(?:tool|console|terminal|shell|compiler) (?:output|result)|voicemail)[\s*]*",
    re.IGNORECASE,
).fullmatch
"""Labels in the singular before a text of others; in the plural they begin a rule about such texts."""
_TITLED: Final = re.compile(
    rf"^[ \t]*(?:#{{1,6}} [^\n]{{0,80}}\((?:by|par) {_NAME}(?: {_NAME})?\)"
    r"|\[(?i:(?P<text>(?:file|document|attached|attachment|pasted|datei)(?: ?:| )[^\]\n]{1,70}\.(?:md|txt|eml|pdf|docx?|html?|csv|rtf|odt|msg))"
    r"|(?:file|document|pasted|datei)(?: ?:| )[^\]\n]{1,80})\])[ \t]*$",
    re.MULTILINE,
)
"""A heading with an author, or the name of a file in brackets; `text` where it is one of prose."""
_OWN_END: Final = re.compile(r"\n\n[ \t]*(?:also|and|please|but|i)\b", re.IGNORECASE)
"""How the writer goes on in a paragraph below what others lay down."""
_WIDE_REPORT: Final = re.compile(
    r"(?P<who>[^。！？：:\n,，、]{1,24}?)(?:说|說|写道|寫道|表示|回复|回覆|告诉我|告訴我|曰|は言いました|が言いました|は言った|が言った|によると|は書きました|からのメール"  # noqa: RUF001
    r"|말했다|말했어요|말했습니다|썼다|라고)(?P<mark>[:：])"  # noqa: RUF001
)
_WIDE_SELF: Final = re.compile("^[\\s]*(?:我们?|私|僕|나|저|내가|제가)")
_WIDE_HANDED: Final = re.compile(
    r"(?:总结|總結|概括|翻译|翻譯|解释|解釋|校对|分析|这是[^。\n]{0,16}(?:邮件|信|文章|合同|消息)|以下是|要約|翻訳|訳して|校正|説明して|次の(?:文|メール|記事)"
    r"|요약|번역|설명|다음 (?:글|메일|문장))[^。！？：:\n]{0,24}(?P<mark>[:：])"  # noqa: RUF001
)
_GREETING: Final = re.compile(
    r"\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|hallo|liebe\w*|sehr geehrte\w*|guten|bonjour|cher|chère|madame|monsieur|hola|estimad\w+|querid\w+"
    r"|buenos|buenas|ciao|gentile|egregi\w+|caro|cara|olá|prezad\w+|beste|geachte|здравствуйте|уважаем\w+|привет|szanown\w+|您好|你好|拝啓|안녕)(?!\w)",
    re.IGNORECASE,
)
_LIST_ITEM: Final = re.compile(r"[ \t]*(?:[-*\u2022+]|\d{1,2}[.)])[ \t]")
_RETURN: Final = re.compile(
    r"[^\S\n]*(?:(?:but|so|anyway|however|well|still|aber|also|mais|pero|ma|mas|maar|но),? (?:i|we|ich|wir|je|yo|io|eu|ik|я)\b|personally|as for me|for my part"
    r"|i (?:disagree|don't agree|do not agree|told (?:him|her|them)|answered|replied)|my (?:own )?(?:view|opinion|answer|preference)|ich (?:sehe das|finde|dagegen))",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(
    r"[.!?\u3002\uff01\uff1f]+[\"'\u201d)]*(?:[ \t]+|$)|[\u3002\uff01\uff1f]", re.MULTILINE
)
_ends_line: Final = re.compile(r"[^\S\n]*(?:\n|\Z)").match
_SHORT_WORDS: Final = 3
"""Who reports so few words ("Anna said: yes.") goes on in his own; a text to work on may begin so ("Hi all.")."""
_POINTING_ON: Final = list_word_set(
    "following below folgenden folgende suivant suivante siguiente seguinte seguente volgende"
)
_LEAST_HANDED_CHARS: Final = 400
_LEAST_HANDED_LINES: Final = 3
"""From this length on a text below a request that does not end in a colon is what was handed over."""
_WHOLE_SENTENCE: Final = re.compile("[.!?\u3002\uff01\uff1f](?:\\s|\\W*$)")
_CLAUSE_BEGIN: Final = re.compile(r"(?:^|[.!?:\uff1a\u3002\uff01\uff1f\n])[ \t]*$")


class _Stops(NamedTuple):
    """Where in a text sentences end, and behind which of them the writer goes on in his own words; both rise."""

    ends: list[int]
    returns: list[int]


def list_reported(text: str, quotations: Sequence[Quotation], marked: Sequence[Span]) -> Iterator[Span]:
    """The spans of a text that its writer reports of others, or hands over, in no order.

    Args:
        text: What is read.
        quotations: What `list_quotations` gives for it.
        marked: The spans that are told by marks; what is handed over and marked ends where the marks do.
    """
    yield from _list_colons(text, quotations, marked)
    for at in (*_list_requests(text), *_list_titles(text)):
        yield _measure_block(text, at, quotations, marked)
    yield from _list_cited(text, quotations)


def _list_colons(text: str, quotations: Sequence[Quotation], marked: Sequence[Span]) -> Iterator[Span]:
    """What the reports that end in a colon report. A colon on a line that is reported already adds nothing to it."""
    stops: _Stops | None = None
    covered = 0
    for mark in _COLON.finditer(text):
        at = mark.end()
        if at < covered and (covered == len(text) or not _ends_line(text, at)):
            continue
        words = _read_clause(text, mark.start())
        if reports(words) or hands_over(words) or _heads_other(text, mark.start()):
            stops = stops or _list_stops(text)
            short = 0 if gives_text(words) else _SHORT_WORDS
            span = _measure_report(text, at, quotations, marked, stops, short_words=short)
            span = _leave_own_end(text, span) if _states_laws(" ".join(words)) else span
            if span[0] == at and _find_at(at, quotations) is None:  # behind a quotation the line goes on
                covered = max(covered, span[1])
            yield span
    if not text.isascii():
        for at in _list_wide_marks(text):
            stops = stops or _list_stops(text)
            yield _measure_report(text, at, quotations, marked, stops)


def _list_wide_marks(text: str) -> Iterator[int]:
    """Where each report in a script without blanks between words ends in a colon."""
    yield from (found.end() for found in _WIDE_REPORT.finditer(text) if not _WIDE_SELF.match(found["who"]))
    yield from (found.end() for found in _WIDE_HANDED.finditer(text))


def _read_clause(text: str, end: int) -> list[str]:
    """The words of the clause that ends at a place, in lower case; what it says in brackets is left out."""
    return _split_clause(text[max(end - _CLAUSE_CHARS, 0) : end])


def _split_clause(clause: str) -> list[str]:
    clause = _TIME.sub(" ", clause) if ":" in clause else clause
    clause = _ASIDE.sub(" ", clause) if ")" in clause else clause
    bound = max(map(clause.rfind, _BOUNDS))
    return [word.replace("\u2019", "'") for word in _list_words(clause[bound + 1 :].lower())]


def _heads_other(text: str, end: int) -> bool:
    """Whether a colon at a place ends a line's label that names who speaks, or a kind of text that others write."""
    line = text[max(end - _CLAUSE_CHARS, 0) : end].rpartition("\n")[2]
    return _names_sender(line) is not None or _names_text(line) is not None or _heads_reply(text, end)


def _heads_reply(text: str, end: int) -> bool:
    """Whether a colon at a place ends the head of a reply: an address, and a date with the time or a verb before its name.

    Behind a date with the time and no verb, the line has to end with the colon.
    """
    clause = text[max(end - _CLAUSE_CHARS, 0) : end]
    if ">" not in clause or "@" not in clause:
        return False
    line = blank_address(clause)
    if not _SELF.isdisjoint(_list_words(line.lower())):
        return False
    words = _split_clause(line)
    return (_ends_line(text, end + 1) is not None and is_dated_head(line)) or (
        not _INVERTED.isdisjoint(words) and reports(words)
    )


def reports(words: Sequence[str]) -> bool:
    """Whether a clause, given by its words, names another person who says what follows."""
    return any(
        _says(words, at)
        and len(words) - at <= _SAYING_REACH
        and _is_another(words[max(at - _SELF_REACH, 0) : at], word, words[at + 1 :])
        for at, word in enumerate(words)
    )


def _says(words: Sequence[str], at: int) -> bool:
    """Whether a word of a clause is a verb of saying."""
    word = words[at]
    if word in _URGING or word in _PROPOSING:
        return _ends_in_person(words[:at], is_named=word in _PROPOSING)
    return word in _SAYING or (word == _FRENCH_SAYING and at > 0 and words[at - 1] in _FRENCH_BEFORE)


def _ends_in_person(before: Sequence[str], *, is_named: bool) -> bool:
    """Whether a person stands last in some words, verbs beside it left out: a word for one, or any that is no plural."""
    said = [word for word in before if word not in _AUXILIARY]
    if is_named and said:
        return said[-1] in _PERSONS or (len(said) == 1 and said[0] not in _THINGS and not said[0].endswith(("ly", "s")))
    return bool(said) and said[-1] not in _BEING and not (said[-1].endswith("s") and not said[-1].endswith("ss"))


def _is_another(before: Sequence[str], verb: str, after: Sequence[str]) -> bool:
    """Whether the words beside a verb of saying name another person than the writer; he may say what he was told."""
    if not before:
        return verb in _INVERTED and bool(after) and _SELF.isdisjoint(after[:1])
    if verb in _TOLD and not _BEING.isdisjoint(before):
        return True
    return before[-1] not in _NO_SUBJECT and _SELF.isdisjoint(before)


def hands_over(words: Sequence[str]) -> bool:
    """Whether a clause, given by its words, gives a text of another author to work on or to look at."""
    held = frozenset(words)
    if not held or not (held.isdisjoint(_MINE) or held.isdisjoint(_RULES)):
        return False
    return (
        asks_for_work(words)
        or asks_to_translate(words)
        or _follows(words, _PRESENTING, TEXTS)
        or ("this" in held and "is" in held and _follows(words, _BE, TEXTS))
        or ("out" not in held and _follows(words, _RECEIVING, TEXTS | POINTING))
        or _stands_before(words, TEXTS, _OF)
        or _stands_before(words, _THEIR, TEXTS)
        or any(word.endswith("'s") and after in TEXTS for word, after in pairwise(words))
        or (held.isdisjoint(_MINE) and _stands_before(words, TEXTS, _BE))
        or _stands_before(words, _TAKEN, frozenset(("from",)))
        or not held.isdisjoint(_ACCORDING)
        or _stands_before(words, frozenset(("according", "per")), frozenset(("to", "the")))
        or _states_laws(" ".join(words)) is not None
        or words[-1] in _QUOTING
        or words[0] in _QUOTING
    )


def only_hands_over(text: str, following: str) -> bool:
    """Whether a short text is one request for work on the text behind it, and nothing else.

    It says that the text follows, or what follows looks like one that was handed over.
    """
    clause = text.strip().rstrip(".:!?\u3002\uff1a")
    words = _list_words(clause.lower())
    if len(clause) > _CLAUSE_CHARS or any(map(clause.__contains__, ".!?;:\n")) or not hands_over(words):
        return False
    return not _POINTING_ON.isdisjoint(words) or _is_handed(following)


def _follows(words: Sequence[str], first: frozenset[str], then: frozenset[str]) -> bool:
    """Whether a word of the second set stands somewhere behind one of the first."""
    at = next((at for at, word in enumerate(words) if word in first), len(words))
    return any(word in then or word.startswith(POINTING_STEMS) for word in words[at + 1 :])


def _stands_before(words: Sequence[str], first: frozenset[str], then: frozenset[str]) -> bool:
    """Whether a word of the second set stands directly behind one of the first."""
    return any(word in first and after in then for word, after in pairwise(words))


def _list_requests(text: str) -> Iterator[int]:
    """Where lines end that ask for work on what stands below them, in whole sentences."""
    at = text.find("\n")
    while at >= 0:
        line = text[text.rfind("\n", 0, at) + 1 : at][-_CLAUSE_CHARS:]
        if any(asks_for_work(_list_words(part.lower())) for part in _SENTENCE_END.split(line)[:-1] if part) and (
            _is_handed(text[at:])
        ):
            yield at
            return
        at = text.find("\n", at + 1)


def _list_titles(text: str) -> Iterator[int]:
    """Where headings with an author and names of texts end, and names of other files above a text that looks handed over."""
    for title in _TITLED.finditer(text):
        if title["text"] or title[0].lstrip().startswith("#") or _is_handed(text[title.end() :]):
            yield title.end()


def _list_stops(text: str) -> _Stops:
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return _Stops(ends, [at for at in ends if _RETURN.match(text, at)])


def _measure_report(
    text: str,
    start: int,
    quotations: Sequence[Quotation],
    marked: Sequence[Span],
    stops: _Stops,
    short_words: int = _SHORT_WORDS,
) -> Span:
    """What a report that ends at a place reports: a quotation, the rest of the line, or all that follows.

    Behind a first sentence of at most `short_words` words the writer goes on in his own.
    """
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if not text[start:end].strip():
        return _measure_block(text, end, quotations, marked)
    at = start + len(text[start:end]) - len(text[start:end].lstrip())
    quoted = _find_at(at, quotations)
    return quoted or (start, _find_return(text, start, end, stops, short_words))


def _measure_block(text: str, start: int, quotations: Sequence[Quotation], marked: Sequence[Span]) -> Span:
    """What stands below a report: what is marked there, or all of the text."""
    at = start + len(text[start:]) - len(text[start:].lstrip())
    line = text.rfind("\n", 0, at) + 1
    for low, high in marked:
        if line <= low <= at:
            return start, high
    return _find_at(at, quotations) or (start, len(text))


def _leave_own_end(text: str, span: Span) -> Span:
    """A span that reaches to the end of a text, without a last paragraph in which its writer goes on."""
    start, end = span
    gap = text.rfind("\n\n", start, len(text.rstrip()))
    return (start, gap) if end == len(text) and gap >= 0 and _OWN_END.match(text, gap) else span


def _find_at(at: int, quotations: Sequence[Quotation]) -> Span | None:
    return next(((one.start, one.end) for one in quotations if one.start == at), None)


def _find_return(text: str, start: int, end: int, stops: _Stops, short_words: int) -> int:
    """Where on a line who reports goes on in his own words; its end where he does not."""
    first = _find_next(stops.ends, start)
    if first is None or first > end:
        return end
    if len(text[start:first].split()) <= short_words:
        return first
    return min(_find_next(stops.returns, start) or end, end)


def _find_next(places: Sequence[int], start: int) -> int | None:
    """The first of rising places behind another."""
    at = bisect_right(places, start)
    return places[at] if at < len(places) else None


def _is_handed(rest: str) -> bool:
    lines = [line for line in rest.splitlines() if line.strip()]
    if not lines or _LIST_ITEM.match(lines[0]):
        return False
    return len(rest) >= _LEAST_HANDED_CHARS or len(lines) >= _LEAST_HANDED_LINES or _GREETING.match(rest) is not None


def _list_cited(text: str, quotations: Sequence[Quotation]) -> Iterator[Span]:
    """Quotations that another person is named for, or that are clauses or sentences of their own.

    Not those in which the writer quotes himself.
    """
    for one in quotations:
        before = text[max(one.start - _CLAUSE_CHARS, 0) : one.start]
        has_stop = _WHOLE_SENTENCE.search(text, one.start, one.end) and not is_title(text, one)
        is_whole = _CLAUSE_BEGIN.search(before) or has_stop
        if reports(_read_clause(text, one.start)) or (one.is_closed and is_whole and not is_own_quote(text, one)):
            yield one.start, one.end
