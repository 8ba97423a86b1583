"""Rules of statements: German. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

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
        pattern=r"^(?!.*\b(?:ich|war|wird|hat|gibt)\b).*\b(?:nie|niemals|keinesfalls|auf keinen fall)\b",
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
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="immer nie niemals",
        pattern=r"^(?:könntest|kannst|können|könnten|würdest|würden)\b.*\b(?:immer|nie|niemals|ab jetzt)\b",
        example="Kannst du immer auf Deutsch antworten?",
    ),
)
