"""Rules of statements: Spanish. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="recuerda recuerde acuérdate acuerdate olvides olvide olviden apunta anota anote tenga ten",
        pattern=r"{open}(?:recuerd[ae]|acu[eé]rdate|apunt[ae]|anot[ae])\b|@no (?:te |se )?olvid(?:es|e|en)\b|@ten(?:ga)? en cuenta\b",
        example="Recuerda que mi hijo es celíaco.",
    ),
    StatementRule(
        kind="correction",
        cues="equivoqué equivoque perdón quise",
        pattern=r"@me equivoqu[eé]\b|@quise decir\b",
        example="Me equivoqué, el vuelo sale a las nueve.",
    ),
    StatementRule(
        kind="decision",
        cues="decidido decidimos elegido quedamos queda",
        needles="decidi|elegi|queda",
        pattern=r"@(?:he|hemos) (?:\w+ )?(?:decidido|elegido)\b|@decidimos\b|@(?:nos )?quedamos (?:con|en)\b|^queda (?:para|en)\b",
        example="Hemos decidido vender el coche.",
    ),
    StatementRule(
        kind="constraint",
        cues="más",
        needles="más de",
        pattern=r"@no (?:[\w']+ ){0,5}?más de \W?\d",
        example="No gastes más de 80 euros.",
    ),
    StatementRule(
        kind="constraint",
        cues="quiero queremos puede pueden debe deben tiene tienen",
        needles="no |que ser|que estar|que tener|que llegar|debe",
        pattern=r"@no (?:quiero|queremos) (?!decir|saber|molestar|nada\b|ser \w+o\b)\w|@no (?:puede|pueden|debe|deben) (?:ser|estar|tener|haber|llegar|pasar|superar|costar) \w|@(?:debe|deben|tiene que|tienen que) (?:ser|estar|tener|llegar) \w",
        example="El hotel debe estar cerca de la playa.",
        counter="No quiero molestar a nadie.",
    ),
    StatementRule(
        kind="constraint",
        cues="nunca jamás siempre nunca",
        needles="nunca|jamás|siempre",
        pattern=r"^(?:por favor,? )?(?:no \w+ )?(?:nunca|jamás|siempre) (?!he\b|ha\b|hemos|había|fui|vi\b|me\b|tengo|estoy)\w|^no (?:\w+)(?:es|as|en|an) (?:nunca|jamás)\b|@por favor\b.*\b(?:siempre|nunca|jamás)\b",
        example="Nunca llames antes de las diez.",
        counter="Nunca he estado en Lima.",
    ),
    StatementRule(
        kind="identity",
        cues="llamo nombre:mi_nombre soy",
        pattern=r"@me llamo \w|@mi nombre es \w|^(?:hola|buenas|buenos días|buenas tardes)?,? ?soy \w+ \w",
        example="Me llamo Lucía Torres.",
    ),
    StatementRule(
        kind="preference",
        cues="prefiero preferimos prefiere gusta gustan encanta odio",
        pattern=r"@(?:prefiero|preferimos|prefiere)\b|@me (?:gustan?|encantan?)\b(?=.*\w{3})|@odio \w",
        example="Prefiero el asiento de ventanilla.",
    ),
    StatementRule(
        kind="need",
        cues="tengo tenemos hay",
        needles="que ",
        pattern=r"@(?:tengo|tenemos) que \w|@hay que \w",
        example="Tengo que recoger el paquete.",
    ),
    StatementRule(
        kind="commitment",
        cues="mando envío llamo aviso escribo voy vamos",
        pattern=r"@(?:te|le|les|os) (?:mando|envío|llamo|aviso|escribo)\b|@(?:voy|vamos) a \w+(?:ar|er|ir)\b.*\b(?:mañana|hoy|luego|el|esta)\b",
        example="Te mando las fotos esta noche.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="siempre nunca",
        pattern=r"^(?:podrías?|puedes?)\b.*\b(?:siempre|nunca)\b",
        example="Puedes responder siempre en español?",
    ),
)
