"""Try a source: ask it once, now, and show what a model would see of it. Nothing is stored.

Source: REQUIREMENTS OF-66, OF-67; DESIGN section 3.5.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime

from everfold.core.sources.refreshing import Answer, Question, cut_answer, show_answer
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import SourceUnavailableError
from everfold.ports.sources import ContextSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a source said when it was tried.

    Attributes:
        shown: What a model would see, the line of the refresh and the fence included; empty where nothing was said.
        tokens: What its answer costs, before it is cut and without the fence.
        is_cut: The answer was longer than its budget.
    """

    question: Question
    shown: str
    tokens: int
    is_cut: bool
    elapsed_secs: float


async def try_source(source: ContextSource, question: Question, *, at: datetime, timeout_secs: float) -> Tried:
    """Ask one source, and let go of it.

    Args:
        source: The source; it is closed at the end.
        question: What it is asked.
        at: The moment that the line over its answer names.
        timeout_secs: How long it may take.

    Raises:
        SourceError: it has no answer to give.
        SourceUnavailableError: it could not be reached, or took too long.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        async with asyncio.timeout(timeout_secs):
            text = await source.summary(
                question.prompt, from_at=question.from_at, to_at=question.to_at, budget_tokens=question.budget_tokens
            )
    except TimeoutError as error:
        raise SourceUnavailableError(
            f"the source {source.name} did not answer within {timeout_secs:g} seconds; make it faster, or raise "
            "compaction.source_timeout_secs",
            source=source.name,
        ) from error
    finally:
        await source.close()
    answer = Answer(question=question, text=text)
    return Tried(
        question=question,
        shown=show_answer(answer, at=at, key=source.name) if text.strip() else "",
        tokens=estimate_text_tokens(text),
        is_cut=cut_answer(text, question.budget_tokens) != text.strip(),
        elapsed_secs=loop.time() - begun,
    )
