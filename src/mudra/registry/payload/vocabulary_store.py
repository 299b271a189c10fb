"""The operator's additions to the vocabulary."""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.registry.payload.vocabulary import Addition, VocabularyKind
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.registry import registry_word

_C: Final = registry_word.c
_ADDITIONS: Final = sa.select(_C.kind, _C.word, _C.variants, _C.status_group).order_by(_C.number)


class VocabularyStore:
    """Implements `VocabularyStore`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def additions(self) -> Sequence[Addition]:
        """Return all additions in the order in which they were made."""
        rows = await self._tx.connection.execute(_ADDITIONS)
        return [
            Addition(VocabularyKind(kind), word, tuple(more), group)
            for kind, word, more, group in rows
        ]

    async def add(self, addition: Addition, actor: str) -> None:
        """Store one addition, with its audit row."""
        await self._tx.connection.execute(
            sa.insert(registry_word).values(
                kind=addition.kind.value,
                word=addition.word,
                variants=list(addition.variants),
                status_group=addition.group,
                added_by=actor,
                added_at=await self._tx.now(),
            )
        )
        await AuditLog(self._tx).append(
            AuditEntry(
                EventName.REGISTRY_VOCABULARY_CHANGE,
                Caller(actor),
                detail={"list": addition.kind.value, "word": addition.word}
                | ({"group": addition.group} if addition.group else {}),
            )
        )
