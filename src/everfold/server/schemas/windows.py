"""Windows over HTTP: what the model is shown, what is in it and why, and what compacting and refreshing come to."""

from typing import Annotated, NamedTuple

from pydantic import Field, SkipValidation

from everfold.core.compaction.folding import CompactionReport, Digest, Fold
from everfold.core.digests.standing import LeftOut
from everfold.core.log.budget import UsableBudget
from everfold.core.observation.events import SourceAsked
from everfold.core.windows.entries import Slice
from everfold.core.windows.parts import WindowPart, list_parts
from everfold.core.windows.rendering import Provider
from everfold.core.windows.reports import CacheBreakPlace
from everfold.core.windows.window import Window
from everfold.server.schemas.schema import Given, many, project, wrap
from everfold.services.compaction.refresh import Refreshed
from everfold.services.inspection.inspect_session import Standing


class AskedWindow(Given):
    """For what a window is asked."""

    limit: int | None = Field(default=None, ge=1, description="A lower context limit, for this call.", examples=[None])
    suffix: str | None = Field(
        default=None, description="Text for the end of this request only; never stored.", examples=["It is Monday."]
    )
    require_complete: bool = Field(default=False, description="Refuse while a step waits for results.")
    provider: Provider = Field(default="openai", description="Whose form the request is in.")
    parts: bool = Field(default=True, description="Also give it part by part; a turn that only sends it needs none.")


class AskedCompaction(Given):
    """How to compact."""

    keep_recent: int | None = Field(
        default=None, ge=1, description="How many of the newest messages stay as they are.", examples=[6]
    )
    focus: str | None = Field(default=None, description="What the digest should focus on.", examples=["amounts"])
    dry_run: bool = Field(default=False, description="Write nothing: give what would be done.")


class SliceTokens(NamedTuple):
    """A share of the usable budget."""

    name: Slice
    tokens: int
    limit_tokens: int | None


class ShownWindow(NamedTuple):
    """What the model is shown next."""

    window: Window
    standing: Standing
    asked: AskedWindow


def list_slices(standing: Standing) -> list[SliceTokens]:
    """The slices of a window, each with its bound; None where it has none of its own."""
    budget: UsableBudget = standing.budget
    bounds: dict[Slice, int] = {
        "head": budget.message_cap_tokens,
        "kept": budget.kept_tokens,
        "digest": budget.digest_tokens,
        "standing": budget.standing_tokens,
        "snapshot": budget.snapshot_tokens,
        "suffix": budget.most_suffix_tokens,
    }
    return [SliceTokens(name, tokens, bounds.get(name)) for name, tokens in standing.report.by_slice.items()]


_MESSAGES = {"messages": [{"role": "user", "content": [{"type": "text", "text": "My locker is number 12."}]}]}

SliceSchema = project(
    "Slice",
    SliceTokens,
    "name tokens limit_tokens",
    words={"limit_tokens": "Its bound; null where it has none of its own."},
)
CacheBreakPlaceSchema = project("CacheBreakPlace", CacheBreakPlace, "reason resent_tokens")
LeftOutSchema = project("LeftOut", LeftOut, "count first_seq last_seq")
ReportSchema = project(
    "WindowReport",
    Standing,
    "limit_tokens=report.limit_tokens budget_tokens=report.budget_tokens usable_tokens=report.usable_tokens "
    "fixed_tokens=report.fixed_tokens answer_tokens=budget.answer_tokens trigger_tokens=budget.trigger_tokens "
    "target_tokens=budget.target_tokens hard_limit_tokens=budget.hard_limit_tokens tokens=report.tokens slices "
    "calibration=calibration.factor cache_breaks=report.cache_breaks message_count=report.message_count "
    "digest_count=report.digest_count compacted_through=report.compacted_through last_seq=report.last_seq "
    "withheld_seqs=report.withheld_seqs standing_left_out=report.standing_left_out full_slices=report.full_slices "
    "memory=report.memory",
    "What is in a window and why. Tokens are the provider's: the estimate times the calibration.",
    cache_breaks=CacheBreakPlaceSchema,
    standing_left_out=LeftOutSchema,
    slices=(many(SliceSchema), list_slices, "Its parts, with their bounds."),
)
WindowPartSchema = project(
    "WindowPart", WindowPart, "kind=slice first_seq last_seq tokens text is_cached compaction_id"
)
WindowSchema = project(
    "Window",
    ShownWindow,
    "report=standing parts request",
    words={"report": "What is in it and why."},
    report=ReportSchema,
    parts=(
        many(WindowPartSchema),
        lambda shown: list_parts(shown.window) if shown.asked.parts else [],
        "Empty where they were not asked for.",
    ),
    request=(
        Annotated[dict[str, object], SkipValidation, Field(examples=[_MESSAGES])],
        lambda shown: shown.window.render(shown.asked.provider),
        "Exactly as it would be sent: `messages`, with `system` (Anthropic) and `tools` where there are any.",
    ),
)
CompactionReportSchema = project(
    "CompactionReport",
    CompactionReport,
    "trigger first_seq last_seq kept_count folded_count folded_later_count joined_through tokens_before tokens_after own_digest_tokens "
    "rollup_tokens standing_tokens cache_break_after_tokens resent_tokens",
)
DigestSchema = project(
    "Digest",
    Digest,
    "id compaction_id kind maker=generator first_seq last_seq tokens text read_seqs=reads",
    words={
        "kind": "`digest`: of one compaction; `rollup`: of older ranges together.",
        "maker": "`abstractive`: a model wrote it.",
        "text": "The text that is shown instead of the messages.",
    },
)
FoldSchema = project(
    "Fold",
    Fold,
    "compaction_id=certificate.compaction_id report digests",
    "What one compaction did, or would do.",
    report=CompactionReportSchema,
    digests=DigestSchema,
)
FoldsSchema = wrap(
    "Folds", "What compacting came to.", folds=(many(FoldSchema), "Empty where there was nothing to fold.")
)
AskedSourceSchema = project(
    "AskedSource",
    SourceAsked,
    "source outcome tokens elapsed_secs problem=error_name",
    "What became of one context source.",
)
RefreshedSchema = project(
    "Refreshed",
    Refreshed,
    "seq tokens skipped sources=asked",
    sources=AskedSourceSchema,
    words={"seq": "The message that carries what was said; null for none."},
)
