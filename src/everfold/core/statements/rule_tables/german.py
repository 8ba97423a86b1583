"""Rules of statements: German. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

_ORDER: Final = (
    r"(?:"
    r"antworte|schreibe?|nenne?|gib|gebt|frag|zeige?|verwende|benutze?|nutze|nimm|sage?|sprich|rufe?|buche?|bestelle?|kaufe?"
    r"|schicke?|sende|mache?|füge?|prüfe?|erkläre?|erwähne?|teile?|speichere?|lösche?|ändere?|halte?|bleibe?|achte|formuliere"
    r"|übersetze|rechne|runde|zitiere|unterschreibe?|unterzeichne|setze?|stelle?|lege?|lies|begrüße?|duze|sieze|rede|erinnere"
    r"|informiere|plane?|empfiehl|schlage?|lade?|committe|pushe?|teste|dokumentiere|bringe?|melde|notiere|trage?|kürze|fasse?"
    r"|beginne?|hole?|wähle?|öffne|schließe?|ersetze|sortiere|markiere|starte|leite|kopiere|verschiebe?|berechne|nummeriere"
    r"|beschrifte"
    r"|\w{3,}en sie)"
)
"""Verbs that open an order to an assistant, as an order has them."""

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="merk merke merken denk denke vergiss vergesst vergessen notier notiere notieren",
        pattern=r"@merke?n? (?:dir|sie sich|euch)\b|@denke? (?:bitte )?daran\b|@vergiss (?:bitte )?nicht\b|@nicht vergessen\b|{open}notieren?\b",
        example="Merk dir, dass Oma am Sonntag kommt.",
    ),
    StatementRule(
        kind="correction",
        cues="meinte geirrt vertan sondern",
        pattern=r"@ich meinte\b|@habe mich (?:geirrt|vertan)\b|@nicht .*\bsondern\b",
        example="Ich meinte den Zug um acht.",
    ),
    StatementRule(
        kind="decision",
        cues="entschieden beschlossen gefallen",
        pattern=r"@(?:habe|haben)\b.*\b(?:entschieden|beschlossen)\b|@entscheidung ist gefallen\b",
        example="Wir haben uns für die Altbauwohnung entschieden.",
    ),
    StatementRule(
        kind="constraint",
        cues="nie niemals keinesfalls keinen",
        needles="nie |niemals |keinesfalls |auf keinen fall",
        pattern=r"^(?!(?:er|es|man|mein\w*|unser\w*|der|die|das) (?!.*\b(?:darf|dürfen|soll\w*|muss|müssen)\b))(?!.*\b(?:ich|war|wird|hat|gibt)\b).*\b(?:nie|niemals|keinesfalls|auf keinen fall)\b",
        example="Bestell nie bei diesem Händler.",
        counter="Ich war nie in Rom.",
    ),
    StatementRule(
        kind="constraint",
        cues="immer nur kein keine nicht bitte ohne",
        needles="bitte",
        pattern=r"@bitte\b.*\b(?:immer|nur|keine?n?|nicht mehr|niemals|nie|ohne)\b|@(?:immer|nur|keine?n?|niemals) .*\bbitte\b",
        example="Bitte immer vorher anrufen.",
    ),
    StatementRule(
        kind="constraint",
        cues="möchte möchten will:ich_will wollen darf dürfen",
        needles="nicht|kein",
        pattern=r"@(?:ich|wir) (?:möchten?|will|wollen|darf|dürfen) (?!wissen\b|sagen\b|nicht (?:stören|sagen|wissen)\b)(?:\w+,? ){0,4}?(?:nicht|keine?[nmrs]?)\b(?! (?:stören|lügen)\b)|@(?:darf|dürfen) (?:\w+ ){0,5}?(?:nicht|keine?[nmrs]?)\b",
        example="Ich möchte nicht im Erdgeschoss wohnen.",
        counter="Ich möchte nicht stören.",
    ),
    StatementRule(
        kind="constraint",
        cues="möchte möchten will:ich_will wollen",
        needles="auf keinen fall",
        pattern=r"@(?:ich|wir) (?:möchten?|will|wollen) (?:\w+ ){0,4}?auf keinen fall\b",
        example="Wir wollen auf keinen Fall umsteigen.",
    ),
    StatementRule(
        kind="constraint",
        cues="muss müssen",
        pattern=r"^(?!.*\b(?:ich|wir|man|gewesen|wohl|lachen)\b)(?!.*\bsein müssen\b).*\b(?:muss|müssen) (?!(?:toll|schön|schwer|hart|schlimm) sein|sagen\b)\w",
        example="Die Rechnung muss bis Freitag bezahlt sein.",
        counter="Man muss lachen.",
    ),
    StatementRule(
        kind="constraint",
        cues="mehr",
        needles="mehr als",
        pattern=r"@nicht (?:[\w']+ ){0,5}?mehr als \W?\d",
        example="Das Geschenk soll nicht mehr als 50 Euro kosten.",
    ),
    StatementRule(
        kind="constraint",
        cues="höchstens mindestens maximal",
        pattern=r"@(?:höchstens|mindestens|maximal) \d",
        example="Höchstens 3 Gäste pro Zimmer.",
    ),
    StatementRule(
        kind="identity",
        cues="heiße name:mein_name",
        pattern=r"@ich heiße \w|@mein name ist \w",
        example="Ich heiße Jonas Berger.",
    ),
    StatementRule(
        kind="preference",
        cues="lieber liebsten bevorzuge bevorzugen mag",
        pattern=r"@lieber \w+ als\b|@am liebsten\b|@bevorzugen?\b|@ich mag (?!nicht mehr)\w|@(?:ich|wir) .*\blieber\b",
        example="Ich fahre lieber Zug als Auto.",
        counter="Ich mag nicht mehr.",
    ),
    StatementRule(
        kind="need",
        cues="muss müssen",
        pattern=r"@(?:ich|wir) (?:muss|müssen) (?:noch |bis |\w+ )\w|@muss ich (?:noch|bis)\b",
        example="Ich muss noch die Blumen gießen.",
    ),
    StatementRule(
        kind="commitment",
        cues="werde werden schicke melde sende bringe kümmere rufe",
        pattern=r"@(?:ich|wir) werden? (?!sehen|wohl)\w|@ich (?:schicke|melde|sende|bringe|kümmere|rufe)\b",
        example="Ich schicke dir morgen die Fotos.",
        counter="Wir werden sehen.",
    ),
    StatementRule(
        kind="constraint",
        cues="immer stets",
        pattern=rf"^(?:(?:bitte|und|aber|also|dann|ja|nein|ok|okay|ach),? )*{_ORDER}(?:,? [\w-]+){{0,5}}?,? (?:immer|stets)\b(?! (?:noch|mehr|wieder)\b)",
        example="Nenne mir die Preise immer in Euro.",
        counter="Bleib immer noch ruhig.",
    ),
    StatementRule(
        kind="constraint",
        cues="kein keine keinen keinem keiner nicht",
        pattern=rf"^(?!.*\b(?:sorgen|gedanken|umstände|unterkriegen|ärgern|stören|nicht auf|nicht so)\b)(?:(?:bitte|und|aber|also|dann|ja|nein|ok|okay),? )*{_ORDER} (?:[\w-]+ ){{0,4}}?(?:keine?[nmrs]?|nicht) \w",
        example="Verwende keine Abkürzungen.",
        counter="Mach dir keine Sorgen.",
    ),
    StatementRule(
        kind="constraint",
        cues="sollst musst darfst solltest sollt müsst dürft",
        needles="immer|stets|nie|nur |kein",
        pattern=r"@(?:du|ihr) (?:sollst|solltest|sollt|musst|müsst|darfst|dürft) (?:[\w-]+,? ){0,5}?(?:immer|stets|nie|niemals|nur|keine?[nmrs]?)\b(?! (?:lachen|wieder|angst|sorgen)\b)",
        example="Du sollst immer die Quelle nennen.",
        counter="Du musst immer lachen.",
    ),
    StatementRule(
        kind="constraint",
        cues="dass",
        pattern=r"@(?:ich|wir) (?:möchten?|will|wollen|erwarten?|wünschen? (?:mir|uns)|hätten? gern|bitten? darum),? dass (?:du|sie|ihr) (?!wissen\b|weißt\b|wisst\b|glücklich\b|gesund\b)\w",
        example="Ich möchte, dass du mir kurz antwortest.",
        counter="Ich will, dass du glücklich bist.",
    ),
    StatementRule(
        kind="constraint",
        cues="immer stets",
        pattern=r"^(?:(?:bitte|und),? )*(?:immer|stets) (?!diese|wieder|noch|mehr|gerne?\b|schön|die\b|der\b|das\b|den\b|alles\b|nur\b)(?:[\w-]+,? ){0,5}?(?!(?:freunden|nachbarn|menschen|leuten|zeiten|wochen|jahren|tagen)\b)[\w-]+en[.!]*$",
        example="Immer zuerst die Tests laufen lassen.",
        counter="Immer die gleichen Fragen.",
    ),
    StatementRule(
        kind="constraint",
        cues="wenn sobald",
        pattern=rf"^(?:immer )?(?:wenn|sobald) ich (?:[\w-]+ ){{1,8}}?(?:schicke|sende|gebe|zeige|nenne|sage|schreibe|frage|einfüge|hochlade|weiterleite|bitte|erwähne), (?:bitte |dann )*{_ORDER}\b|^jedes mal,? wenn (?:ich|du) [^?,]{{3,80}}, (?:bitte |dann )*{_ORDER}\b",
        example="Wenn ich dir einen Beleg schicke, trag ihn ein.",
    ),
    StatementRule(
        kind="constraint",
        cues="keine",
        pattern=r"^(?:(?:bitte|und),? )*keine (?:emojis?|smileys?|anrufe|e-?mails?|abkürzungen|anglizismen|floskeln|ausrufezeichen|fußnoten|tabellen|aufzählungen|fremdwörter)(?: mehr)?(?:,? bitte)?[.!]*$",
        example="Keine Floskeln mehr.",
    ),
    StatementRule(
        kind="identity",
        cues="allergisch veganer veganerin vegan vegetarier vegetarierin diabetiker diabetikerin laktoseintolerant",
        pattern=r"@(?:bin|sind|ist) (?:[\w-]+ ){0,2}?allergisch\b|@bin (?:[\w-]+ ){0,2}?(?:veganer(?:in)?|vegan|vegetarier(?:in)?|diabetiker(?:in)?|laktoseintolerant)\b",
        example="Ich bin allergisch gegen Nüsse.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="immer nie niemals",
        pattern=r"^(?:könntest|kannst|können|könnten|würdest|würden)\b.*\b(?:immer|nie|niemals|ab jetzt)\b",
        example="Kannst du immer auf Deutsch antworten?",
    ),
)
