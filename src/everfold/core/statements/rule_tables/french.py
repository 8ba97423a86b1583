"""Rules of statements: French. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

_ORDER: Final = (
    r"(?:"
    r"réponds|écris|donne|dis|indique|utilise|emploie|mets|ajoute|inclus|cite|demande|envoie|appelle|réserve|achète|commande"
    r"|prends|explique|montre|traduis|résume|parle|fais|garde|vérifie|rappelle|préviens|signe|arrondis|commence|termine|lis"
    r"|évite|propose|précise|laisse|supprime|range|classe|teste|vouvoie|tutoie|lance|relis|consulte|choisis|copie|affiche"
    r"|calcule|corrige|nomme|informe|avertis|numérote"
    r"|\w{3,}ez)"
)
"""Verbs that open an order to an assistant, as an order has them."""

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
    StatementRule(
        kind="constraint",
        cues="toujours uniquement seulement",
        pattern=rf"^(?:(?:et|mais|donc|alors|oui|non|ok|stp|svp|s'il (?:te|vous) plaît),? )*{_ORDER}(?:-\w+){{0,2}} (?:[\w'-]+ ){{0,4}}?(?:toujours|uniquement|seulement)\b",
        example="Réponds toujours en français.",
    ),
    StatementRule(
        kind="constraint",
        cues="toujours uniquement seulement jamais",
        needles="plaît|plait",
        pattern=r"@s'il (?:te|vous) pla[iî]t\b.*\b(?:toujours|uniquement|seulement|jamais)\b|@(?:toujours|uniquement|seulement|jamais)\b.*\bs'il (?:te|vous) pla[iî]t\b",
        example="Toujours en euros, s'il vous plaît.",
    ),
    StatementRule(
        kind="constraint",
        cues="pas plus",
        needles="ne |n'",
        pattern=r"^(?:(?:et|mais|donc|alors|ok|stp|svp|s'il (?:te|vous) plaît),? )*(?!ne (?:t'inquiète|vous inquiétez|sais|suis|veux|peux|peut|lâche|t'en|vous en|sont|fait|fais pas|va|vais|dois|comprends|crois|vois|te|sois|soyez)\b|n'(?:est|es|ai|as|a|avais|avait|était|étais|hésite\w*|aie|ayez|importe)\b)(?:ne |n')(?:(?:me|m'|nous|le|la|les|lui|leur) ?)?\w{2,} (?:pas|plus) \w",
        example="N'utilise pas d'abréviations.",
        counter="Ne sais pas encore.",
    ),
    StatementRule(
        kind="constraint",
        cues="dois devez",
        needles="toujours|uniquement|seulement|que tu|que vous",
        pattern=r"@(?:tu dois|vous devez) (?:\w+ )?(?:toujours|uniquement|seulement)\b",
        example="Tu dois toujours citer la source.",
    ),
    StatementRule(
        kind="constraint",
        cues="que",
        pattern=r"@(?:je|j'|nous) ?(?:veux|voudrais|souhaite|aimerais|voulons|souhaitons) que (?:tu|vous) (?!sach|sois (?:heureu|bien)|soyez heureu|ailles|alliez)\w",
        example="Je veux que tu répondes en deux phrases.",
        counter="Je veux que tu saches la vérité.",
    ),
    StatementRule(
        kind="constraint",
        cues="quand lorsque fois",
        pattern=rf"^(?:quand|lorsque) (?:je |j')(?:te |t'|vous )?(?:envoie|donne|demande|montre|dis|écris|transmets|poste|colle) [^?,]{{3,80}}, {_ORDER}\b|^(?:à )?chaque fois que [^?,]{{3,80}}, {_ORDER}\b",
        example="Quand je t'envoie un reçu, ajoute-le au tableau.",
    ),
    StatementRule(
        kind="constraint",
        cues="jamais plus:plus_jamais",
        pattern=r"^plus jamais d(?:e |'|es )\w",
        example="Plus jamais de réunions le lundi.",
    ),
    StatementRule(
        kind="constraint",
        cues="pas d'emojis d'emoji d'appels d'abréviations d'anglicismes",
        needles="pas d",
        pattern=r"^(?:et )?pas d(?:'|e )(?:emojis?|smileys?|appels?|mails?|messages?|tableaux|listes?|abréviations|anglicismes|jargon)\b[^?]{0,40}$",
        example="Pas d'emojis.",
    ),
    StatementRule(
        kind="identity",
        cues="allergique allergiques végétarien végétarienne végétariens végane vegan diabétique cœliaque coeliaque",
        pattern=r"@(?:suis|sommes|est|sont) (?:\w+ ){0,2}?allergiques?\b|@(?:suis|sommes) (?:\w+ ){0,2}?(?:végétarien(?:ne)?s?|végane?s?|vegan|diabétiques?|c(?:œ|oe)liaques?)\b",
        example="Je suis allergique aux arachides.",
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
