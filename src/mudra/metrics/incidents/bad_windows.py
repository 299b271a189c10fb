"""The bad windows of an incident, as ranges: one that goes on for a month has 4,000."""

from collections.abc import Iterable, Iterator

Windows = tuple[tuple[int, int], ...]
"""The first and last window of each range, by number, in order; no two touch."""


def with_windows(known: Windows, more: Iterable[int]) -> Windows:
    """Returns the windows with some more; those that it has already change nothing."""
    found: list[tuple[int, int]] = []
    for first, last in sorted([*known, *((one, one) for one in more)]):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def number_of(windows: Windows) -> int:
    """Returns how many windows there are."""
    return sum(last - first + 1 for first, last in windows)


def each_of(windows: Windows) -> Iterator[int]:
    """Yields each window, in order."""
    for first, last in windows:
        yield from range(first, last + 1)
