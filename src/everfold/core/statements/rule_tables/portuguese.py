"""Rules of statements: Portuguese. What a row holds is said in `statements/kinds.py`."""

from typing import Final

from everfold.core.statements.kinds import StatementRule

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
)

QUESTIONS: Final[tuple[StatementRule, ...]] = (
    StatementRule(
        kind="constraint",
        cues="sempre nunca",
        pattern=r"^(?:poderia|pode)\b.*\b(?:sempre|nunca)\b",
        example="Pode responder sempre em português?",
    ),
)
