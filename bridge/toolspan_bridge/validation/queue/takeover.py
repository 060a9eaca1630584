"""Jobs of workers that died: given to the others."""

from __future__ import annotations

from datetime import UTC, datetime

from .connection import Queue

__all__ = ["MOST_ATTEMPTS", "TASK", "take_over"]

TASK = "toolspan.trials"
"""The name of procrastinate's task for jobs with trials."""

MOST_ATTEMPTS = 20
"""So many workers may end while they have a job, before it is put aside: its trials may be what ends them."""

_LOCK = 0x746F6F6C6C6F7374  # "toollost"


async def take_over(queue: Queue, lease: float) -> int:
    """Put the jobs back whose workers gave no sign of life for ``lease`` seconds; how many there were.

    One worker does so at a time: a job that another has begun meanwhile is not taken from it. Raises as
    ``Queue.rows``.
    """
    from procrastinate.exceptions import ConnectorException
    from procrastinate.jobs import Status

    manager, count = queue.app.job_manager, 0
    async with queue.transaction() as connection:
        cursor = await connection.execute("SELECT pg_try_advisory_xact_lock(%s) AS mine", (_LOCK,))
        row = await cursor.fetchone()
        if row is None or not row["mine"]:
            return 0
        for job in await manager.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=lease):
            try:
                if job.attempts < MOST_ATTEMPTS:
                    await manager.retry_job(job, retry_at=datetime.now(UTC))
                else:
                    await manager.finish_job(job, Status.FAILED, delete_job=False)
                count += 1
            except ConnectorException:
                continue  # it ended meanwhile: a worker that was only slow
    return count
