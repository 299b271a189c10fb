"""The statement of checkpoints in the second place about the chain in the database: pure rules."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.audit.chain import Checkpoint, Epoch


class Loss(Struct, frozen=True):
    """Events that a checkpoint of the second place counts, and that a restore took back."""

    epoch: Epoch
    """The first epoch after the restore."""
    kept: int
    """Rows up to here are in the database."""
    newest: Checkpoint
    confirmed: bool

    @property
    def missing(self) -> int:
        """Return how many events at least are missing."""
        return self.newest.count - self.kept

    def sentence(self) -> str:
        """Return what an operator reads."""
        return (
            f"restored at {self.epoch.at:%Y-%m-%dT%H:%M:%SZ}: at least {self.missing} events after "
            f"row {self.kept} are missing, which the checkpoint of "
            f"{self.newest.at:%Y-%m-%dT%H:%M:%SZ} in the second place counts"
        )


class Comparison(Struct, frozen=True):
    """The checkpoints that the chain must agree with, and what restores took back."""

    required: Sequence[Checkpoint]
    losses: Sequence[Loss]


def compare(
    stored: Sequence[Checkpoint], witnessed: Sequence[Checkpoint], epochs: Sequence[Epoch]
) -> Comparison:
    """Return what a restore took back from what must be in the chain.

    A checkpoint of an epoch before a restore may count more than was found after it; any
    other that the database lacks must agree with the chain all the same.
    """
    in_database = set(stored)
    required, lost = list(stored), dict[int, Checkpoint]()
    for checkpoint in witnessed:
        if checkpoint in in_database:
            continue
        after = _restored_after(checkpoint, epochs)
        if after is None:
            required.append(checkpoint)
        elif after.number not in lost or lost[after.number].count < checkpoint.count:
            lost[after.number] = checkpoint
    losses = [_loss(e, lost[e.number], epochs) for e in epochs if e.number in lost]
    return Comparison(required, [loss for loss in losses if loss.missing > 0])


def beyond(
    stored: Sequence[Checkpoint],
    witnessed: Sequence[Checkpoint],
    before: Sequence[Epoch],
    count: int,
) -> Checkpoint | None:
    """Return what the second place knows beyond the sealed rows of a database; None for nothing.

    What a restore took back in one of the epochs `before` is not asked for.
    """
    in_database = set(stored)
    found = (
        one
        for one in witnessed
        if one.count > count and one not in in_database and _restored_after(one, before) is None
    )
    return max(found, key=lambda one: one.count, default=None)


def _restored_after(checkpoint: Checkpoint, epochs: Sequence[Epoch]) -> Epoch | None:
    return next(
        (e for e in epochs if e.number > checkpoint.epoch and checkpoint.count > e.found), None
    )


def _loss(epoch: Epoch, newest: Checkpoint, epochs: Sequence[Epoch]) -> Loss:
    confirmed = any(e.confirmed_by for e in epochs if e.number >= epoch.number)
    # Rows that came unsealed with a restored database are sealed before its epoch begins.
    kept = epoch.found if epoch.confirmed_by else epoch.after
    return Loss(epoch, kept, newest, confirmed)


def next_epoch(epochs: Sequence[Epoch], witnessed: Iterable[Checkpoint]) -> int:
    """Return the number of the epoch after these: none that a restore took back comes again.

    Else the checkpoints of a lost epoch would be required of the one with its number.
    """
    return max([epochs[-1].number, *(one.epoch for one in witnessed)]) + 1


def not_yet_opened(
    epochs: Sequence[Epoch],
    witnessed: Sequence[Checkpoint],
    cluster: str,
    count: int,
    now: datetime,
) -> list[Epoch]:
    """Give the epoch that the sealer will open when the database is in another cluster now."""
    if not epochs or epochs[-1].cluster == cluster:
        return []
    return [Epoch(next_epoch(epochs, witnessed), cluster, count, count, now)]


def to_copy(
    stored: Sequence[Checkpoint], newest: Checkpoint | None, epochs: Sequence[Epoch]
) -> Sequence[Checkpoint] | None:
    """Give what the second place lacks; None when its newest contradicts the database."""
    if newest is None:
        return stored
    if newest not in stored and _restored_after(newest, epochs) is None:
        return None
    return [c for c in stored if (c.epoch, c.count) > (newest.epoch, newest.count)]
