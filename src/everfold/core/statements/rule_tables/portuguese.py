"""Rules of statements: Portuguese. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

_ORDER: Final = (
    r"(?:"
    r"responda|escreva|use|utilize|inclua|indique|adicione|acrescente|envie|mande|pergunte|ligue|reserve|compre|peça|mostre"
    r"|explique|traduza|resuma|cite|assine|verifique|avise|fale|coloque|ponha|dê|diga|faça|mantenha|arredonde|comece|confirme"
    r"|consulte|leia|evite|escolha|espere|guarde|chame|trate|apague|altere|mencione|compartilhe|partilhe|publique|repita"
    r")"
)
"""Verbs that open an order to an assistant, as an order has them."""

RULES: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="remember",
        cues="lembra lembre-se esqueças esqueça",
        pattern=r"{open}(?:lembra(?:-te)?|lembre-se)\b|@não (?:se |te )?esqueças?\b",
        example="Não se esqueça de que a loja fecha às seis.",
    ),
    StatementRule(
        kind="correction",
        cues="enganei",
        pattern=r"@me enganei\b",
        example="Desculpa, me enganei no endereço.",
    ),
    StatementRule(
        kind="decision",
        cues="decidi",
        pattern=r"^decidi\b",
        example="Decidi ficar com o emprego.",
    ),
    StatementRule(
        kind="constraint",
        cues="mais",
        needles="mais de",
        pattern=r"@não (?:[\w']+ ){0,5}?mais de \W?\d",
        example="Não gaste mais de 30 euros.",
    ),
    StatementRule(
        kind="constraint",
        cues="quero queremos pode podem deve devem tem",
        needles="não |ser ",
        pattern=r"@não (?:quero|queremos) (?!dizer|saber|incomodar)\w|@não (?:pode|podem|deve|devem) (?:ser|ter|estar|passar|custar) (?!verdade)\w|@(?:tem que|têm que|deve|devem) ser \w",
        example="Não quero quarto com carpete.",
        counter="Não quero incomodar.",
    ),
    StatementRule(
        kind="identity",
        cues="chamo nome",
        pattern=r"@me chamo \w|@(?:o )?meu nome é \w",
        example="Me chamo Ana Souza.",
    ),
    StatementRule(
        kind="preference",
        cues="prefiro gosto",
        pattern=r"@prefiro\b|@gosto de\b",
        example="Prefiro o quarto com varanda.",
    ),
    StatementRule(
        kind="need",
        cues="preciso",
        pattern=r"@preciso (?:de )?\w+r\b",
        example="Preciso renovar o passaporte.",
    ),
    StatementRule(
        kind="constraint",
        cues="sempre",
        pattern=rf"^(?:(?:e|mas|então|sim|não|ok|por favor),? )*(?:{_ORDER}(?:-\w+)? (?:[\w-]+ ){{0,4}}?sempre\b|sempre {_ORDER}\b)",
        example="Responda sempre em português.",
    ),
    StatementRule(
        kind="constraint",
        cues="não",
        pattern=rf"^(?:(?:e|mas|então|ok|por favor),? )*não (?!me diga[.!]*$)(?:(?:me|nos|lhe|o|a|os|as) )?{_ORDER}m?\b(?! que\b)",
        example="Não use abreviaturas.",
        counter="Não diga que acabou!",
    ),
    StatementRule(
        kind="constraint",
        cues="que",
        pattern=rf"@(?:quero|queremos|gostaria|prefiro) que (?:você |tu )?(?:sempre |nunca |só )?(?:(?:me|nos) )?{_ORDER}s?\b",
        example="Quero que você responda em duas frases.",
    ),
    StatementRule(
        kind="constraint",
        cues="deve deves tem tens",
        needles="sempre",
        pattern=r"@(?:você|tu) (?:deve|deves|tem que|tem de|tens de) sempre\b",
        example="Você deve sempre citar a fonte.",
    ),
    StatementRule(
        kind="constraint",
        cues="quando sempre vez",
        pattern=rf"^(?:quando eu|sempre que|toda vez que|cada vez que) [^?,]{{3,80}}, (?:por favor,? )?{_ORDER}\b",
        example="Sempre que eu enviar um recibo, adicione-o.",
    ),
    StatementRule(
        kind="identity",
        cues="alérgico alérgica celíaco celíaca diabético diabética intolerante vegano vegana vegetariano vegetariana alergia",
        pattern=r"@(?:sou|é|são|somos) (?:\w+ ){0,2}?(?:alérgic[oa]s?|celíac[oa]s?|diabétic[oa]s?|intolerante)\b|@sou (?:vegan[oa]|vegetarian[oa])\b|@(?:tenho|tem) (?:\w+ ){0,2}?alergia\b",
        example="Sou alérgico a amendoim.",
    ),
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="sempre nunca",
        pattern=r"^(?:poderia|pode)\b.*\b(?:sempre|nunca)\b",
        example="Pode responder sempre em português?",
    ),
)
