"""The rollback after a restore or a recovery: what must not come back with the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from mudra.audit.acts import Act
from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain import CheckpointForged
from mudra.audit.event import Caller
from mudra.audit.place import TOLERANCE
from mudra.audit.proof.lost_acts import lost_acts
from mudra.bootstrap.backup.place import alone, refuse_users
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import in_store
from mudra.bootstrap.node.serve import open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.identity.memberships.notices import NoticeService
from mudra.overview.backups import RecoveryReport
from mudra.overview.restored_store import RECOVERED, RestoredStore, look
from mudra.overview.rollback import Origin, RollbackService, RolledBack
from mudra.settings.settings import Settings
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService

_ROLLBACK_S: Final = 600.0
"""Seconds for the emails to all members of a network, in one transaction."""


def after_recovery(settings: Settings, at: datetime, caller: Caller) -> RecoveryReport:
    """End what a rollback must end in a database that was recovered to a point in time.

    Does nothing when it was done before in this cluster, on this timeline. Raises CommandFailed
    while something else uses the database.
    """
    with alone(settings), open_server(settings) as (found, _):
        contents = look(owner_of(settings, found))
        if contents.empty:
            raise CommandFailed("the database is empty: recover it first")
        refuse_users(settings, contents)
        recovery = f"{RECOVERED}{contents.cluster}"
        if contents.finished == recovery:
            return RecoveryReport(already=True)
        done, lost = rolled_back(settings, Origin(recovery, at), caller)
    return RecoveryReport(
        already=False,
        tokens_ended=done.tokens_ended,
        members_notified=done.members_notified,
        revoked_again=done.revoked_again,
        keys_dropped_again=done.keys_dropped_again,
        lost=lost,
    )


def rolled_back(settings: Settings, origin: Origin, caller: Caller) -> tuple[RolledBack, list[Act]]:
    """End what a rollback must end; returns acts that were lost."""
    return in_store(settings, lambda d: _roll_back(d, origin, caller))


async def _roll_back(
    dependencies: Dependencies, origin: Origin, caller: Caller
) -> tuple[RolledBack, list[Act]]:
    async with dependencies.database.transaction(within_s=_ROLLBACK_S) as transaction:
        lost = await _lost(transaction.service(AuditChain), origin)
        audit_log = AuditLog(transaction)
        service = RollbackService(
            RestoredStore(transaction),
            transaction.service(SigningKeyService),
            transaction.service(NoticeService),
            audit_log,
        )
        done = await service.roll_back(
            origin=origin, lost=lost, caller=caller, now=await transaction.now()
        )
    return done, list(lost)


async def _lost(chain: AuditChain, origin: Origin) -> Sequence[Act]:
    """List what was lost since the backup; what an earlier restore took back was dealt with then.

    The newest event says when the database stops, whatever an operator says. Raises CommandFailed
    where the second place cannot be read.
    """
    latest = await chain.ledger.latest() or origin.made_at
    try:
        return await lost_acts(chain, since=min(origin.made_at, latest) - TOLERANCE)
    except CheckpointForged as error:
        raise CommandFailed(
            f"{error}: what must be revoked and dropped again is not known. If it is a file of the "
            "second place of the audit, put a good copy in its place, or move it away if there is "
            "none; then run this command again"
        ) from error
