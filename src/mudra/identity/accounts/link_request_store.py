"""Requests for a link to set a password, in PostgreSQL."""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from mudra.identity.accounts.email_link import LinkRequest
from mudra.shared.ids import fresh_id
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import link_request

LINK_ASKED: Final = "link-asked"
MAX_WAITING: Final = 5000

_C: Final = link_request.c
_WAITING: Final = sa.select(sa.func.count(_C.txn_id))
_ASK: Final = sa.insert(link_request)
_TAKE: Final = (
    sa.delete(link_request)
    .where(
        _C.request_id.in_(
            sa.select(_C.request_id)
            .order_by(_C.asked_at, _C.request_id)
            .limit(sa.bindparam("limit", type_=sa.Integer))
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
    )
    .returning(_C.asked_at, _C.request_id, _C.sealed_name, _C.address, _C.txn_id)
)


class LinkRequests:
    """Requests in the order in which they came; the typed name is encrypted."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._encryption = transaction.encryption

    async def ask(self, request: LinkRequest) -> None:
        """Store a request, the same way for every name; dropped while thousands wait."""
        waiting = await self._tx.connection.scalar(_WAITING)
        if (waiting or 0) >= MAX_WAITING:
            return
        request_id = fresh_id()
        await self._tx.connection.execute(
            _ASK,
            {
                "request_id": request_id,
                "sealed_name": self._encryption.encrypt_text(
                    SecretText(request.username), "link_request", "sealed_name", request_id
                ),
                "address": request.address,
                "txn_id": request.txn_id,
                "asked_at": await self._tx.now(),
            },
        )
        await self._tx.changing(LINK_ASKED)

    async def take(self, limit: int) -> Sequence[LinkRequest]:
        """Take the oldest requests, so that no other transaction takes them."""
        rows = await self._tx.connection.execute(_TAKE, {"limit": limit})
        return [
            LinkRequest(
                self._encryption.decrypt_text(
                    bytes(row[2]), "link_request", "sealed_name", row[1]
                ).reveal(),
                row[3],
                row[4],
            )
            for row in sorted(rows.all(), key=lambda row: (row[0], row[1]))
        ]
