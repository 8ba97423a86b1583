"""Rules of statements: Italian. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="ricorda ricordati ricordi dimenticare",
        pattern=r"{open}ricorda(?:ti)?\b|@non dimenticare\b",
        example="Ricordati che il negozio chiude alle sette.",
    ),
    StatementRule(
        kind="correction",
        cues="sbagliato sbagliata volevo",
        pattern=r"@mi sono sbagliat[oa]\b|@volevo dire\b",
        example="Mi sono sbagliata, il treno parte alle otto.",
    ),
    StatementRule(
        kind="decision",
        cues="deciso scelto",
        pattern=r"@(?:ho|abbiamo) (?:\w+ )?(?:deciso|scelto)\b",
        example="Abbiamo deciso di prendere la casa al mare.",
    ),
    StatementRule(
        kind="constraint",
        cues="più",
        needles="più di",
        pattern=r"@non (?:[\w']+ ){0,5}?più di \W?\d",
        example="Non spendere più di 40 euro.",
    ),
    StatementRule(
        kind="constraint",
        cues="voglio vogliamo deve devono può possono",
        needles="non |essere |stare |avere |arrivare ",
        pattern=r"@non (?:voglio|vogliamo) (?!dire|sapere|disturbare)\w|@non (?:deve|devono|può|possono) (?:essere|avere|superare|costare|arrivare) \w|@(?:deve|devono) (?:essere|stare|avere|arrivare) \w",
        example="La camera deve essere silenziosa.",
        counter="Non voglio disturbare nessuno.",
    ),
    StatementRule(
        kind="constraint",
        cues="mai sempre solo",
        needles="per favore|non ",
        pattern=r"^(?:per favore,? )?non \w+ mai\b|@per favore\b.*\b(?:sempre|mai|solo)\b",
        example="Per favore chiama sempre prima di venire.",
    ),
    StatementRule(
        kind="identity",
        cues="chiamo nome",
        pattern=r"@mi chiamo \w|@il mio nome è \w",
        example="Mi chiamo Paolo Ricci.",
    ),
    StatementRule(
        kind="identity",
        cues="sono",
        needles="ciao|salve|buongiorno|buonasera",
        pattern=r"^(?:ciao|salve|buongiorno|buonasera),? sono (?!qui\b|io\b)\w+ \w",
        example="Ciao, sono Giulia Conti.",
        counter="Ciao, sono qui da ieri.",
    ),
    StatementRule(
        kind="preference",
        cues="preferisco preferiamo preferirei piace",
        pattern=r"@(?:preferisco|preferiamo|preferirei)\b|@mi piace\b",
        example="Preferisco viaggiare di notte.",
    ),
    StatementRule(
        kind="need",
        cues="devo dobbiamo",
        pattern=r"^(?:io )?(?:devo|dobbiamo) \w",
        example="Devo comprare i biglietti.",
    ),
    StatementRule(
        kind="commitment",
        cues="mando domani",
        pattern=r"@ti (?:mando|chiamo)\b",
        example="Ti mando le foto stasera.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="sempre mai",
        pattern=r"^(?:potresti|puoi)\b.*\b(?:sempre|mai)\b",
        example="Puoi rispondere sempre in italiano?",
    ),
)
