"""What auditing asks of storage and of the key ring."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.audit.acts import NO_ACTS, Acts
from mudra.audit.chain import Checkpoint, Epoch, Row, SealedRow
from mudra.audit.place import Reached, Unsealed
from mudra.audit.token_issues import TokenBlock, TokenIssue


class Ledger(Protocol):
    """The chain in the database: what the one sealer and a verification ask."""

    async def head(self) -> Checkpoint:
        """The current head of the chain; `START` before the first seal. Holds the sealer's lock."""
        ...

    async def count(self) -> int:
        """Return how many rows are sealed."""
        ...

    async def cluster(self) -> str:
        """Name the cluster, its timeline, the database and the table."""
        ...

    async def epochs(self) -> Sequence[Epoch]:
        """All epochs in order; raises CheckpointForged."""
        ...

    async def add_epoch(self, epoch: Epoch) -> None:
        """Sign and store a new epoch."""
        ...

    async def next_unsealed(self, after: int, epoch: int, limit: int) -> Sequence[Row]:
        """Committed rows without a seal, in the order of their transactions.

        They are numbered from `after` + 1. A row counts as committed only when no
        transaction of this database that began before it is still open, so that none
        slips in behind the head.
        """
        ...

    async def next_restored(
        self, after: int, epoch: int, until: datetime, limit: int
    ) -> Sequence[Row]:
        """Give rows without a seal that came with the database out of another cluster.

        Those are the ones of transactions that this cluster has not reached, and the ones
        written by `until`.
        """
        ...

    async def keep_seals(self, rows: Sequence[Row], hashes: Sequence[bytes]) -> None:
        """Store number, epoch and hash of each row."""
        ...

    def sealed(self, after: int = 0, until: int | None = None) -> AsyncIterator[SealedRow]:
        """Sealed rows by their number, page by page, so that a table of any length fits."""
        ...

    async def sealed_after(self, number: int, limit: int) -> Sequence[SealedRow]:
        """Give the first sealed rows after a number, at most so many."""
        ...

    async def first(self) -> int:
        """Return the number of the first sealed row; 0 when there is none."""
        ...

    async def acts(self, after: int, until: int) -> Acts:
        """Return the acts among the sealed rows from number `after` + 1 to `until`."""
        ...

    async def present(self, row_ids: Sequence[int]) -> frozenset[tuple[int, datetime]]:
        """Return which of these rows there are, each with its time."""
        ...

    async def latest(self) -> datetime | None:
        """Return the time of the newest event; None when there is none."""
        ...

    async def reached(self) -> Reached:
        """Return how far the sealer came. Ask before `unsealed`."""
        ...

    async def unsealed(self, limit: int) -> Sequence[Unsealed]:
        """Rows without a seal, and such as have a number that the table never gave out."""
        ...

    async def now(self) -> datetime:
        """The time, which stamps events."""
        ...

    async def is_service_running(self) -> bool:
        """Return whether another process of the service is connected to this database."""
        ...

    async def keep_verification(self, *, intact: bool) -> None:
        """Record what a verification of the whole audit found now."""
        ...


class Checkpoints(Protocol):
    """The checkpoints that all nodes share, in the database."""

    async def last(self) -> Checkpoint:
        """The newest checkpoint; `START` when there is none. Raises CheckpointForged."""
        ...

    async def all(self) -> Sequence[Checkpoint]:
        """Every checkpoint in order; raises CheckpointForged."""
        ...

    async def since(self, known: Checkpoint) -> Sequence[Checkpoint]:
        """Give the last checkpoint up to this one, and those after it; raises CheckpointForged."""
        ...

    async def add(self, checkpoint: Checkpoint) -> None:
        """Sign and store a checkpoint, and wake the nodes that copy it to their second place."""
        ...


class Witness(Protocol):
    """The second place, out of reach of one who can write to the database."""

    def all(self) -> Sequence[Checkpoint]:
        """Every checkpoint that was written there; raises CheckpointForged."""
        ...

    def newest(self) -> Checkpoint | None:
        """The latest written there; raises CheckpointForged."""
        ...

    def acts(self) -> Sequence[tuple[Checkpoint, Acts]]:
        """Every checkpoint with the acts that were written with it; raises CheckpointForged."""
        ...

    def publish(self, checkpoint: Checkpoint, acts: Acts = NO_ACTS) -> None:
        """Sign the checkpoint and its acts and write them, durable before this returns."""
        ...


class Blocks(Protocol):
    """Blocks of token issues, as a verification reads them."""

    async def blocks(self, first: int, last: int) -> Sequence[TokenBlock]:
        """Give the blocks with these numbers, as far as they are there."""
        ...

    async def dropped(self) -> int:
        """Return up to which block they were dropped; raises CheckpointForged."""
        ...


class TokenIssues(Blocks, Protocol):
    """Issued entity tokens: those that wait for their block, and the blocks."""

    async def waiting(self, limit: int) -> Sequence[TokenIssue]:
        """Give issues without a block in order of `seq`. Holds the packer's lock."""
        ...

    async def longest_wait(self) -> datetime | None:
        """Return the time of the oldest issue without a block."""
        ...

    async def next_number(self) -> int:
        """Return the number of the next block; numbers of dropped ones never come again."""
        ...

    async def keep(self, block: TokenBlock, packed: Sequence[int]) -> None:
        """Store a block, and delete the issues that it holds."""
        ...

    async def unnamed(self, after: int, row_id: int) -> int:
        """Return a block after this one that no event after `row_id` names; 0 for none."""
        ...

    async def oldest(self) -> datetime | None:
        """Return the time of the first token in the oldest block."""
        ...

    async def until(self, before: datetime, limit: int) -> int:
        """Return the last of the oldest blocks that end before this time; 0 when none does."""
        ...

    async def drop(self, until: int, now: datetime) -> int:
        """Sign that blocks up to this one are dropped, and drop them; give their number."""
        ...


class ArchiveParts(Struct, frozen=True):
    """Where a file of the audit begins and ends; `first_block` is the last block before it."""

    after: Checkpoint
    until: Checkpoint
    epochs: Sequence[Epoch]
    first_block: int


class Archive(Struct, frozen=True):
    """A file that holds the audit up to a checkpoint; `last_block` is the last one it names."""

    until: Checkpoint
    last_block: int
    name: str
    sha256: str
    at: datetime
