"""A transaction whose connection is cut when a statement of it has no answer in time."""

import contextlib
from collections.abc import Iterator

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy.ext.asyncio import AsyncConnection

from mudra.storage.database.deadline import (
    DEADLINE,
    TRANSACTION_S,
    WATCH,
    WATCHED_S,
    AnswerWatch,
    Deadline,
    cut,
)
from mudra.storage.database.outage import is_lost


@contextlib.contextmanager
def watched(
    connection: AsyncConnection,
    driver: psycopg.AsyncConnection[tuple[object, ...]],
    within_s: float,
    deadline: Deadline,
) -> Iterator[AnswerWatch | None]:
    """Watch the answers of a transaction that may take longer than a server may hang.

    What was lost may be the connection of another reader, for whom this one waited: that server
    would not answer a rollback either.
    """
    info = connection.sync_connection.info if connection.sync_connection else {}
    info[DEADLINE] = deadline
    if not TRANSACTION_S < within_s <= WATCHED_S:
        yield None
        return
    watch = info[WATCH] = AnswerWatch(driver, deadline)
    try:
        yield watch
    except Exception as error:
        if is_lost(error) and driver.info.transaction_status is not TransactionStatus.IDLE:
            cut(driver, deadline)
        raise
    finally:
        watch.end()
        del info[WATCH]
