"""Rules of statements: Spanish. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

_ORDER: Final = (
    r"(?:"
    r"responde|responda|contesta|conteste|escribe|escriba|usa|use|utiliza|utilice|incluye|incluya|indica|indique|di|diga|da"
    r"|pon|ponga|añade|añada|agrega|agregue|envía|envíe|manda|mande|pregunta|pregunte|llama|llame|reserva|reserve|compra"
    r"|compre|pide|pida|muestra|muestre|explica|explique|traduce|traduzca|resume|resuma|cita|cite|firma|firme|revisa|revise"
    r"|verifica|verifique|comprueba|avisa|avise|habla|hable|guarda|guarde|redondea|haz|haga|confirma|confirme|consulta"
    r"|consulte|lee|lea|mantén|mantenga|evita|evite|elige|elija|busca|busque|espera|espere"
    r"|(?:haz|pon|di|da)(?:me|lo|la|los|las|le|nos)|\w*[áéíóú]\w*(?:me|nos|lo|la|los|las|le|les))"
)
NEGATED: Final = (
    r"(?:"
    r"uses?|utilices?|llames?|escribas?|incluyas?|envíes?|mandes?|reserves?|compres?|menciones?|compartas?|borres?|hagas?"
    r"|digas?|pongas?|respondas?|contestes?|añadas?|agregues?|traduzcas?|cambies?|toques?|abras?|cierres?|preguntes?|pidas?"
    r"|hables?|muestres?|expliques?|publiques?|subas?|instales?|modifiques?|elimines?|despiertes?|repitas?|resumas?|cuentes?"
    r"|des"
    r")"
)
"""Verbs that open an order to an assistant, and those that forbid."""

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
        pattern=r"^(?:por favor,? )?(?:no \w+ )?(?:nunca|jamás|siempre) (?!llega\b|está|es\b|son\b|dice|hace\b|parece|olvida|llueve|pasa|he\b|ha\b|hemos|había|fui|vi\b|me\b|tengo|estoy)\w|^no (?:\w+)(?:es|as|en|an) (?:nunca|jamás)\b|@por favor\b.*\b(?:siempre|nunca|jamás)\b",
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
    StatementRule(
        kind="constraint",
        cues="siempre",
        pattern=rf"^(?:(?:y|pero|entonces|sí|no|ok|vale|por favor),? )*{_ORDER} (?:[\w-]+ ){{0,4}}?siempre\b(?! (?:de|tarde|igual|que)\b)",
        example="Responde siempre en español.",
        counter="Habla siempre de fútbol.",
    ),
    StatementRule(
        kind="constraint",
        cues="no",
        pattern=rf"^(?:(?:y|pero|entonces|ok|vale|por favor),? )*no (?:(?:me|nos|le|les|lo|la|los|las|se|te) )*(?<!no me (?=digas))(?:{NEGATED})\b",
        example="No uses abreviaturas.",
        counter="No me digas eso.",
    ),
    StatementRule(
        kind="constraint",
        cues="que",
        needles="siempre|nunca|quiero|queremos|gustaría|necesito|prefiero",
        pattern=rf"@(?:quiero|queremos|necesito|prefiero|me gustaría) que (?:tú |usted )?(?:(?:siempre|nunca|solo) (?!he\b|ha\b)\w|(?:no )?(?:(?:me|nos|le|lo|la) )*{NEGATED}\b)",
        example="Quiero que siempre respondas en español.",
        counter="Quiero que siempre ha sido así.",
    ),
    StatementRule(
        kind="constraint",
        cues="debes tienes debe",
        needles="siempre|nunca",
        pattern=r"@(?:debes|tienes que|usted debe|debe usted) (?:\w+ )?(?:siempre|nunca)\b|@(?:siempre|nunca) (?:debes|tienes que)\b",
        example="Debes siempre citar la fuente.",
    ),
    StatementRule(
        kind="constraint",
        cues="cuando vez",
        pattern=rf"^cuando (?:yo )?(?:te|le|os) \w[^?,]{{2,80}}, (?:por favor,? )?{_ORDER}\b|^cada vez que [^?,]{{3,80}}, (?:por favor,? )?{_ORDER}\b",
        example="Cada vez que te mande un recibo, añádelo.",
    ),
    StatementRule(
        kind="constraint",
        cues="siempre",
        needles="por favor",
        pattern=r"@siempre\b.*\bpor favor\b",
        example="Incluye siempre el precio, por favor.",
    ),
    StatementRule(
        kind="identity",
        cues="alérgico alérgica alérgicos celíaco celíaca diabético diabética intolerante vegano vegana vegetariano vegetariana alergia",
        pattern=r"@(?:soy|somos|es|son) (?:\w+ ){0,2}?(?:alérgic[oa]s?|celíac[oa]s?|diabétic[oa]s?)\b|@soy (?:vegan[oa]|vegetarian[oa]|intolerante)\b|@(?:tengo|tiene) (?:\w+ ){0,2}?alergia\b",
        example="Mi hija es alérgica al huevo.",
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
