"""Rules of statements: Dutch. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

_ORDER: Final = (
    r"(?:"
    r"antwoord|schrijf|gebruik|geef|noem|vraag|bel|stuur|boek|bestel|koop|zet|voeg|vermeld|toon|leg|vertaal|vat|citeer"
    r"|onderteken|controleer|check|waarschuw|spreek|praat|houd?|maak|rond|begin|bevestig|raadpleeg|lees|vermijd|kies|zoek"
    r"|laat|bewaar|verwijder|verander|deel|neem|sluit|open|plan|test|push|commit|herinner|meld|zeg|vertel|reken|nummer"
    r"|sorteer"
    r")"
)
"""Verbs that open an order to an assistant, as an order has them."""

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
    StatementRule(
        kind="constraint",
        cues="altijd nooit geen niet",
        pattern=rf"^(?!.*\b(?:zorgen|druk|niet op|opgeven)\b)(?:(?:en|maar|dus|ja|nee|ok|oké|graag|alsjeblieft|alstublieft),? )*{_ORDER} (?:[\w'-]+ ){{0,4}}?(?:altijd|nooit|geen|niet) \w",
        example="Antwoord altijd in het Nederlands.",
        counter="Maak je geen zorgen.",
    ),
    StatementRule(
        kind="constraint",
        cues="moet mag dient",
        needles="altijd|nooit|alleen",
        pattern=r"@(?:je|u|jij) (?:moet|mag|dient) (?:[\w-]+ ){0,4}?(?:altijd|nooit|alleen)\b(?! (?:lachen|maar)\b)",
        example="Je moet altijd de bron noemen.",
        counter="Je moet altijd lachen.",
    ),
    StatementRule(
        kind="constraint",
        cues="dat",
        pattern=r"@(?:ik|we|wij) (?:wil|willen|verwacht|verwachten) (?:graag )?dat (?:je|u|jij) (?!weet\b|gelukkig\b)\w",
        example="Ik wil dat je kort antwoordt.",
        counter="Ik wil dat je weet hoe het ging.",
    ),
    StatementRule(
        kind="constraint",
        cues="als wanneer keer",
        pattern=rf"^(?:als|wanneer|zodra) ik (?:je|u|jou) [^?,]{{3,80}}, {_ORDER}\b|^(?:telkens als|elke keer (?:dat|als)) [^?,]{{3,80}}, {_ORDER}\b",
        example="Als ik je een bon stuur, zet hem in de tabel.",
    ),
    StatementRule(
        kind="identity",
        cues="allergisch veganist vegetariër veganistisch diabeet",
        pattern=r"@(?:ben|zijn) (?:\w+ ){0,2}?allergisch\b|@ben (?:\w+ )?(?:veganist|vegetariër|veganistisch|diabeet)\b",
        example="Ik ben allergisch voor pinda's.",
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
