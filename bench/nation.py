"""A national network on paper: what measured bytes come to in five years."""

from typing import NamedTuple

DAY_S = 86_400
WINDOWS = 144
YEARS = 5
TYPES = 14
_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
_STEP = 1000


class Bytes(NamedTuple):
    """Bytes that stay of one of each, and of write-ahead log of one token and one raw row."""

    member: float
    mail: float
    token: float
    token_log: float
    reset: float
    raw: float
    push: float
    push_log: float
    hour: float
    day: float


class Network(NamedTuple):
    """A network, and for how many days what is kept (the settings' defaults)."""

    name: str
    aas: int = 20
    fips: int = 2000
    members: int = 600
    tokens_a_day: int = 100_000
    busy: float = 0.25
    """Share of all FIPs, types and windows of an AA in which there are calls."""
    raw_days: int = 90
    hour_days: int = 400
    token_days: int = 400


NETWORKS = (
    Network("a quarter of all pairs busy"),
    Network("every pair busy, a million tokens", tokens_a_day=1_000_000, busy=1.0),
    Network(
        "ten times the FIPs, AAs and members", aas=60, fips=7000, members=6000,
        tokens_a_day=10_000_000,
    ),
)  # fmt: skip


def print_nation(one: Bytes) -> None:
    """Print what each network comes to."""
    for network in NETWORKS:
        print(f"{network.name}: after {YEARS} years")
        for name, size in holdings(one, network).items():
            print(f"    {name}: {shown(size)}")


def holdings(one: Bytes, network: Network) -> dict[str, float]:
    """Bytes that are kept after five years, by what they are of, and written a second."""
    days = YEARS * 365
    series = network.aas * network.fips * TYPES * network.busy
    pushes = network.aas * 2 * WINDOWS
    rows_a_day = series * WINDOWS
    # A series has calls in more hours than windows: in all of a busy day's.
    hours_a_day = network.aas * network.fips * TYPES * min(1.0, 2 * network.busy) * 24
    days_a_day = network.aas * network.fips * TYPES * min(1.0, 4 * network.busy)
    # Sums over all AAs are a row for each FIP and type besides.
    over_all = 1 + 1 / network.aas
    kept = {
        "members": network.members * one.member,
        "resets (two a year each) and their emails": network.members * 2 * YEARS * one.reset,
        "issued tokens": network.tokens_a_day * network.token_days * one.token,
        "receipts and audit of pushes": pushes * days * one.push,
        "raw windows": rows_a_day * network.raw_days * one.raw,
        "sums by hour": hours_a_day * over_all * network.hour_days * one.hour,
        "sums by day": days_a_day * over_all * days * one.day,
    }
    written = rows_a_day * one.push_log + network.tokens_a_day * one.token_log
    return {
        **kept,
        "all": sum(kept.values()),
        "write-ahead log a day": written,
        "write-ahead log a second": written / DAY_S,
    }


def shown(size: float) -> str:
    """Three digits and a unit."""
    unit = 0
    while size >= _STEP and unit < len(_UNITS) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"
