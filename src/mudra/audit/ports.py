"""The ports of auditing to storage and to the key ring."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.audit.acts import NO_ACTS, Acts
from mudra.audit.chain import Checkpoint, Epoch
from mudra.audit.token_issues import TokenBlock


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


class ArchiveParts(Struct, frozen=True):
    """The beginning and end of a file of the audit; `first_block` is the last block before it."""

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
