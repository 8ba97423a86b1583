"""What the first page of the dashboard shows. Its cost does not grow with the log: figures of days, and short lists."""

from datetime import timedelta
from typing import Final

from everfold.server.routing import Fields
from everfold.server.runtime import Runtime

DAYS: Final = 30
MOST_SESSIONS: Final = 8
MOST_FAILED: Final = 5


async def show_home(runtime: Runtime) -> Fields:
    """All of it."""
    admin, now = runtime.engine.admin, runtime.clock.now()
    counts = await admin.count_work()
    days = await admin.list_activity(since=now.date() - timedelta(days=DAYS - 1))
    return {
        "users_count": counts.users_count,
        "sessions_count": counts.sessions_count,
        "total": await admin.sum_activity(),
        "days": days,
        "prices": runtime.settings.prices,
        "pending_count": sum(count for _, count in counts.waiting),
        "oldest_pending_secs": counts.oldest_secs(now),
        "failed_count": counts.degraded_count,
        "failed": await admin.degraded(limit=MOST_FAILED),
        "sessions": await admin.browse_sessions(limit=MOST_SESSIONS, words=True),
    }
