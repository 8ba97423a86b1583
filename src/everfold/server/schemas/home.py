"""The first page of the dashboard, over HTTP."""

from everfold.core.observation.activity import FIGURES, Activity, DayActivity
from everfold.sections import PricesSettings
from everfold.server.schemas.schema import many, project, wrap
from everfold.server.schemas.sessions import SessionSchema
from everfold.server.schemas.system import OpenCompactionSchema

ActivitySchema = project(
    "Activity", Activity, " ".join(FIGURES), words={"compactions_count": "Compactions that took effect."}
)
DayActivitySchema = project(
    "DayActivity",
    DayActivity,
    "day",
    "What happened on one day (UTC).",
    base=ActivitySchema,
    at="activity",
    day=(str, lambda one: one.day.isoformat(), "As `2031-05-01`."),
)
PricesSchema = project(
    "Prices",
    PricesSettings,
    "input_usd cached_usd",
    "What a million input tokens cost, as the settings say; null where they do not.",
    input_usd=(float | None, lambda prices: prices.input_usd, "Read anew."),
    cached_usd=(float | None, lambda prices: prices.known_cached_usd, "From the provider's cache."),
)
HomeSchema = wrap(
    "Home",
    "What is stored, what happened lately, and what waits for a person. No figure is counted from the log.",
    users_count=int,
    sessions_count=int,
    total=(ActivitySchema, "All days together."),
    days=(many(DayActivitySchema), "The last 30 days that have figures, rising."),
    prices=PricesSchema,
    pending_count=(int, "Compactions that have not ended."),
    oldest_pending_secs=(float, "For how long the oldest of them has waited."),
    failed_count=(int, "Compactions whose digest failed for good."),
    failed=(many(OpenCompactionSchema), "The newest of them, at most 5."),
    sessions=(many(SessionSchema), "The newest, at most 8, with title and preview."),
)
