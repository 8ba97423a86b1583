"""The system as a whole, over HTTP."""

from datetime import datetime

from everfold.core.compaction.record import Compaction
from everfold.core.observation.overview import Spend
from everfold.sections import RecoverySettings
from everfold.server.schemas.schema import many, project, wrap

OpenCompactionSchema = project(
    "OpenCompaction",
    Compaction,
    "id session_id ordinal state trigger first_seq=plan.first_seq last_seq=plan.last_seq begun_at attempts problem",
    "A compaction that waits or failed.",
    state=(str, lambda compaction: compaction.state, ""),
    trigger=(str, lambda compaction: compaction.plan.trigger, "Why it was begun."),
)
ModelSpendSchema = project(
    "ModelSpend",
    Spend,
    "model purpose calls_count input_tokens cached_tokens output_tokens cost_usd uncounted_count",
    purpose=(str, lambda spend: spend.purpose, ""),
)
CompactionsOverviewSchema = wrap(
    "CompactionsOverview",
    "What waits, and what failed for good.",
    counts=(dict[str, int], "Compactions that have not ended, by state, and `degraded`, and `all`."),
    oldest_pending_secs=(float, "For how long the oldest has waited; 0 where none waits."),
    waiting=(many(OpenCompactionSchema), "Oldest first."),
    failed=(many(OpenCompactionSchema), "Degraded ones, newest first; a person may retry them."),
)
RecoveryOverviewSchema = project(
    "RecoveryOverview",
    RecoverySettings,
    "grace_secs lookback_secs attempts every_secs",
    words={
        "grace_secs": "How long a failed compaction waits for its next attempt.",
        "lookback_secs": "Older compactions are left to a person.",
        "attempts": "How often a compaction is tried.",
        "every_secs": "How often to look.",
    },
)
SpendOverviewSchema = wrap(
    "SpendOverview",
    "What models cost since midnight UTC.",
    today_usd=float,
    per_day_usd=(float | None, "The cap; null for none."),
    per_compaction_usd=(float | None, "The cap of one compaction; null for none."),
    by_model=many(ModelSpendSchema),
)
SettingLineSchema = wrap(
    "SettingLine",
    "One setting.",
    key=(str, "Its name, section first."),
    value=(object, "As the settings file would have it."),
    **{"from": (str, "argument, environment, file or default.")},
)
SystemSchema = wrap(
    "System",
    "How the system is.",
    version=(str, "Of the server."),
    started_at=datetime,
    store=(str, "What kind of store, and its file's name."),
    users_count=int,
    sessions_count=int,
    compactions=CompactionsOverviewSchema,
    recovery=RecoveryOverviewSchema,
    spend=SpendOverviewSchema,
    settings=many(SettingLineSchema),
)
