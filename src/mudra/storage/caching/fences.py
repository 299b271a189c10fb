"""The fences of this node: which keys it reads from the database, and because of which changes."""

from typing import Final

FENCE_S: Final = 10.0
"""A fence whose transaction never ends is dropped after this long."""


class Fences:
    """Fences by key. Two changes may have fenced one key: each ends its own fence alone."""

    def __init__(self) -> None:
        self._until: dict[str, dict[str, float]] = {}

    def begin(self, key: str, fence_id: str, now: float) -> None:
        """Fence a key until the change of this fence is over, or the time of a fence."""
        open_ones = {one: until for one, until in self._until.get(key, {}).items() if now <= until}
        self._until[key] = open_ones | {fence_id: now + FENCE_S}

    def end(self, key: str, fence_id: str) -> None:
        """End one fence of a key; that of another change holds on."""
        fences = self._until.get(key)
        if fences is not None:
            fences.pop(fence_id, None)
            if not fences:
                del self._until[key]

    def is_fenced(self, key: str, now: float) -> bool:
        """Return whether a change has fenced this key and may not be over."""
        fences = self._until.get(key)
        return fences is not None and any(now <= until for until in fences.values())

    def is_any_fenced(self, prefixes: tuple[str, ...], now: float) -> bool:
        """Return whether a change has fenced a key that begins so and may not be over."""
        return any(key.startswith(prefixes) and self.is_fenced(key, now) for key in self._until)
