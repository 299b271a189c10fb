"""Lines of success for the public status, drawn by the service: they need no script. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

WIDTH, HEIGHT = 600, 120
_ALL: Final = 100.0
_TARGET: Final = 95.0
_FLOORS: Final = (90, 75, 50, 0)
"""Where the axis may begin: at the highest of them below all values and the target."""


class LineChart(Struct, frozen=True):
    """A line of steps: its path, and where the target is; without a value no path."""

    path: str
    floor: int
    target_y: float
    lowest: float | None
    latest: float | None
    skipped: int
    """Places before the first value, which are left out."""


def line_chart(
    values: Sequence[float | None], *, whole: bool = False, length: float = 0.0
) -> LineChart:
    """Returns the line of percentages, from the first that is known; a gap where one is not.

    The `whole` line begins with the first place, known or not: its axis is a time, of `length`
    places where the last one is not over yet. One that is not whole has an axis from `skipped` on.

    Each hour or day is level from its beginning to its end: no slope between two of them is known.
    """
    first = next((at for at, one in enumerate(values) if one is not None), len(values))
    skipped = 0 if whole and first < len(values) else first
    shown = values[skipped:]
    known = [one for one in shown if one is not None]
    lowest = min(known, default=None)
    floor = next(one for one in _FLOORS if one <= min(known, default=_ALL))
    return LineChart(
        _path(shown, floor, (length - skipped) if length else len(shown)),
        floor,
        _y(_TARGET, floor),
        lowest,
        known[-1] if known else None,
        skipped,
    )


def _path(shown: Sequence[float | None], floor: int, length: float) -> str:
    step = WIDTH / max(length, 1)
    pieces, drawn = [], False
    for at, one in enumerate(shown):
        if one is not None:
            place = f"{at * step:.1f} {_y(one, floor):.1f}"
            pieces.append(f"{'L' if drawn else 'M'}{place}H{min((at + 1) * step, WIDTH):.1f}")
        drawn = one is not None
    return "".join(pieces)


def _y(percent: float, floor: int) -> float:
    return HEIGHT * (_ALL - percent) / (_ALL - floor)
