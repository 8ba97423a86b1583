"""The clauses of a statement, and what those without an end say of the end of the others.

"I am allergic to nuts, so no nuts in today's recipe": the day word stands in the clause of a consequence, and what the
statement itself says lasts. A statement ends when each clause that it states has an end, and the last of the ends counts.
A cut is made only where a clause stands on both sides; what cannot be told apart stays one.

Source: own rules; `docs/memory.md` gives the count of statements that they had not seen. Examples are tried in
`tests/unit/core/text/test_end_clauses.py`.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from everfold.core.text.patterns import compile_pattern

_LEAD: Final = (
    r"^(?:(?:please|bitte|hi|hello|hey|ok|okay|also|note|fyi|info|s'il te plaît|por favor|per favore|alsjeblieft)[,:]? )*"
    r"(?:(?:remember|keep in mind|don't forget|do not forget|merk dir|denk daran|notiere|retiens|souviens-toi|note|recuerda|anota|ricorda"
    r"|onthoud|lembra|запомни)(?: also| bitte)?(?: ?[:,])?(?: (?:that|dass|que|che|dat|что|to))?(?: ?:)? )?"
)
_SUBJECTS: Final = (
    r"i|i'm|i've|i'll|i'd|we|we're|we've|we'll|you|you're|he|he's|she|she's|it|it's|they|they're|there|there's|that's|what|how"
    r"|ich|wir|du|er|sie|ihr|es|was|wie|je|j'\w+|nous|tu|il|elle|ils|elles|vous|qu'\w+|qué|cómo|dónde|yo|nosotros|io|noi|ik|wij|hij|zij|ze"
    r"|eu|nós|я|мы|он|она|они|у меня|меня|мне|что|мой|моя"
)
_VERBS: Final = (
    r"(?:need|want|like|love|hate|prefer|use|call|book|come|leave|travel|work|stay|visit|meet|see|cook|eat|drink|take|arrive|start|present|give"
    r"|get|make|write|run|play|teach|drive|buy|pick|send|answer|reply|speak|live|keep|put|ask|show|tell|find|bring|avoid|skip|read|order"
    r"|check|sign|wear|plan|study|learn|help|feed|pay|sleep|wait|host|move|know)s?"
    r"|flies|fly|go|goes|am|is|are|isn't|aren't|has|have|haven't|do|does|don't|doesn't|can|can't|cannot|could|will|won't|would|should|must|let|let's"
    r"|never|always|only|no|not|bin|ist|sind|hat|habe|haben|kann|muss|will|wird|werde|brauche|nie|niemals|immer|kein\w*|nicht"
    r"|suis|est|sommes|sont|ai|ne|n'\w+|trouve|soy|estoy|está|están|tengo|tiene|vivo|vivimos|trabajo|voy|vamos|viajo|necesito|quiero|puedo|nunca|hay|\w{2,}amos|tenemos|hacemos|vivimos|salimos|\w{2,}iamo"
    r"|me llamo|sono|sto|ho|è|lavoro|vado|devo|posso|mai|niente|ben|zijn|ga|gaan|heb|heeft|moet|nooit|geen|zoek|é|sou|estou|tenho|moro|trabalho|preciso"
    r"|не|нет|allergic|allergisch|allergique|alérgic\w|allergic\w"
)
_DETERMINERS: Final = (
    r"my|our|your|his|her|their|the|a|an|mein\w*|unser\w*|der|die|das|ein|eine|mon|ma|mes|notre|le|la|les|mi|mis|el|los|las|mio|mia|il|lo|gli"
    r"|mijn|onze|de|het|meu|minha|o|os|as"
)
_SMALL: Final = frozenset(
    "and or but in on at to for of with by from until till this next that these the a an my our your his her their its it me us them him too also"
    " please here there hello hi hey dear thanks thank good ok okay as und oder im am um mit von bis für auf zu et ou de du des à au pour con y o e per di en van op tot met voor"
    " today tomorrow tonight heute morgen demain hoy oggi vandaag hoje monday tuesday wednesday thursday friday saturday sunday day week weekend"
    " month year january february march april may june july august september october november december".split()
)
_COORDINATING: Final = "and|und|et|y|e|ed|en|и|but|aber|mais|pero|ma|maar|mas|но|а|or|oder|ou"
_TIMES: Final = (
    r"today|tonight|tomorrow|heute|morgen|demain|aujourd'hui|hoy|mañana|oggi|domani|vandaag|hoje|amanhã|сегодня|завтра"
    r"|(?:this|next) (?:week|month|year|morning|afternoon|evening)|diese woche|cette semaine|esta semana|questa settimana|deze week"
)
_FILLERS: Final = rf"(?:(?:please|bitte|then|also|maybe|now|still|just|so|for|{_TIMES}|{_COORDINATING})[ ,]+){{0,4}}+¿?"
_CAUSES: Final = (
    r"so|therefore|hence|because|since|as|which is why|that is why|that's why|also|deshalb|daher|darum|weil|denn|da|donc|alors|parce que|car|así que"
    r"|por eso|porque|quindi|perciò|perché|dus|daarom|omdat|want|então|por isso|поэтому|потому что"
)
_SIDES: Final = (
    r"which|who|whom|whose|where|when|whenever|if|unless|while|although|though|whereas|wenn|falls|während|dass|damit|wo|qui|si|quand|cuando|cual"
    r"|quando|als|dat|который|которая|если|когда"
)
_MIDDLE: Final = (
    rf"(?:{_COORDINATING}|so|because|which|who|whom|whose|where|when|whenever|if|unless|while|weil|damit|qui|perché|parce que|porque|omdat|потому)\b"
    r"|that (?!week|day|evening|morning|afternoon|month|year|time|one|way)"
)
_NO_RELATIVE: Final = frozenset(
    "and but or so because which who whom where when whenever if unless while that until till as than what how can could do does did should would"
    " will must shall may might am are is was were have had today tomorrow tonight week weekend month year monday tuesday wednesday thursday"
    " friday saturday sunday january february march april june july august september october november december since then now please told tell tells ask asked show give send call let help remind".split()
)
"""Behind one of these a subject opens no relative clause."""
_ABBREVIATIONS: Final = frozenset(
    "dr mr ms mrs st nr jan feb mar apr jun jul aug sep sept oct okt nov dec dez einschl".split()
)
_MARKS: Final = (
    r"(?P<stop>[.…]+ |[!?;]+ )|(?P<comma> ?[,:] | [-\u2013\u2014] (?!\d|(?:jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec)))"
    rf"|(?P<middle> (?={_MIDDLE}))"
    r"|(?P<relative> (?=(?:(?:i|we|he|she|they)(?:'\w+)?"
    r"|you(?! (?:today|tomorrow|tonight|this|next|until|on|at|in|for|with|and|to|a|the|back|if|when)\b)) \w))"
)
"""A relative clause may follow a noun without a word between: "the adverts we write"."""
_OPENS: Final = (
    rf"^{_FILLERS}(?:(?P<subject>{_SUBJECTS})\b|(?P<verb>{_VERBS})(?!\w)|\w+ (?:ich|wir|er|sie|je|ik)\b"
    rf"|(?P<named>(?!this\b)[^\W\d]\w* (?:is|has|can|will|must|does|(?!(?:this|always|his|its|days|weeks|months|hours)\b)[^\W\d]\w+[^\Ws]s)\b))"
)
_DETERMINED: Final = rf"^{_FILLERS}(?:{_DETERMINERS})\b"
_HOLDS_CLAUSE: Final = rf"(?<!\w)(?:{_SUBJECTS}|{_VERBS})(?!\w)"
_STARTS_SIDE: Final = rf"^(?:{_SIDES}|that)\b(?! (?:week|day|month|year|time)\b)"
_STARTS_CAUSE: Final = rf"^(?:and |und |et )?(?:{_CAUSES})\b(?! (?:far|much|many|long|of|often)\b)"
_TELLS: Final = (
    r"(?:\b(?:said|says?|thinks?|thought|knows?|heard|mentioned|means?|sure|afraid|hopes?|guess|sees?|told \w+|tells \w+)"
    r"|^(?:i|we)(?:'ve| have)?(?: just)? (?:found|hired|booked|rented|borrowed) (?:a|an|the) \w+(?: \w+)?)$"
)
_NAMES: Final = r"\b(?:plan|rule|note|deal|reminder|remember|info|update|list)$"
"""What only leads to the clause behind it; the second sort does so before a colon."""
_TIMED: Final = rf"^(?:{_COORDINATING}) (?:{_TIMES}) \w+ \w+"
_ENGLISH: Final = r"\b(?:the|my|and|i'm|we're|are|for|don't|with|this|until|today|tomorrow|tonight)\b"
_KEEPS: Final = (
    r"\b(?:allerg\w*|alérg\w*|аллерг\w*|intoleran\w*|diabet\w*|vegan\w*|vegetari\w*|coeliac|celiac|never|always|only|name|password|passcode|code"
    r"|number|address|nie|niemals|immer|jamais|toujours|nunca|siempre|mai|sempre|nooit|altijd)\b"
)
"""What is told for good, also where it gives the reason for what ends."""
_PASSING: Final = (
    r"\b(?:(?:am|'m|are|'re|is|'s)(?: not| still| all)? (?:away|off|out|ill|sick|busy|tired|abroad|at home|on (?:leave|holiday|vacation|call|duty|the road)"
    r"|unavailable|(?:working|travell?ing|driving|practi[sc]ing|visiting|flying|having|expecting|feeling|resting|recovering)\b)|have (?:no (?:time|laptop|phone|car|network|reception|voice)|an? (?:exam|test|deadline|cold|flu|headache)|guests|visitors|company))\b"
)


_PHRASE_WORDS: Final = 2
"""A phrase has so many words of its own at most."""


class Clause(NamedTuple):
    """A clause of a statement, in lower case.

    Attributes:
        kind: "main" for what is stated; "cause" for its cause or consequence; "side" for what only tells apart or sets a condition.
        shares_subject: It is an order, or has the subject of the clause before it.
        is_inserted: A side clause between commas, behind which the main one goes on.
    """

    text: str
    kind: Literal["main", "cause", "side"] = "main"
    shares_subject: bool = False
    is_inserted: bool = False


def list_clauses(text: str) -> list[Clause]:
    """The clauses of a statement in lower case, in their order; without what merely leads to them ("Remember that")."""
    clauses: list[Clause] = []
    for mark_kind, mark, piece in _list_pieces(compile_pattern(_LEAD).sub("", text, count=1)):
        _add(clauses, mark_kind, mark, piece)
    return clauses


def is_covered(clause: Clause, *, follows_end: bool) -> bool:
    """Whether a main clause without an end keeps none of the others from ending: a lead, a passing state, what goes with it."""
    text = clause.text.strip(" ,.!?;:")
    if compile_pattern(_KEEPS).search(text):
        return False
    if compile_pattern(_TELLS).search(text) or compile_pattern(_PASSING).search(text):
        return True
    if not _holds_clause(text):
        return len(_list_content(text)) <= 1
    return follows_end and clause.shares_subject


def keeps(text: str) -> bool:
    """Whether a clause says something for good, whatever it is said beside."""
    return compile_pattern(_KEEPS).search(text) is not None


def _list_pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """The text between marks, each piece with the kind of mark before it and the mark itself."""
    kind, mark, start = "", "", 0
    for found in compile_pattern(_MARKS).finditer(text):
        if found.start() > start and _divides(text[start : found.start()], found):
            yield kind, mark, text[start : found.start()]
            kind, mark, start = found.lastgroup or "", found[0], found.end()
    yield kind, mark, text[start:]


def _divides(before: str, found: re.Match[str]) -> bool:
    """Whether a mark divides: a point of an abbreviation, or a subject behind its own conjunction, does not."""
    word = before.rpartition(" ")[2]
    if found.lastgroup == "relative":
        return word not in _NO_RELATIVE
    return (
        found.lastgroup != "stop"
        or found[0][0] != "."
        or not (len(word) == 1 or word[-1:].isdigit() or word in _ABBREVIATIONS)
    )


def _add(clauses: list[Clause], mark_kind: str, mark: str, piece: str) -> None:
    """Begin a clause with a piece, or lengthen the one that it belongs to."""
    opened = compile_pattern(_OPENS).match(piece)
    begins = opened is not None or _may_begin(mark_kind, piece)
    kind = _find_kind(mark_kind, piece, begins=begins)
    last = clauses[-1] if clauses else None
    if last is not None and _leads(last, mark) and (begins or piece.startswith("that ")):
        clauses[-1] = Clause(piece)
    elif last is None or kind != "main":
        clauses.append(Clause(piece, kind, is_inserted=mark_kind == "comma"))
    elif mark_kind == "relative" and _holds_clause(last.text):
        clauses.append(Clause(piece, "side"))
    elif (begins and (last.kind != "main" or _holds_clause(last.text))) or (mark_kind == "stop" and " " in last.text):
        clauses.append(Clause(piece, shares_subject=opened is not None and opened["verb"] is not None))
    else:
        _lengthen(clauses, mark_kind, mark + piece)


def _may_begin(mark_kind: str, piece: str) -> bool:
    """Whether a piece that begins with no known word may be a clause: by its first words, or by its length where few verbs are known."""
    if compile_pattern(_DETERMINED).match(piece):
        return _holds_clause(piece)
    if compile_pattern(_ENGLISH).search(piece) or mark_kind != "comma":
        return compile_pattern(_TIMED).match(piece) is not None
    return len(_list_content(piece)) > _PHRASE_WORDS


def _leads(clause: Clause, mark: str) -> bool:
    pattern = _NAMES if ":" in mark else _TELLS
    return "." not in mark and compile_pattern(pattern).search(clause.text) is not None


def _find_kind(mark_kind: str, piece: str, *, begins: bool) -> Literal["main", "cause", "side"]:
    if compile_pattern(_STARTS_SIDE).match(piece):
        return "side"
    if compile_pattern(_STARTS_CAUSE).match(piece) and (begins or mark_kind in {"comma", "stop", ""}):
        return "cause"
    return "main"


def _lengthen(clauses: list[Clause], mark_kind: str, more: str) -> None:
    at = len(clauses) - 1
    if mark_kind == "comma" and clauses[at].is_inserted:
        at = max((place for place, one in enumerate(clauses) if one.kind == "main"), default=at)
    clauses[at] = clauses[at]._replace(text=clauses[at].text + more)


def _holds_clause(text: str) -> bool:
    """Whether a piece is more than a phrase: it has a verb or a subject that is known, or a subject with a word behind it."""
    if compile_pattern(_HOLDS_CLAUSE).search(text):
        return True
    head = text.partition(",")[0]
    return len(_list_content(head)) > (1 if compile_pattern(_DETERMINED).match(head) else _PHRASE_WORDS + 1)


def _list_content(text: str) -> list[str]:
    return [word for word in compile_pattern(r"[^\W\d_]+").findall(text) if word not in _SMALL]
