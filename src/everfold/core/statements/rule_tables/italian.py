"""Rules of statements: Italian. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

_ORDER: Final = (
    r"(?:"
    r"rispondi|risponda|scrivi|scriva|usa|usi|utilizza|indica|indichi|includi|aggiungi|manda|invia|chiedi|chiama|prenota"
    r"|compra|ordina|mostra|spiega|traduci|riassumi|cita|firma|controlla|verifica|avvisa|parla|metti|tieni|arrotonda|inizia"
    r"|conferma|consulta|leggi|evita|scegli|cerca|lascia|dammi|dimmi|fammi|fai|faccia|dai"
    r"|(?:chied|mand|avvis|chiam|scriv|ricord|mostr|spieg|aggiung|mett|inserisc|traduc|invi)\w{0,2}(?:mi|lo|la|li|le|ci))"
)
"""Verbs that open an order to an assistant, as an order has them."""

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
    StatementRule(
        kind="constraint",
        cues="sempre",
        pattern=rf"^(?:(?:e|ma|allora|sì|no|ok|per favore),? )*{_ORDER} (?:[\w-]+ ){{0,4}}?sempre\b(?! (?:di|tardi|più|così)\b)",
        example="Rispondi sempre in italiano.",
        counter="Parla sempre di calcio.",
    ),
    StatementRule(
        kind="constraint",
        cues="non",
        pattern=r"^(?:(?:e|ma|allora|ok|per favore),? )*non (?:(?:mi|ci|lo|la|li|le) )?(?!preoccupar|esagerare|mollare|avere|essere|sapere|volere|potere|disturbare|pensar|scherzare|arrender|dimenticare|fare (?:il|la|lo|così)|vedere l)\w{2,}(?:are|ere|ire|ar|er|ir)(?:lo|la|li|le|mi|ci|gli)?\b",
        example="Non usare abbreviazioni.",
        counter="Non mollare.",
    ),
    StatementRule(
        kind="constraint",
        cues="mai",
        pattern=r"^(?:(?:e|ma|per favore),? )*mai (?!dire mai)\w+(?:are|ere|ire|arlo|erlo|irlo|arla|erla|irla)\b",
        example="Mai chiamare prima delle nove.",
        counter="Mai dire mai.",
    ),
    StatementRule(
        kind="constraint",
        cues="che",
        pattern=r"@(?:voglio|vorrei|preferisco|desidero|preferirei) che (?:tu|lei) (?!sappia\b|sia felice|stia\b)\w",
        example="Voglio che tu risponda sempre in italiano.",
        counter="Voglio che tu stia bene.",
    ),
    StatementRule(
        kind="constraint",
        cues="devi dovete",
        pattern=r"@(?:devi|dovete) sempre\b",
        example="Devi sempre citare la fonte.",
    ),
    StatementRule(
        kind="constraint",
        cues="quando volta",
        pattern=rf"^quando (?:ti|le|vi) \w[^?,]{{2,80}}, (?:per favore,? )?(?:{_ORDER}|\w{{3,}}[ai]l[oaie])\b|^ogni volta che [^?,]{{3,80}}, (?:per favore,? )?(?:{_ORDER}|\w{{3,}}[ai]l[oaie])\b",
        example="Ogni volta che ti mando una fattura, aggiungila alla tabella.",
    ),
    StatementRule(
        kind="identity",
        cues="allergico allergica allergici celiaco celiaca diabetico diabetica intollerante vegano vegana vegetariano vegetariana",
        pattern=r"@(?:sono|siamo|è) (?:\w+ ){0,2}?(?:allergic[oai]|celiac[oa]|diabetic[oa]|intollerante)\b|@sono (?:vegan[oa]|vegetarian[oa])\b",
        example="Sono allergico alle arachidi.",
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
