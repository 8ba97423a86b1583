"""Rules of statements: French. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="souviens-toi souvenez-vous rappelle-toi n'oublie n'oubliez note notez retiens retenez",
        needles="-toi|-vous|n'oubli|note que|notez que|reten|retiens",
        pattern=r"@(?:souviens-toi|souvenez-vous|rappelle-toi|n'oublie[sz]? pas|retiens|retenez)\b|{open}note[sz]? (?:bien )?que\b",
        example="N'oubliez pas que le musée ferme le mardi.",
    ),
    StatementRule(
        kind="correction",
        cues="trompé trompée voulais",
        pattern=r"@je me suis trompée?\b|@je voulais dire\b",
        example="Je me suis trompé, c'est le quai 7.",
    ),
    StatementRule(
        kind="decision",
        cues="choisi décidé",
        pattern=r"@(?:ai|avons|a) (?:\w+ )?(?:choisi|décidé)\b",
        example="Nous avons choisi la salle du premier étage.",
    ),
    StatementRule(
        kind="constraint",
        cues="plus",
        needles="plus de",
        pattern=r"@pas (?:[\w']+ ){0,5}?plus de \W?\d",
        example="Ne dépensez pas plus de 60 euros.",
    ),
    StatementRule(
        kind="constraint",
        cues="faut faudrait",
        pattern=r"@il (?:ne )?(?:me |nous |lui |leur )?(?:faut|faudrait) (?:surtout |absolument )?(?:pas|que|absolument)\b(?! (?:exagérer|rêver))",
        example="Il faut que la chambre soit au calme.",
        counter="Il ne faut pas rêver.",
    ),
    StatementRule(
        kind="constraint",
        cues="veux voulons souhaite souhaitons doit doivent",
        needles="ne |n'|être |avoir |rester |arriver ",
        pattern=r"@(?:je|nous) ne (?:veux|voulons|souhaite|souhaitons) (?:surtout )?(?:pas|plus)\b(?! (?:déranger|dire|savoir|vous déranger))|@ne (?:doit|doivent) (?:surtout )?(?:pas|jamais|plus)\b|@(?:doit|doivent) (?:être|avoir|rester|arriver)\b",
        example="Je ne veux pas de siège côté couloir.",
        counter="Je ne veux pas déranger.",
    ),
    StatementRule(
        kind="constraint",
        cues="jamais toujours uniquement seulement",
        pattern=r"^(?!.*\b(?:je|j'ai|il|elle) (?:\w+ )?(?:ai|suis|étais|a|est) (?:jamais|toujours)\b).*(?:\bne |\bn').*\bjamais\b|@\w+ez (?:uniquement|seulement|toujours)\b|@jamais (?:après|avant|le|la|de)\b",
        example="N'appelez jamais avant midi.",
        counter="Je ne suis jamais en retard.",
    ),
    StatementRule(
        kind="identity",
        cues="m'appelle nom:mon_nom",
        pattern=r"@je m'appelle \w|@mon nom est \w",
        example="Je m'appelle Claire Dubois.",
    ),
    StatementRule(
        kind="preference",
        cues="préfère préférons préférerais préférerions j'aime déteste j'adore n'aime",
        pattern=r"@(?:je|nous|il|elle|on|ils|elles|ma \w+|mon \w+) préf\w+|@j'(?:aime|adore)\b(?! (?:ça|bien ça))|@je (?:déteste|n'aime pas)\b",
        example="Je préfère le train à l'avion.",
        counter="J'aime ça.",
    ),
    StatementRule(
        kind="need",
        cues="dois devons faut",
        needles="je dois|nous devons|il faut que je|il faut que nous",
        pattern=r"@(?:je dois|nous devons|il faut que (?:je|nous)) \w",
        example="Je dois renouveler mon passeport.",
    ),
    StatementRule(
        kind="commitment",
        cues="demain soir vais m'en",
        needles="demain|vais|m'en occupe|ce soir",
        pattern=r"@je m'en occupe\b|@je (?:vais|te|vous|l') ?\w+.*\b(?:demain|ce soir|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|^(?:ok |oui )?je? ?\w+e .*\b(?:demain|ce soir)\b",
        example="Je m'en occupe demain matin.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="toujours jamais",
        pattern=r"^(?:pourriez|pourrais|peux|pouvez)\b.*\b(?:toujours|jamais)\b",
        example="Pourriez-vous toujours indiquer le prix ?",
    ),
)
