"""The words by which a statement says itself that it takes the place of an older one, as rows, by language.

A new wording is one row with an example; `tests/unit/core/statements/test_change_marks.py` tries each. How the marks are
used stands in `replacement`.

Source: own grammar, tuned on `tests/data/supersession/own.jsonl` only.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

from typing import Final, Literal, NamedTuple

MarkKind = Literal["corrects", "now", "instead", "rejects", "ends", "moves", "shifts", "switches"]
"""What a mark says.

- corrects: what was said before was wrong, without naming it.
- now: it is so from now on; the weakest mark.
- instead: it is so and something else is not, without naming it.
- rejects: the group `old` is not so, or not so any more.
- ends: its whole clause says what is not so any more.
- moves: the group `subject` has another day, place or value from now on, the group `new`.
- shifts: something is another than it was; a clause beside it says what.
- switches: as `rejects`, where `old` was used, worked or lived with.
"""


class ChangeMark(NamedTuple):
    """One row: where the pattern is found in a lower-cased sentence, it has the mark. Contractions are written out."""

    language: str
    kind: MarkKind
    pattern: str
    example: str


_V: Final = r"(?P<old>[^,;!?。，]+?)"
_END: Final = r"(?= but |[,;!?]|\.(?:\s|$)|$)"
_TO: Final = r"(?: (?:up|down|over|back|forward))?(?: from (?P<old>[^,;!?]+?))? (?:to|until) (?P<new>[^,;!?]+)"
_SHIFTED: Final = (
    r"(?:moved|postponed|rescheduled|changed|extended|raised|lowered|renamed|relocated|migrated|upgraded|delayed|pushed back|pushed|"
    r"brought forward|shifted|shortened|increased|reduced|put off|updated|reassigned|transferred|switched|lifted|scaled|reset|shrunk|put back|put forward)"
)

MARKS: Final[tuple[ChangeMark, ...]] = (
    ChangeMark(
        "English",
        "corrects",
        r"^(?:no,? |oh,? |sorry,? )*(?:correction|typo|update|wrong|oops|my mistake|change of plans?)\b[:,!]?",
        "Correction: the code is 8822.",
    ),
    ChangeMark(
        "English",
        "corrects",
        r"\b(?:(?:sorry,? )?i meant(?: that)?|(?:no,? )?scratch that,?|forget (?:what|that) i said(?: [a-z]+)?,?|i was (?:wrong|mistaken)[:,]?|i (?:got|had) (?:it|that) wrong(?: before)?|i mis(?:read|spoke|typed|remembered)(?: it| that)?[:,]?"
        r"|(?:i have |i )?changed my mind[:,]?|make (?:it|that)\b[: ]|on second thoughts?,?|as i said|no,? wait,?|it turn(?:s|ed) out(?: that)?|turns out(?: that)?|i misspoke[:,]?|not what i said(?: [a-z]+)?|^(?:that|this|it)(?: has)?(?: just| since)? changed[:,;])",
        "I meant that the code is 8822.",
    ),
    ChangeMark(
        "English",
        "now",
        r"\b(?:actually|right now|now|from now on|these days|currently|as of (?:today|now|this (?:week|month))|(?:from|since) (?:today|tomorrow)|effective immediately)\b,?",
        "My code is now 8822.",
    ),
    ChangeMark("English", "instead", r"\binstead(?! of)\b,?", "My code is 8822 instead."),
    ChangeMark(
        "English", "rejects", rf"\b(?:instead of|rather than|in place of) {_V}{_END}", "Use port 9090 instead of 8080."
    ),
    ChangeMark("English", "rejects", r"\bnot (?P<old>[^,;!?]+?),? but (?:rather )?", "The code is not 4711 but 8822."),
    ChangeMark(
        "English", "rejects", rf"[,;:] ?(?:and )?(?:it is |that is )?not {_V}{_END}", "The code is 8822, not 4711."
    ),
    ChangeMark(
        "English",
        "rejects",
        rf"\bi (?:said|told you|wrote)(?: that)? {_V}(?:[,;]| but| earlier| before)",
        "I said red, but my favourite colour is blue.",
    ),
    ChangeMark(
        "English",
        "rejects",
        r"\bit was (?P<old>[^,;!?]+?) (?:before|until now)\b",
        "It was 4711 before, now it is 8822.",
    ),
    ChangeMark(
        "English",
        "rejects",
        r"\b(?:is|are|am|does|do) not (?P<old>[^,;!?]+?)[,;.] (?:it|they|he|she|that|we|i) (?:is|are|am|do|does)\b",
        "It is not on level 3, it is on level 1.",
    ),
    ChangeMark(
        "English",
        "rejects",
        rf"\b(?:do not use|stop using|used to be|ignore|disregard|forget(?: about)?|is wrong:?) {_V}{_END}",
        "Stop using port 8080.",
    ),
    ChangeMark("English", "rejects", rf"\bno longer {_V}{_END}", "Our vet is Dr. Moor, no longer Dr. Klein."),
    ChangeMark(
        "English",
        "ends",
        r"\bno longer\b|\bnot\b.*\b(?:any ?more|any longer)\b|\b(?:stopped|quit|gave up|given up|ceased)\b",
        "I no longer live in Graz.",
    ),
    ChangeMark(
        "English",
        "ends",
        r"\b(?:is|are|was|were|has been|have been|got) (?:cancell?ed|called off)\b",
        "The Rome trip is cancelled.",
    ),
    ChangeMark(
        "English",
        "moves",
        rf"(?P<subject>[^,;:!?]+?) (?:has |have |had |was |were |is |are |been |got |just |being |will be )*{_SHIFTED}{_TO}",
        "The meeting has been moved to Thursday.",
    ),
    ChangeMark(
        "English",
        "moves",
        rf"(?:they|we|i|he|she)(?: have| has)?(?: just)? {_SHIFTED} (?P<subject>(?:the|my|our|his|her|their) [^,;:!?]+?){_TO}",
        "They moved the interview to 9 May.",
    ),
    ChangeMark(
        "English",
        "switches",
        r"\b(?:switched|moved|migrated|changed|went|transferred|converted|renamed)\b[^,;!?]*? from (?P<old>[^,;!?]+?) to\b",
        "I switched from sales to support.",
    ),
    ChangeMark(
        "English",
        "switches",
        rf"\b(?:replaced|left|dropped|swapped) {_V}(?= with\b| by\b| for\b|[,;!?.]|$)",
        "We replaced Ansible with Terraform.",
    ),
    ChangeMark(
        "English",
        "corrects",
        r"\b(?:strike that|disregard (?:that|what i said)|ignore (?:that|what i said)|missed that(?: one)?|please note|my bad|let me correct (?:that|myself)|i need to correct (?:that|myself)|i stand corrected|i had that wrong|i was off|i mixed (?:it|that|them) up|i gave you the wrong [a-z]+)\b[:,.;]?",
        "Strike that, the code is 8822.",
    ),
    ChangeMark(
        "English",
        "now",
        r"\b(?:after all|in fact|by now|meanwhile|lately|recently|since (?:then|last|yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?: [a-z]+)?|as of \w+|starting (?:today|this|next|from)\b|(?:has|have) become|became|going forward|nowadays|this time)\b,?",
        "The vet is Dr. Moor after all.",
    ),
    ChangeMark(
        "English",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:has |have |had |was |were |is |are |been |got |gets |just |now |being |will be )*(?:bumped(?: up| down)?|dropped|rose|went up|gone up|went down|gone down|came down|climbed|fell|grew|rebooked|slipped|swapped|promoted|downgraded|halved|doubled)(?: from (?P<old>[^,;!?]+?))? (?:to|for|on to|over to) (?P<new>[^,;!?]+)",
        "The rent went up to 950 euros.",
    ),
    ChangeMark(
        "English",
        "shifts",
        r"\b(?:ha(?:s|ve) (?:been )?|was |were |is |are |got |just )(?:changed|delayed|postponed|extended|rebooked|rescheduled|moved|updated|replaced|shifted|brought forward|pushed back|corrected|renewed|reassigned|relocated)\b",
        "The gate code has changed, it is 2222.",
    ),
    ChangeMark(
        "English",
        "shifts",
        r"\b(?:we|i|they|he|she)(?: have| has)?(?: just)? (?:changed|switched|moved|upgraded|raised|lowered|cut|swapped|renamed|migrated|replaced|updated|bumped|extended|shortened|rescheduled|sold|got a new|have a new)\b|\b(?:took over|takes over|new one)\b",
        "I sold the Skoda, my car is a Volvo.",
    ),
    ChangeMark(
        "English",
        "switches",
        r"\b(?:sold|quit|resigned from|retired from|got rid of|gave up|gave away|cancell?ed|broke up with|divorced|said goodbye to|moved out of|moved away from|phased out|retired|scrapped|ditched|abandoned) (?P<old>[^,;!?]+?)(?= and\b| for\b| in favou?r\b| last\b| yesterday\b|[,;!?.]|$)",
        "I quit my job at Acme.",
    ),
    ChangeMark(
        "German",
        "corrects",
        r"^(?:korrektur|nein|falsch|doch nicht)\b[:,]?|\bich meinte,?|\b(?:ich )?habe mich (?:geirrt|vertan|verschrieben)[:,]?",
        "Korrektur: mein Code ist 8822.",
    ),
    ChangeMark(
        "German",
        "now",
        r"\b(?:jetzt|nun|ab jetzt|ab sofort|inzwischen|mittlerweile|neuerdings|stattdessen)\b",
        "Mein Code ist jetzt 8822.",
    ),
    ChangeMark(
        "German",
        "rejects",
        r"\bnicht (?:mehr )?(?P<old>[^,;!?]+?),? sondern ",
        "Der Code ist nicht 4711, sondern 8822.",
    ),
    ChangeMark(
        "German", "rejects", rf"\b(?:statt|anstatt|anstelle von) {_V}{_END}", "Wir nutzen GitLab statt Jenkins."
    ),
    ChangeMark("German", "rejects", rf", (?:und )?nicht (?:mehr )?{_V}{_END}", "Der Code ist 8822, nicht 4711."),
    ChangeMark("German", "ends", r"\b(?:nicht|kein\w*) mehr\b|\baufgehört\b", "Ich wohne nicht mehr in Graz."),
    ChangeMark("German", "ends", r"\b(?:abgesagt|gestrichen|fällt aus)\b", "Das Fest ist abgesagt."),
    ChangeMark(
        "German",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:wurde|wird|ist|hat sich|sind|wurden) (?:(?:von|vom) (?P<old>[^,;!?]+?) )?(?:auf|nach|in|zu|zum|zur) (?P<new>[^,;!?]+?) (?:verschoben|umgezogen|verlegt|geändert|gewechselt|erhöht|gesenkt|verlängert|umbenannt|vorgezogen)",
        "Die Besprechung wurde auf Donnerstag verschoben.",
    ),
    ChangeMark(
        "German",
        "moves",
        r"(?P<subject>ich|wir) (?:bin|sind) (?:jetzt )?nach (?P<new>[^,;!?]+?) (?:um)?gezogen",
        "Ich bin nach Linz gezogen.",
    ),
    ChangeMark(
        "German",
        "switches",
        r"\bvon (?P<old>[^,;!?]+?) (?:zu|auf|nach) [^,;!?]+? (?:gewechselt|umgestiegen|umgestellt|umgezogen)",
        "Ich bin von Vim auf Emacs umgestiegen.",
    ),
    ChangeMark(
        "French",
        "corrects",
        r"^(?:correction|erratum|non|pardon)\b ?[:,]?|\bje voulais dire(?: que)?|\bje me suis trompée?[:,]?",
        "Correction : le code est 8822.",
    ),
    ChangeMark(
        "French",
        "now",
        r"\b(?:maintenant|désormais|dorénavant|à présent|en fait|plutôt)\b",
        "Le code est maintenant 8822.",
    ),
    ChangeMark("French", "rejects", r"\b(?:pas|plus) (?P<old>[^,;!?]+?),? mais ", "Le code ne est pas 4711 mais 8822."),
    ChangeMark(
        "French",
        "rejects",
        rf"\b(?:au lieu (?:de|du)|plutôt que|à la place (?:de|du)) {_V}{_END}",
        "Nous utilisons GitLab au lieu de Jenkins.",
    ),
    ChangeMark("French", "rejects", rf", (?:et )?(?:pas|non) {_V}{_END}", "Le code est 8822, pas 4711."),
    ChangeMark("French", "ends", r"\bne [^,;!?]*\bplus\b|\barrêté\b", "Je ne habite plus à Lyon."),
    ChangeMark("French", "ends", r"\bannulée?s?\b", "La fête est annulée."),
    ChangeMark(
        "French",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:est|a été|sont|ont été|se est) (?:\w+ )?(?:déplacée?s?|reportée?s?|décalée?s?|repoussée?s?|avancée?s?|prolongée?s?|passée?s?|transférée?s?|changée?s?) (?:à|au|en|pour|le|de [^,;!?]+? à) (?P<new>[^,;!?]+)",
        "La réunion est déplacée à jeudi.",
    ),
    ChangeMark(
        "French",
        "moves",
        r"(?P<subject>je|nous)(?: me| nous)? (?:ai|avons|suis|sommes) (?:déménagée?s?|emménagée?s?) (?:à|au|en) (?P<new>[^,;!?]+)",
        "Je ai déménagé à Nantes.",
    ),
    ChangeMark(
        "French",
        "switches",
        r"\bpassée?s? de (?P<old>[^,;!?]+?) à\b|\bremplacé (?P<old2>[^,;!?]+?) par\b",
        "Nous sommes passés de Jenkins à GitLab.",
    ),
    ChangeMark(
        "Spanish",
        "corrects",
        r"^(?:corrección|perdón|no)\b[:,]|\bquise decir(?: que)?|\bme equivoqué[:,]?",
        "Corrección: el código es 8822.",
    ),
    ChangeMark(
        "Spanish",
        "now",
        r"\b(?:ahora|a partir de ahora|desde ahora|en realidad|actualmente)\b",
        "El código es ahora 8822.",
    ),
    ChangeMark("Spanish", "rejects", r"\bno (?:es )?(?P<old>[^,;!?]+?),? sino ", "El código no es 4711 sino 8822."),
    ChangeMark("Spanish", "rejects", rf"\b(?:en vez de|en lugar de) {_V}{_END}", "Usamos GitLab en vez de Jenkins."),
    ChangeMark("Spanish", "rejects", rf", (?:y )?no {_V}{_END}", "El código es 8822, no 4711."),
    ChangeMark("Spanish", "ends", r"\bya no\b|\bno [^,;!?]*\bmás\b|\bdejé de\b", "Ya no vivo en Sevilla."),
    ChangeMark("Spanish", "ends", r"\bcancelad[oa]s?\b", "La fiesta está cancelada."),
    ChangeMark(
        "Spanish",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:se ha|se|fue|ha sido|está|ha) (?:movido|movió|cambiado|cambió|aplazad[oa]|aplazó|pospuest[oa]|pospuso|trasladad[oa]|trasladó|pasad[oa]|pasó|adelantad[oa]|retrasad[oa]) (?:al?|para|hasta) (?P<new>[^,;!?]+)",
        "La reunión se ha movido al jueves.",
    ),
    ChangeMark(
        "Spanish", "moves", r"(?P<subject>)\bme (?:he )?(?:mudé|mudado) a (?P<new>[^,;!?]+)", "Me mudé a Málaga."
    ),
    ChangeMark(
        "Spanish",
        "switches",
        r"\b(?:cambié|cambiamos|pasé|pasamos|hemos pasado) de (?P<old>[^,;!?]+?) a\b",
        "Pasamos de Jenkins a GitLab.",
    ),
    ChangeMark(
        "Italian",
        "corrects",
        r"^(?:correzione|scusa|no)\b[:,]|\bvolevo dire(?: che)?|\bmi sono sbagliat[oa][:,]?",
        "Correzione: il codice è 8822.",
    ),
    ChangeMark(
        "Italian",
        "now",
        r"\b(?:adesso|ora|d'ora in poi|da ora in poi|in realtà|attualmente)\b",
        "Il codice adesso è 8822.",
    ),
    ChangeMark(
        "Italian", "rejects", r"\bnon (?:è )?(?P<old>[^,;!?]+?),? (?:ma|bensì) ", "Il codice non è 4711 ma 8822."
    ),
    ChangeMark(
        "Italian",
        "rejects",
        rf"\b(?:invece (?:di|del|della)|al posto (?:di|del|della)) {_V}{_END}",
        "Usiamo GitLab invece di Jenkins.",
    ),
    ChangeMark("Italian", "rejects", rf", (?:e )?non {_V}{_END}", "Il codice è 8822, non 4711."),
    ChangeMark("Italian", "ends", r"\bnon [^,;!?]*\bpiù\b|\bsmesso di\b", "Non abito più a Torino."),
    ChangeMark("Italian", "ends", r"\bannullat[oaie]\b", "La festa è annullata."),
    ChangeMark(
        "Italian",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:è stat[oa]|è|sono stat[ie]|si è) (?:spostat[oaie]|rinviat[oaie]|rimandat[oaie]|cambiat[oaie]|anticipat[oaie]|trasferit[oaie]) (?:al?|alle|in) (?P<new>[^,;!?]+)",
        "La riunione è stata spostata a giovedì.",
    ),
    ChangeMark(
        "Italian", "moves", r"(?P<subject>)\bmi sono trasferit[oa] a (?P<new>[^,;!?]+)", "Mi sono trasferita a Parma."
    ),
    ChangeMark("Italian", "switches", r"\bpassat[oi] da (?P<old>[^,;!?]+?) a\b", "Siamo passati da Jenkins a GitLab."),
    ChangeMark(
        "Dutch",
        "corrects",
        r"^(?:correctie|nee|sorry)\b[:,]|\bik bedoelde(?: dat)?|\bik (?:had|heb) me vergist[:,]?",
        "Correctie: de code is 8822.",
    ),
    ChangeMark("Dutch", "now", r"\b(?:nu|voortaan|vanaf nu|tegenwoordig|eigenlijk)\b", "De code is nu 8822."),
    ChangeMark(
        "Dutch", "rejects", r"\bniet (?:meer |langer )?(?P<old>[^,;!?]+?),? maar ", "De code is niet 4711 maar 8822."
    ),
    ChangeMark("Dutch", "rejects", rf"\b(?:in plaats van) {_V}{_END}", "We gebruiken GitLab in plaats van Jenkins."),
    ChangeMark("Dutch", "rejects", rf", (?:en )?niet {_V}{_END}", "De code is 8822, niet 4711."),
    ChangeMark(
        "Dutch",
        "ends",
        r"\b(?:niet|geen) (?:meer|langer)\b|\b(?:niet|geen)\b[^,;!?]*\bmeer\b|\bgestopt met\b",
        "Ik woon niet meer in Gent.",
    ),
    ChangeMark("Dutch", "ends", r"\b(?:afgelast|geannuleerd)\b", "Het feest is afgelast."),
    ChangeMark(
        "Dutch",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:is|zijn|werd|wordt) (?:verplaatst|verzet|verschoven|verhuisd|uitgesteld|gewijzigd|verlengd|verhoogd) (?:naar|tot) (?P<new>[^,;!?]+)",
        "De vergadering is verplaatst naar donderdag.",
    ),
    ChangeMark(
        "Dutch",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:is|ben|zijn) (?:\w+ )?naar (?P<new>[^,;!?]+?) (?:verplaatst|verzet|verschoven|verhuisd)",
        "Ik ben naar Breda verhuisd.",
    ),
    ChangeMark(
        "Dutch",
        "switches",
        r"\bvan (?P<old>[^,;!?]+?) naar [^,;!?]+? (?:overgestapt|gegaan|verhuisd)",
        "Ik ben van Vim naar Emacs overgestapt.",
    ),
    ChangeMark(
        "Portuguese",
        "corrects",
        r"^(?:correção|desculpa|não)\b[:,]|\bquis dizer(?: que)?|\b(?:(?:eu )?me enganei|enganei-me)[:,]?",
        "Correção: o código é 8822.",
    ),
    ChangeMark("Portuguese", "now", r"\b(?:agora|a partir de agora|na verdade|atualmente)\b", "O código agora é 8822."),
    ChangeMark(
        "Portuguese",
        "rejects",
        r"\bnão (?:é )?(?P<old>[^,;!?]+?),? (?:mas(?: sim)?|e sim) ",
        "O código não é 4711 mas 8822.",
    ),
    ChangeMark(
        "Portuguese",
        "rejects",
        rf"\b(?:em vez de|em vez do|no lugar de|ao invés de) {_V}{_END}",
        "Usamos GitLab em vez de Jenkins.",
    ),
    ChangeMark("Portuguese", "rejects", rf", (?:e )?não {_V}{_END}", "O código é 8822, não 4711."),
    ChangeMark("Portuguese", "ends", r"\bjá não\b|\bnão [^,;!?]*\bmais\b|\bparei de\b", "Eu não moro mais em Lisboa."),
    ChangeMark("Portuguese", "ends", r"\bcancelad[oa]s?\b", "A festa está cancelada."),
    ChangeMark(
        "Portuguese",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:foi|está|mudou|passou|foram) ?(?:adiad[oa]s?|movid[oa]s?|mudad[oa]s?|alterad[oa]s?|transferid[oa]s?|antecipad[oa]s?|remarcad[oa]s?)? (?:para|até|pra) (?P<new>[^,;!?]+)",
        "A reunião foi adiada para quinta.",
    ),
    ChangeMark(
        "Portuguese",
        "moves",
        r"(?P<subject>)\b(?:me mudei|mudei-me|mudei) para (?P<new>[^,;!?]+)",
        "Eu me mudei para Braga.",
    ),
    ChangeMark(
        "Russian",
        "corrects",
        r"^(?:поправка|исправление|нет|ошибка)\b[:,]?|\bя имел[а]? в виду,?|\bя ошибся[:,]?|\bя ошиблась[:,]?",
        "Поправка: код 8822.",
    ),
    ChangeMark("Russian", "now", r"\b(?:теперь|сейчас|отныне|на самом деле)\b", "Код теперь 8822."),
    ChangeMark("Russian", "rejects", r"\bне (?P<old>[^,;!?]+?), а ", "Код не 4711, а 8822."),
    ChangeMark("Russian", "rejects", rf"\bвместо {_V}{_END}", "Мы используем GitLab вместо Jenkins."),
    ChangeMark("Russian", "ends", r"\bбольше не\b|\bуже не\b", "Я больше не живу в Омске."),
    ChangeMark("Russian", "ends", r"\bотмен[её]н[ао]?\b", "Встреча отменена."),
    ChangeMark(
        "Russian",
        "moves",
        r"(?P<subject>[^,;:!?]+?) (?:перенесен[аоы]?|перенесён|перенесли|перенес[её]н[аоы]?) на (?P<new>[^,;!?]+)",
        "Встреча перенесена на четверг.",
    ),
    ChangeMark(
        "Russian", "moves", r"(?P<subject>я|мы) (?:переехала?|переехали) в (?P<new>[^,;!?]+)", "Я переехал в Томск."
    ),
    ChangeMark("Chinese", "corrects", r"^(?:更正|纠正|不对|说错了)[:：,，]?", "更正：密码是8822。"),
    ChangeMark("Chinese", "rejects", r"不是(?P<old>[^,;，。]+?)[,，]?(?:而是|是)", "密码不是4711，而是8822。"),
    ChangeMark("Chinese", "ends", r"不再|已经不|取消", "我不再住在北京了。"),
    ChangeMark(
        "Chinese",
        "moves",
        r"(?P<subject>[^,;，。]+?)(?:已经|现在)?(?:改到|改成|改为|改在|推迟到|提前到|换成|搬到|移到)(?:了)?(?P<new>[^,;，。了]+)",
        "会议改到周四了。",
    ),
    ChangeMark("Japanese", "corrects", r"^(?:訂正|間違えました|すみません)[:：、,]?", "訂正：暗証番号は8822です。"),
    ChangeMark(
        "Japanese", "rejects", r"(?P<old>[^,;、。はがを]+?)(?:ではなく|じゃなくて)", "暗証番号は4711ではなく8822です。"
    ),
    ChangeMark("Japanese", "ends", r"もう.*(?:ません|ない)|中止", "もう東京に住んでいません。"),
    ChangeMark(
        "Japanese",
        "moves",
        r"(?P<subject>[^,;、。]+?)[はが](?P<new>[^,;、。]+?)[にへ](?:変更|延期|移動|引っ越)",
        "会議は木曜日に変更されました。",
    ),
)
"""All marks, those of one language together."""
