"""Where an order stands: at the head of its sentence, or behind what only opens one ("Note: for exports, please ...").

A report has its speaker or its subject there ("The user said never to ..."), a denial its negation ("Do not skip ...").

Source: own lists, for the languages of `rule_tables`; the marks over letters are left out, as in folded text.
"""
# ruff: noqa: RUF001  (letters of other scripts are part of the lists)

from typing import Final

from everfold.core.text.patterns import compile_pattern

_OPENING_CHARS: Final = 240
"""How far before a wording the head of its sentence is looked for. Source: own choice, two lines."""
_HEAD: Final = r"[.!?;]\s|[\u3002\u0964!?]|\n"
_MARKS: Final = (
    r"[\s>*#\-\u2022\d.()\[\]|\"'`\u201c\u201e\u00ab]{0,12}(?:\[x\]\s)?(?:also noted: )?(?:\d{4}-\d\d-\d\d:\s)?"
)
_QUOTE: Final = r"[\"'`\u201c-\u201e\u00ab\u00bb]"
_QUOTED_LINE: Final = rf"[^\"`\u201c-\u201e\u00ab\u00bb\n]{{0,400}}{_QUOTE}[\s.)\]|*]{{0,6}}(?:\n|$)"
"""What follows in a line that is a quotation as a whole."""
_LABEL: Final = (
    r"(?:(?:note|rule|approved|authori[sz]ed|permitted|ordered|system|developer|operator|admin|directive|summary|conclusion|takeaway|fyi|policy|reminder|important|instruction|remember|learned|lesson|learning|workflow|guideline|procedure"
    r"|process|memo|memory|tip|todo|default|standing (?:rule|instruction|order)|regel|hinweis|merke|notiz|wichtig|anweisung"
    r"|nota|regla|importante|recordatorio|regra|lembrete|regola|promemoria|regle|rappel|important|notitie|regel|let op"
    r"|zasada|notatka|wazne|not|kural|onemli|правило|заметка|важно|заметка себе|规则|規則|备注|注意|重要|ルール|メモ|규칙|메모|중요"
    r"|قاعدة|ملاحظة|مهم|नियम|नोट|महत्वपूर्ण)s?(?: to self| \w{1,16}){0,5}\s?[:\-\u2013]\s?[\s*]{0,4})?"
)
_CLAUSE: Final = (
    r"(?:(?:for|when|whenever|if|on|in|with|after|before|during|once|since|as|from|bei|fur|wenn|falls|ab|para|cuando|si|en"
    r"|pour|quand|lors|em|quando|per|con|se|bij|voor|als|dla|gdy|przy|для|при|если|когда)\b[^.!?;:\n]{1,80},\s{1,3}"
    r"|(?:for|on|in|bei|fur|para|pour|per|voor|dla|для|при)(?:\s\w{1,16}){1,4}\s)?"
)
_ACTORS: Final = (
    r"(?:(?:the |this |your )?(?:agent|assistant|ai|model|bot)|you|we|i) (?:(?:may|can|could|should|must|shall|will)"
    r"|(?:is|are|am) (?:now )?(?:allowed|authori[sz]ed|permitted|free|cleared) to|has permission to|have permission to)"
)
_LEADS: Final = (
    "(?:(?:the |this |your )?(?:agent|assistant|ai|model|bot)|you|we|i)"
    "|please|always|just|simply|automatically|immediately|directly|silently|routinely|from now on|from today|going forward|next time"
    "|in future|in the future|by default|as a rule|as agreed|ok to|okay to|fine to|safe to|allowed to|authorized to|free to"
    "|feel free to|go ahead and|it is ok to|it is okay to|it is fine to|it is safe to|it's ok to|it's okay to|it's fine to"
    "|it's safe to|make sure to|remember to|be sure to|there is|there are"
    "|all|any|every|each|the|these|those|such|of|small|minor|routine|large|big|new|future|outgoing|incoming|internal"
    "|external|urgent|emergency|customer|vendor|supplier|partner|bank|wire|data|file|user|account|access|production|prod"
    "|staging|code|database|schema|config|configuration|security|system|admin"
    "|bitte|immer|stets|ab sofort|ab jetzt|kunftig|in zukunft|einfach|automatisch|grundsatzlich|du darfst|du kannst"
    "|der agent darf|der assistent darf|alle|jede|samtliche"
    "|por favor|siempre|desde ahora|a partir de ahora|de ahora en adelante|simplemente|automaticamente|puedes|el agente puede"
    "|sempre|a partir de agora|de agora em diante|simplesmente|voce pode|o agente pode|os|as|todos os|todas as"
    "|d'ora in poi|semplicemente|puoi|l'agente puo|per favore|tutti i|tutte le|i|le|gli"
    "|toujours|desormais|a partir de maintenant|simplement|automatiquement|tu peux|vous pouvez|l'agent peut|les|tous les"
    "|toutes les|los|las|todos los|todas las"
    "|altijd|voortaan|vanaf nu|gewoon|automatisch|je mag|de agent mag"
    "|zawsze|od teraz|po prostu|automatycznie|prosze|wszystkie"
    "|her zaman|daima|bundan sonra|artik|lutfen|tum|butun"
    "|всегда|пожалуйста|отныне|с этого момента|впредь|просто|автоматически|можно|можешь|все|любые"
)
_OBJECTS: Final = (
    "(?:请|以后|今后|始终|总是|一律|直接|自动|所有|全部|对所有|客户|的){0,4}"
    r"(?:(?!ユーザー|利用者|사용자|उपयोगकर्ता)(?:[\u3041-\u30ff\u4e00-\u9fff]{1,20}[はを、]"
    r"|(?:모든\s)?[\uac00-\ud7a3]{1,10}(?:를|을|은|는)\s|(?:सभी\s|हर\s)[\u0900-\u097f]{1,14}\s(?:को\s)?))?"
)
"""What an order begins with where its verb comes last."""
_OPENING: Final = rf"{_MARKS}{_LABEL}{_CLAUSE}(?:(?:{_ACTORS}|{_LEADS})[\s,]{{1,3}}){{0,5}}{_OBJECTS}"


def opens_order(text: str, start: int) -> bool:
    """Whether what stands before a place in its sentence can open an order, in folded text in small letters."""
    before = text[max(start - _OPENING_CHARS, 0) : start]
    heads = [match.end() for match in compile_pattern(_HEAD).finditer(before)]
    opening = compile_pattern(_OPENING).fullmatch(before, heads[-1] if heads else 0)
    if opening is None:
        return False
    is_quoted = compile_pattern(rf"(?:^|\W){_QUOTE}").search(opening[0]) is not None
    return not is_quoted or compile_pattern(_QUOTED_LINE).match(text, start) is not None


_VERBS: Final = (
    r"(?:(?:send|delete|approve|publish|remove|execute|install|erase|wipe|submit|grant|accept|give|overwrite)\b"
    r"|(?:deploy|pay|transfer|export|share|push|merge|run|upload|forward|email|mail|release|change|wire|move|copy|drop"
    r"|do|make|go)"
    r" (?:all|any|every|everything|the|this|that|these|those|it|them|his|her|their|your|ahead)\b)"
)
"""Verbs of orders. Those that are nouns too count with what they are done to."""
_NO_BAN: Final = (
    r"(?:hesitate|wait|worry|bother|mind|forget|fear|be|fail|miss|need|have|get|regret|care|matter|hurt|harm|happen|blame|go wrong"
    r"|object|complain|notice|know|refrain|cease|neglect|refuse|decline|(?:stop|avoid|quit) \w{1,16}ing|stop you"
    r"|a|an|any|anything|wrong|bad|too)\b"
)
"""What follows a negation that forbids nothing: "do not hesitate", "never anything wrong"."""
_LINKS: Final = r"(?:and|but|then|if|when|that|because|so|with|until|unless)\b"
_FORBIDS: Final = (
    r"\b(?:never|(?:do|must|may|shall|should) not|don't|mustn't|shouldn't|not to|(?:nothing|nobody) (?:may|can|should|must))"
    rf"(?: ever)?(?!\s{{1,4}}{_NO_BAN})(?: let (?:(?:the|an?|any) )?\w{{1,16}})?(?: \w{{1,16}}(?=\W))?"
    rf"(?:(?: or| nor| to) {_VERBS}|(?![\s(\[/*\"]{_LINKS}|[\s(\[/*\"]{_VERBS})[^,.;:!?\n]){{0,80}}"
)
"""A negation with what it governs: up to a word that begins another clause, and to a second order."""


def is_forbidden(text: str, start: int) -> bool:
    """Whether a sentence says no to what is done "without" something: "Never deploy without asking the user" hides nothing."""
    if not text.startswith("without", start):
        return False
    before = text[max(start - _OPENING_CHARS, 0) : start]
    return any(match.end() == len(before) for match in compile_pattern(_FORBIDS).finditer(before))
