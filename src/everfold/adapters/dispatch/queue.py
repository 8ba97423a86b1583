"""Jobs in PostgreSQL, for the workers of every process: Procrastinate's tables in a schema of their own.

Theory of operation. The tables of Everfold say what is to be done, and leases who does it; a queued job only says where to
look. A job waits once for each name, jobs of one session run one after the other, and one that has ended is deleted. The
job of a worker that was killed holds its session until a worker finds that the dead one gives no sign of life, and has it
done again. A worker whose connection was cut may have fetched a job without knowing, or not have said that one has ended:
each has those done again that are its own and that it does not do. A job that is lost all the same is found by recovery, in Everfold's own tables.

Source: docs/adr/0036-workers.md; Procrastinate's documentation of locks, queueing locks and stalled jobs.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import resources
from typing import Final

import psycopg
from procrastinate import App, JobContext, PsycopgConnector, exceptions
from procrastinate.connector import BaseConnector
from procrastinate.jobs import Job as QueuedJob
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.schema import SchemaManager
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import InsufficientPrivilege, LockNotAvailable, QueryCanceled, RaiseException
from psycopg.rows import TupleRow
from psycopg_pool import PoolTimeout

from everfold.adapters.postgres.connections import add_options, add_parameters
from everfold.core.threats.hiding import hide_in_addresses
from everfold.errors import StoreError, StoreUnavailableError
from everfold.ports.dispatch import DoJob, OnError
from everfold.ports.jobs import (
    AttemptCompaction,
    DreamPair,
    DreamRange,
    EmbedUser,
    ExtractSession,
    Job,
    RefreshSession,
    WakeSession,
)

SCHEMA: Final = "everfold_jobs"
"""Where the tables of the queue are."""

QUEUED: Final = (WakeSession, AttemptCompaction, RefreshSession, ExtractSession, DreamPair, DreamRange)
"""The jobs that are left to workers. What an append or a window sets off each time, vectors and settled cache breaks, is
done by the process of the turn."""

_MIGRATING_KEY: Final = 0x45564A51
"""The lock under which the tables are made: `EVJQ`."""

MOST_CONNECTIONS: Final = 4
"""How many connections one process has at most besides the one that listens. Source: own choice; a job takes one for a
moment at its beginning and its end."""

LOOK_SECS: Final = 1.0
"""How often a worker looks for a job that it was not notified of: one that waited for another of its session, or that is
done again. Source: own choice; one query on an index, where Procrastinate's own default is 5 seconds."""

FINISH_SECS: Final = 60.0
"""For how long the end of a job is written again while another transaction holds the table. Source: own choice; many times
the limit of one statement, and a job that has ended is not done again for a change of the table."""

_MIGRATIONS: Final = "procrastinate.sql.migrations"
_DONE_TABLE: Final = "CREATE TABLE everfold_migrations (name TEXT PRIMARY KEY)"
"""Which of Procrastinate's migrations the tables have."""


class JobQueue:
    """The queue of one database. Get one from `open_queue`.

    Args:
        app: Procrastinate's, open.
        path: The database's name, without what is secret.
        on_error: Told of a job that failed; what it was about is still in the store.
    """

    def __init__(self, app: App, path: str, on_error: OnError) -> None:
        self._app = app
        self._path = path
        self._on_error = on_error
        self._do: DoJob | None = None
        self._told: dict[str, str] = {}
        self._running: set[int] = set()
        self._lost: set[int] = set()
        self._manager = app.job_manager = _Manager(app.connector)
        for kind in QUEUED:
            self._register(kind)

    def _register(self, kind: type[Job]) -> None:
        async def run(context: JobContext, /, **values: object) -> None:
            job_id = context.job.id or 0
            self._running.add(job_id)
            try:
                await self._try(kind(**values))  # type: ignore[arg-type]  # as they were deferred
            finally:
                self._running.discard(job_id)

        self._app.task(name=_name_task(kind), pass_context=True, retry=_WhatWasStopped())(run)

    async def _try(self, job: Job) -> None:
        if self._do is None:
            raise RuntimeError("a job was fetched before the queue was told who does jobs")
        try:
            await self._do(job)
        except Exception as error:  # noqa: BLE001 - a task's outermost frame: told, and found again by recovery
            self._on_error(job.name, error)

    async def defer(self, job: Job) -> None:
        """Leave a job to the workers, unless one of its name waits already.

        Raises:
            StoreUnavailableError: the database does not serve.
        """
        values = {name: value for name, value in asdict(job).items() if name != "kind"}
        place = _name_place(job)
        deferrer = self._app.configure_task(_name_task(type(job)), lock=_find_lock(job), queueing_lock=place)
        manager = self._app.job_manager
        with self._translated(), suppress(exceptions.AlreadyEnqueued):
            # Asked first, since a refusal is an error in the server's log, and windows defer what is due again and again.
            if not list(await manager.list_jobs_async(queueing_lock=place, status="todo")):
                await deferrer.defer_async(**values)

    async def work(self, do: DoJob, *, concurrency: int, heartbeat_secs: float, drain_secs: float) -> None:
        """Do jobs until cancelled; what runs then is finished, for so long at most.

        A worker is taken for dead after it has given no sign of life three times, and its jobs are done again. Where the
        database does not serve, it is tried again after as long as a heartbeat.
        """
        self._do = do
        before_count = _count_cancellations()
        rescuing = asyncio.create_task(self._rescue_forever(heartbeat_secs), name="everfold rescue")
        try:
            while True:
                with self._telling("worker"), self._translated():  # a lost database ends a worker, and comes back
                    await self._app.run_worker_async(
                        concurrency=concurrency,
                        fetch_job_polling_interval=min(LOOK_SECS, heartbeat_secs),
                        install_signal_handlers=False,
                        delete_jobs="always",
                        update_heartbeat_interval=heartbeat_secs,
                        stalled_worker_timeout=3 * heartbeat_secs,
                        shutdown_graceful_timeout=drain_secs,
                    )
                self._manager.is_registered = False
                # A worker that ends for an error raises that in place of the cancellation that it met.
                if _count_cancellations() > before_count:
                    raise asyncio.CancelledError
                await asyncio.sleep(heartbeat_secs)
        finally:
            rescuing.cancel()
            await asyncio.wait([rescuing])

    async def _rescue_forever(self, heartbeat_secs: float) -> None:
        while True:
            with self._telling("rescue"):  # asked again the next time
                await self.rescue(silent_secs=3 * heartbeat_secs)
            await asyncio.sleep(heartbeat_secs)

    @contextmanager
    def _telling(self, name: str) -> Iterator[None]:
        """Within it, a database that does not serve is told of when that begins and when the reason changes, not raised."""
        try:
            yield
        except StoreError as error:
            if self._told.get(name) != str(error):
                self._on_error(name, error)
            self._told[name] = str(error)
        else:
            self._told.pop(name, None)

    async def rescue(self, *, silent_secs: float) -> int:
        """Have the jobs of dead workers, and lost ones of our own, done again, which lets go of their sessions.

        Gives how many there were. A job of our own is lost where it is not done twice in a row: it may just begin or end.

        Raises:
            StoreUnavailableError: the database does not serve.
        """
        manager = self._app.job_manager
        with self._translated():
            stalled = list(await manager.get_stalled_jobs(seconds_since_heartbeat=silent_secs))
            found = [*stalled, *await self._find_lost()]
            for job in found:
                await self._retry(job)
        return len(found)

    async def _find_lost(self) -> list[QueuedJob]:
        owned = [
            job
            for worker_id in self._manager.worker_ids
            for job in await self._manager.list_jobs_async(status="doing", worker_id=worker_id)
        ]
        idle = {job.id for job in owned if job.id is not None} - self._running - self._manager.finishing
        lost = [job for job in owned if job.id in idle & self._lost]
        self._lost = idle
        return lost

    async def _retry(self, job: QueuedJob) -> None:
        """Have a job wait again, unless it has ended; one of its name that waits already does its work as well."""
        manager = self._app.job_manager
        try:
            with _passing_over_ended():
                await manager.retry_job(job)
        except exceptions.UniqueViolation:
            await manager.finish_job(job, status=Status.FAILED, delete_job=True)

    @property
    def is_working(self) -> bool:
        """Whether the database knows this process as a worker."""
        return self._manager.is_registered

    async def count(self) -> dict[str, int]:
        """How many jobs there are, by what becomes of them: `todo`, `doing`.

        Raises:
            StoreUnavailableError: the database does not serve.
        """
        with self._translated():
            queues = await self._app.job_manager.list_queues_async()
        return {state: sum(queue[state] for queue in queues) for state in ("todo", "doing")}

    async def close(self) -> None:
        """Close every connection."""
        await self._app.close_async()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Within it, what the driver and the queue raise becomes our error."""
        try:
            yield
        except (exceptions.ConnectorException, psycopg.Error, PoolTimeout) as error:
            raise _unavailable(self._path, error) from error


class _Manager(JobManager):
    """Procrastinate's jobs, and the workers of this process.

    Attributes:
        worker_ids: All that this process has had.
        is_registered: Whether the database knows one of them.
        finishing: The jobs that have ended and whose end is being written.
    """

    def __init__(self, connector: BaseConnector) -> None:
        super().__init__(connector)
        self.worker_ids: set[int] = set()
        self.is_registered = False
        self.finishing: set[int | None] = set()

    async def register_worker(self) -> int:
        """As there."""
        worker_id = await super().register_worker()
        self.worker_ids.add(worker_id)
        self.is_registered = True
        return worker_id

    async def finish_job(self, job: QueuedJob, status: Status, delete_job: bool) -> None:  # noqa: FBT001 - as there
        """As there; a locked table is waited for. The job may be gone, if another worker took this one for dead."""
        ends_at = time.monotonic() + FINISH_SECS
        self.finishing.add(job.id)
        try:
            with _passing_over_ended():
                while not await self._has_finished(job, status, delete_job, ends_at):  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(LOOK_SECS)
        finally:
            self.finishing.discard(job.id)

    async def _has_finished(self, job: QueuedJob, status: Status, delete_job: bool, ends_at: float) -> bool:  # noqa: FBT001
        """Write the end of a job; False where another transaction held the table for too long."""
        try:
            await super().finish_job(job, status, delete_job)
        except exceptions.ConnectorException as error:
            if time.monotonic() > ends_at or not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
                raise
            return False
        return True


def _count_cancellations() -> int:
    """How many requests to cancel the running task are not withdrawn."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


@contextmanager
def _passing_over_ended() -> Iterator[None]:
    """Within it, a job that is changed and has ended meanwhile is no error: the queue refuses such a change."""
    try:
        yield
    except exceptions.ConnectorException as error:
        if not isinstance(error.__cause__, RaiseException):
            raise


class _WhatWasStopped(BaseRetryStrategy):
    """A job that a worker could not finish before it ended waits again, for another worker."""

    def get_retry_decision(self, *, exception: BaseException, job: QueuedJob) -> RetryDecision | None:  # noqa: ARG002
        """As there."""
        return RetryDecision(retry_in={"seconds": 0}) if isinstance(exception, asyncio.CancelledError) else None


async def open_queue(url: str, *, on_error: OnError) -> JobQueue:
    """The queue of a database, whose tables are made where they are missing.

    Raises:
        StoreUnavailableError: the database does not serve.
    """
    path = hide_in_addresses(url)
    try:
        await asyncio.to_thread(_migrate, url)
        connector = PsycopgConnector(
            conninfo=add_parameters(url),
            kwargs={"options": _find_place(add_options(url))},
            min_size=1,
            max_size=MOST_CONNECTIONS,
        )
        app = App(connector=connector)
        await app.open_async()
    except (exceptions.ConnectorException, psycopg.Error, PoolTimeout) as error:
        raise _unavailable(path, error) from error
    return JobQueue(app, path, on_error)


def _unavailable(path: str, error: Exception) -> StoreUnavailableError:
    cause = error.__cause__ or error
    told = str(cause).partition("\n")[0]
    match cause:
        case InsufficientPrivilege():
            hint = f"may the role use the schema {SCHEMA}?"
        case LockNotAvailable() | QueryCanceled():
            hint = "does another transaction hold locks on its tables?"
        case _:
            hint = "is the server running?"
    return StoreUnavailableError(f"the job queue in {path} cannot be used ({told}); {hint}", path=path)


def _find_place(options: str) -> str:
    """Options of a connection that finds the tables of the queue; those that are given win."""
    return f"-c search_path={SCHEMA} {options}".strip()


def _name_task(kind: type[Job]) -> str:
    return f"everfold.{kind.__name__}"


def _name_place(job: Job) -> str:
    """What one job at most waits for: its name, and the messages where it is about some."""
    return f"{job.name} #{job.first_seq}-{job.last_seq}" if isinstance(job, DreamRange) else job.name


def _find_lock(job: Job) -> str:
    """What jobs run one after the other for: the session, or else the job's own name."""
    return job.name if isinstance(job, DreamPair | EmbedUser) else job.session_id


def _migrate(url: str) -> None:
    """Make the tables, or bring those of an earlier Procrastinate up to date; one process at a time.

    Where they are current nothing is created, so that a role without the right to do so can use them.
    """
    files = resources.files(_MIGRATIONS).iterdir()
    known = sorted(file.name for file in files if file.name.endswith(".sql"))
    options = _find_place(str(conninfo_to_dict(url).get("options") or ""))  # without limits: another may be migrating
    with psycopg.connect(add_parameters(url), options=options) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING_KEY,))
        done = _list_done(connection)
        missing = [name for name in known if name not in done]
        if not done:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(_DONE_TABLE)
            connection.execute(SchemaManager.get_schema())
        for name in missing if done else ():
            connection.execute(resources.files(_MIGRATIONS).joinpath(name).read_text("utf-8"))
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO everfold_migrations VALUES (%s)", [(name,) for name in missing])


def _list_done(connection: psycopg.Connection[TupleRow]) -> set[str]:
    """The migrations that the tables have; none where there are no tables."""
    if connection.execute("SELECT to_regclass('everfold_migrations')").fetchall() == [(None,)]:
        return set()
    return {str(name) for (name,) in connection.execute("SELECT name FROM everfold_migrations").fetchall()}
