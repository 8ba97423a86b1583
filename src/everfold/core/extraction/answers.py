"""Bare answers: "Peanuts." to "What is your allergy?" says something only together with its question.

Strict: one direct question about the user that ends what the assistant said, and nothing but a short answer without a verb
of its own. Yes and no, choices between two things and what only agrees are left to a model.

Source: own rules; DESIGN section 4, "Extraction".
"""

import re
from collections.abc import Sequence
from typing import Final

from everfold.core.clauses.assertions import expand, read_assertion
from everfold.core.log.messages import Message
from everfold.core.statements.telling import is_answer

ANSWER_CHARS: Final = 80
"""The longest bare answer. Source: own choice, a dozen words."""
_QUESTION_CHARS: Final = 140
_LAST_QUESTION: Final = re.compile(r"[^.!?\n:;]*\?\s*$")
_WH: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|great|thanks|thank you|noted|got it|und|et|y|e|en)\b,? )*(?:what(?:'s)?|which|where|when|who|whose|how (?:old|tall|many|much|long|often|far)"
    r"|was|welche\w*|wo|wann|wer|wie (?:alt|groß|viele|lange|heißt|lautet)|quel\w*|où|quand|qui|combien|cuál\w*|qué|dónde|cuándo|quién|cuánt\w*|quale?|qual|dove|quando|chi|quant\w*|wat|welke|waar|wanneer|wie)\b",
    re.IGNORECASE,
)
_YOU: Final = re.compile(
    r"\b(?:you|your|yours|you're|you've|du|dich|dein\w*|sie|ihr\w*|ihnen|tu|ton|ta|tes|vous|votre|vos|tus|te|usted|tuo|tua|suo|sua|lei|jij|je|jouw|uw|você|seu)\b",
    re.IGNORECASE,
)
_NOT_DIRECT: Final = re.compile(
    r"\b(?:or|oder|ou|o|of)\b|\b(?:and|und|et)\b.*\b(?:what|which|where|when|who|how|was|wo|wann|où|quand)\b|\b(?:do you (?:think|want me|mean)|would you (?:like me|say|rather)|should|shall|can i|may i|if you)\b",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"^(?:no|none|nothing|never|nowhere|nobody|not|why|what|who|where|when|how|skip|pass|later|private|secret|whatever|any|depends|nein|nichts|keine?|non|rien|nada|niente|niets)\b",
    re.IGNORECASE,
)


def find_question(asked: Message, answer: str) -> tuple[int, str] | None:
    """The question of the assistant's that a bare answer answers, with its place in the message; None for anything else.

    Args:
        asked: What was said just before.
        answer: All that the user says.
    """
    text = asked.view.text
    found = _LAST_QUESTION.search(text)
    if found is None or text.count("?") != 1 or not _is_bare(answer):
        return None
    question = found[0].strip()
    is_direct = _WH.match(question) and _YOU.search(question) and not _NOT_DIRECT.search(question)
    if not is_direct or len(question) > _QUESTION_CHARS or not is_answer(answer, before=text):
        return None
    return text.rindex(question), question


def join_answer(question: str, answer: str) -> str:
    """The statement that question and answer make together."""
    return f'Asked "{question}", the user answered "{answer}"'


def is_said_by(statement: str, quotes: Sequence[str]) -> bool:
    """Whether quotes, some of those of a statement, still say it; of a joined one the question alone does not."""
    return any(not statement.startswith(f'Asked "{quote}", ') for quote in quotes)


def _is_bare(answer: str) -> bool:
    if not answer or len(answer) > ANSWER_CHARS or "\n" in answer or "?" in answer or _REFUSAL.match(answer):
        return False
    read = read_assertion(expand(answer))
    return read.verb_at < 0 and not read.is_first and bool(read.content)
