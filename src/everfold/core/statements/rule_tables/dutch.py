"""Rules of statements: Dutch. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="onthoud vergeet",
        pattern=r"{open}onthoud\b|@vergeet niet\b",
        example="Onthoud dat ik geen melk drink.",
    ),
    StatementRule(
        kind="correction",
        cues="bedoelde vergist",
        pattern=r"@ik bedoelde\b|@vergist\b",
        example="Ik bedoelde de afspraak van dinsdag.",
    ),
    StatementRule(
        kind="decision",
        cues="besloten gekozen",
        pattern=r"@(?:heb|hebben)\b.*\b(?:besloten|gekozen)\b",
        example="We hebben besloten om te verhuizen.",
    ),
    StatementRule(
        kind="constraint",
        cues="meer",
        needles="meer dan",
        pattern=r"@niet (?:[\w']+ ){0,5}?meer dan \W?\d",
        example="Geef niet meer dan 50 euro uit.",
    ),
    StatementRule(
        kind="constraint",
        cues="wil willen moet moeten mag mogen",
        needles="niet|geen|moet",
        pattern=r"@(?:ik|we|wij) (?:wil|willen) (?:\w+ ){0,2}?(?:niet|geen)\b(?! (?:storen|zeggen|weten))|@(?:mag|mogen) (?:\w+ ){0,4}?(?:niet|geen)\b|@(?:het|de|dit|dat|deze|alles|hij|zij|ze) (?:\w+ )?(?:moet|moeten) (?!wel |toch )\w",
        example="De kamer moet rustig zijn.",
        counter="Het moet wel leuk zijn.",
    ),
    StatementRule(
        kind="constraint",
        cues="nooit altijd alleen",
        needles="graag|alsjeblieft|alstublieft",
        pattern=r"@(?:graag|alsjeblieft|alstublieft)\b.*\b(?:nooit|altijd|alleen)\b",
        example="Graag altijd vooraf bellen.",
    ),
    StatementRule(
        kind="identity",
        cues="heet naam",
        pattern=r"@ik heet \w|@mijn naam is \w",
        example="Ik heet Sanne de Vries.",
    ),
    StatementRule(
        kind="preference",
        cues="liever liefst voorkeur",
        pattern=r"@(?:liefst|liever)\b|@voorkeur\b",
        example="Ik zit liever bij het raam.",
    ),
    StatementRule(
        kind="need",
        cues="moet moeten",
        pattern=r"@(?:ik|we|wij) moet(?:en)? \w",
        example="Ik moet de huur nog betalen.",
    ),
    StatementRule(
        kind="commitment",
        cues="stuur zal bel",
        pattern=r"@ik (?:zal|stuur|bel) \w",
        example="Ik stuur je morgen de foto's.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="altijd nooit",
        pattern=r"^(?:kunt?)\b.*\b(?:altijd|nooit)\b",
        example="Kun je altijd in het Nederlands antwoorden?",
    ),
)
