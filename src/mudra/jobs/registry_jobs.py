"""Puts scheduled versions of entries live when their time has come."""

from datetime import datetime

import structlog

from mudra.identity.accounts.people_store import People
from mudra.registry.lifecycle.acts.register import put_live_if_due
from mudra.registry.ports import Registry
from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.storage.database.transaction import OpenTransaction

_log = structlog.get_logger()


async def put_due_live(open_transaction: OpenTransaction) -> None:
    """Put every version live whose time has come, each in a transaction of its own.

    A network that moves at one minute has hundreds of them: in one transaction they would be
    cut off and begin again for ever, and an emergency would wait for all of them. An entity
    that fails keeps no other from its time; the run fails after the others, and is repeated.
    """
    async with open_transaction() as tx:
        now: datetime = await People(tx).now()
        due = await tx.service(Registry).due(now)
    failures: list[Exception] = []
    for entity_id in due:
        try:
            async with open_transaction() as tx:
                await put_live_if_due(tx.service(Registry), entity_id)
        except ServiceUnavailable as outage:
            if outage.cause is not Outage.TOO_SLOW:
                raise
            _log.warning("version could not go live", entity_id=entity_id, error=str(outage))
            failures.append(outage)
        except Exception as error:  # noqa: BLE001  # of this entity alone; raised at the end
            _log.exception("version could not go live", entity_id=entity_id)
            failures.append(error)
    if failures:
        raise ExceptionGroup("scheduled versions could not go live", failures)
