"""What the issue log has not yet written: bounded, and given in slices (decision 0002)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

SLICE_GROUPS: Final = 2000
SLICE_JTIS: Final = 20_000
"""What one transaction writes: far less than its three seconds on a busy database."""

Key: TypeAlias = tuple[str, str, str, int]
"""Entity, address, reason, version of the secret; no version for what was refused."""


@dataclass(slots=True)
class Group:
    """Equal events within a batch; `txn_id` is that of the first."""

    txn_id: str
    count: int = 0
    jtis: list[str] = field(default_factory=list)


Slice: TypeAlias = list[tuple[Key, Group]]


class WaitingGroups:
    """Events of one kind, by what is equal of them. What is being written counts for the bounds."""

    def __init__(self, most_groups: int, most_jtis: int) -> None:
        self._most_groups = most_groups
        self._most_jtis = most_jtis
        self._groups: dict[Key, Group] = {}
        self._taken = 0
        self._jtis = 0

    def __len__(self) -> int:
        """Return the number of groups, those being written included."""
        return len(self._groups) + self._taken

    def events(self) -> int:
        """Return the number of events that wait; those being written are not among them."""
        return sum(group.count for group in self._groups.values())

    def add(self, key: Key, txn_id: str, jti: str = "") -> bool:
        """Add an event; returns False when there is no room for it, and it is lost."""
        group = self._groups.get(key)
        if (jti and self._jtis >= self._most_jtis) or (
            group is None and len(self) >= self._most_groups
        ):
            return False
        if group is None:
            group = self._groups[key] = Group(txn_id)
        group.count += 1
        if jti:
            group.jtis.append(jti)
            self._jtis += 1
        return True

    def take(self) -> list[Slice]:
        """Take all that waits; each slice is then either `written` or `put_back`."""
        groups, self._groups = self._groups, {}
        slices = list(_slices(groups))
        self._taken += sum(map(len, slices))
        return slices

    def written(self, one: Slice) -> None:
        """Forget a slice that was stored."""
        self._taken -= len(one)
        self._jtis -= sum(len(group.jtis) for _, group in one)

    def put_back(self, slices: Iterable[Slice]) -> None:
        """Let slices that were not stored wait again, after what came since."""
        for one in slices:
            self._taken -= len(one)
            for key, group in one:
                held = self._groups.setdefault(key, group)
                if held is not group:
                    held.txn_id = group.txn_id
                    held.count += group.count
                    held.jtis += group.jtis


def _slices(groups: dict[Key, Group]) -> Iterator[Slice]:
    current: Slice = []
    jtis = 0
    for key, group in groups.items():
        for piece in _pieces(group):
            if current and (len(current) >= SLICE_GROUPS or jtis + len(piece.jtis) > SLICE_JTIS):
                yield current
                current, jtis = [], 0
            current.append((key, piece))
            jtis += len(piece.jtis)
    if current:
        yield current


def _pieces(group: Group) -> Iterator[Group]:
    """Give a group, in several ones where it has more tokens than a slice may have."""
    if len(group.jtis) <= SLICE_JTIS:
        yield group
        return
    for start in range(0, len(group.jtis), SLICE_JTIS):
        jtis = group.jtis[start : start + SLICE_JTIS]
        yield Group(group.txn_id, len(jtis), jtis)
