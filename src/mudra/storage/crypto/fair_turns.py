"""Turns that many keys share fairly: which of the waiting pieces of work is next."""


def keys_of(account: str, origin: str) -> frozenset[str]:
    """Return the keys under which a hash counts: its account, and the address that asks."""
    named = {f"account:{account}" if account else "", f"origin:{origin}" if origin else ""}
    return frozenset(named - {""})


class FairTurns:
    """Gives each waiting piece of work its turn number; the lowest is next. Pure.

    Start-time fair queuing: a key that has many pieces waiting gets numbers further and further
    away, so that one of another key passes them all. A key is forgotten once its numbers have
    been reached: there are never more than pieces that wait.
    """

    def __init__(self) -> None:
        self._now = 0
        self._last: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._last)

    def number(self, keys: frozenset[str]) -> int:
        """Return the number that one more piece of these keys would get."""
        return max([self._now, *(self._last.get(key, 0) for key in keys)]) + 1

    def take(self, keys: frozenset[str]) -> int:
        """Give a piece of these keys its number."""
        number = self.number(keys)
        self._last.update(dict.fromkeys(keys, number))
        return number

    def begin(self, number: int) -> None:
        """Go on to the piece with this number."""
        self._now = max(self._now, number)
        self._last = {key: last for key, last in self._last.items() if last > self._now}
