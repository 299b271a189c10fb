"""Lengths of time in words, the same in a page, an answer and a command."""

from datetime import timedelta


def span(length: timedelta) -> str:
    """Write a length of time in its two largest units: `12 days`, `4 min 10 s`."""
    seconds = max(0, int(length.total_seconds()))
    days, hours = divmod(seconds // 3600, 24)
    minutes, rest = divmod(seconds % 3600, 60)
    if days:
        return f"{days} day{'s' if days > 1 else ''}"
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    if minutes:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{rest} s"
