"""The marks of `marks.py` in other languages than English, those of one language together.

Source: own grammar, tuned on `tests/data/supersession/own.jsonl` only.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

from typing import Final

from everfold.core.changes.kinds import END, VALUE, ChangeMark

FOREIGN_MARKS: Final[tuple[ChangeMark, ...]] = (
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
        "German", "rejects", rf"\b(?:statt|anstatt|anstelle von) {VALUE}{END}", "Wir nutzen GitLab statt Jenkins."
    ),
    ChangeMark("German", "rejects", rf", (?:und )?nicht (?:mehr )?{VALUE}{END}", "Der Code ist 8822, nicht 4711."),
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
        rf"\b(?:au lieu (?:de|du)|plutôt que|à la place (?:de|du)) {VALUE}{END}",
        "Nous utilisons GitLab au lieu de Jenkins.",
    ),
    ChangeMark("French", "rejects", rf", (?:et )?(?:pas|non) {VALUE}{END}", "Le code est 8822, pas 4711."),
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
    ChangeMark("Spanish", "rejects", rf"\b(?:en vez de|en lugar de) {VALUE}{END}", "Usamos GitLab en vez de Jenkins."),
    ChangeMark("Spanish", "rejects", rf", (?:y )?no {VALUE}{END}", "El código es 8822, no 4711."),
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
        rf"\b(?:invece (?:di|del|della)|al posto (?:di|del|della)) {VALUE}{END}",
        "Usiamo GitLab invece di Jenkins.",
    ),
    ChangeMark("Italian", "rejects", rf", (?:e )?non {VALUE}{END}", "Il codice è 8822, non 4711."),
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
    ChangeMark("Dutch", "rejects", rf"\b(?:in plaats van) {VALUE}{END}", "We gebruiken GitLab in plaats van Jenkins."),
    ChangeMark("Dutch", "rejects", rf", (?:en )?niet {VALUE}{END}", "De code is 8822, niet 4711."),
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
        rf"\b(?:em vez de|em vez do|no lugar de|ao invés de) {VALUE}{END}",
        "Usamos GitLab em vez de Jenkins.",
    ),
    ChangeMark("Portuguese", "rejects", rf", (?:e )?não {VALUE}{END}", "O código é 8822, não 4711."),
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
    ChangeMark("Russian", "rejects", rf"\bвместо {VALUE}{END}", "Мы используем GitLab вместо Jenkins."),
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
