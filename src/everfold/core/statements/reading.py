"""Reading: the way of a message's text to its extract lines.

A text is cut into segments (sentences of prose, lines of a log, runs of JSON); each is classified by its words, then
read for what it holds, then scored by both; the best become lines. Every step is a file that receives what the one
before gives: `segments`; `sentences` or `rows`; `signals`; `scoring`; `selection`. What a user's message holds of others'
words (`others`) is cut out first: its lines are of external origin, and bind nothing. Of a long text only the beginning
and the end are read, so the cost of a message is bounded.

Source: DESIGN G3, 3.4; issue of the lossless core, item 3.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.objects import join_objects
from everfold.core.statements.others import LEAD_CHARS, PASTE_CHARS, blank_mentions, find_others, part_segments
from everfold.core.statements.rows import classify_rows, list_outcomes
from everfold.core.statements.scoring import Scored, score_rows, score_sentences
from everfold.core.statements.segments import Segment, Span, cut_segments, lower_text
from everfold.core.statements.selection import (
    SURE_ROWS,
    fit_quotes,
    move_tail,
    select_best,
    thin_table,
)
from everfold.core.statements.sentences import classify_sentences
from everfold.core.statements.signals import find_row_signals, find_sentence_signals
from everfold.core.statements.wide_statements import has_wide_script

SCAN_CHARS: Final = 20_000
"""Of a text longer than twice this only so much of its beginning and so much of its end is read."""


def find_extract_lines(
    text: str, *, seq: int, origin: Origin, is_result: bool, said_at: datetime, attached: Sequence[Span] = ()
) -> tuple[ExtractLine, ...]:
    """The extract lines of one message's text, in the order of the text; none only where what is read of it is blank.

    At most 12, for a long text up to 24. O(len(text)) up to twice `SCAN_CHARS`, bounded above. `attached` are spans of a
    user's text that are documents.
    """
    length = len(text)
    is_long = length > 2 * SCAN_CHARS
    read = text[:SCAN_CHARS] + text[-SCAN_CHARS:] if is_long else text
    if not read or read.isspace():
        return ()
    is_output = is_result or origin == "tool"
    lowered = lower_text(read)
    segments = cut_segments(read, lowered, SCAN_CHARS if is_long else length, is_output=is_output)
    if is_output:
        scored = _score_output(lowered, segments, len(read))
    elif origin == "user":
        reach = LEAD_CHARS if length > PASTE_CHARS else length
        said = blank_mentions(read[:reach], lowered[:reach]) + lowered[reach:]
        scored = _score_said(read, segments, lowered, said, find_others(read, attached=attached))
    else:
        scored = _score_talk(segments, lowered, blank_mentions(read, lowered), from_user=False)
    scored = fit_quotes(read, scored)
    if is_long:
        scored = move_tail(scored, SCAN_CHARS, length - len(read))
    return tuple(
        [
            ExtractLine(
                seq,
                "external" if is_foreign else origin,
                kind,
                score,
                text[start:end],
                start,
                standing,
                said_at,
                lasting,
            )
            for score, start, end, _, kind, standing, lasting, is_foreign in select_best(scored, length)
        ]
    )


def _score_said(
    text: str, segments: Sequence[Segment], lowered: str, said: str, others: Sequence[Span]
) -> list[Scored]:
    """What a user says scored as the user's, what it holds of others' words as a machine's."""
    if not others and said == lowered:
        return join_objects(text, lowered, said, _score_talk(segments, lowered, said, from_user=True))
    own, foreign = part_segments(segments, others, said)
    scored = [
        one._replace(is_foreign=True, lasting=False) for one in _score_talk(foreign, lowered, said, from_user=False)
    ]
    joined = join_objects(text, lowered, said, _score_talk(own, lowered, said, from_user=True))
    return sorted([*joined, *scored], key=lambda one: one.start)


def _score_talk(segments: Sequence[Segment], lowered: str, said: str, *, from_user: bool) -> list[Scored]:
    """The segments of what a person or a program said, scored; `said` is all of the text without what it quotes."""
    sentences = classify_sentences(lowered, said, segments, from_user=from_user, is_wide=has_wide_script(lowered))
    return score_sentences(sentences, find_sentence_signals(sentences), from_user=from_user)


def _score_output(lowered: str, segments: Sequence[Segment], length: int) -> list[Scored]:
    """The segments of an output scored, those of a table thinned before they are read."""
    outcomes = list_outcomes(lowered)
    head = classify_rows(segments[:SURE_ROWS], outcomes)
    signals = find_row_signals(head)
    rest = classify_rows(thin_table(segments[SURE_ROWS:], signals, outcomes, length), outcomes)
    return score_rows([*head, *rest], [*signals, *find_row_signals(rest)])
