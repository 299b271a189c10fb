"""The disk of networks, computed from measured bytes: the table of docs/explanation/scale.md."""

from collections.abc import Iterator
from typing import Final, NamedTuple

WINDOWS = 144
YEARS = (1, 5)
SUMS_OF_DAYS = "sums by day"
YEARS_OF_DAYS = 7
"""How long sums by day are kept at least: `MUDRA_METRICS_DAY_DAYS` is longer."""
TYPES = 14
QUARTER: Final = 0.25
"""Share of all FIPs, types and windows of an AA in which there are calls, in most networks."""
_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
_STEP = 1000


class Bytes(NamedTuple):
    """Bytes that stay of one of each, and of write-ahead log of one token and one cell."""

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
    """A network, and for how many days its data are kept (the settings' defaults)."""

    name: str
    members: int
    aas: int
    fips: int
    tokens_a_day: int
    busy: float = QUARTER
    raw_days: int = 90
    hour_days: int = 400
    token_days: int = 400


NETWORKS = (
    Network("pilot", 50, 3, 30, 10_000),
    Network("small", 400, 8, 300, 80_000),
    Network("national, a quarter busy", 2600, 20, 2000, 500_000),
    Network("national, fully busy", 2600, 20, 2000, 1_000_000, busy=1.0),
    Network("ten times", 10_000, 60, 7000, 10_000_000),
)


def print_nation(one: Bytes) -> None:
    """Print one row of a table in Markdown for each network, then the parts of each."""
    print(", ".join(f"{name} {size:,.0f}" for name, size in one._asdict().items()))
    print(
        "| network | members | AAs x FIPs | disk after a year | after five | log a day"
        " | sums by day of seven years |"
    )
    print("|---|---|---|---|---|---|---|")
    for network in NETWORKS:
        print(f"| {' | '.join(row(one, network))} |")
    for network in NETWORKS:
        print(f"{network.name}: after {YEARS[-1]} years")
        for name, size in holdings(one, network, YEARS[-1]).items():
            print(f"    {name}: {shown(size)}")
        print(f"    write-ahead log a day: {shown(log_a_day(one, network))}")


def row(one: Bytes, network: Network) -> Iterator[str]:
    """Yield the cells of a network's row."""
    yield network.name
    yield f"{network.members:,}"
    yield f"{network.aas} x {network.fips:,}"
    for years in YEARS:
        yield shown(holdings(one, network, years)["all"])
    yield shown(log_a_day(one, network))
    yield shown(holdings(one, network, YEARS_OF_DAYS)[SUMS_OF_DAYS])


def holdings(one: Bytes, network: Network, years: int) -> dict[str, float]:
    """Return the bytes on disk after these years, by kind."""
    days = years * 365
    series = network.aas * network.fips * TYPES
    pushes = network.aas * 2 * WINDOWS
    # A series has calls in more hours than windows: in all of a busy day's.
    hours_a_day = series * min(1.0, 2 * network.busy) * 24
    days_a_day = series * min(1.0, 4 * network.busy)
    # Sums over all AAs add a row for each FIP and type.
    over_all = 1 + 1 / network.aas
    kept = {
        "members": network.members * one.member,
        "resets (two a year each) and their emails": network.members * 2 * years * one.reset,
        "issued tokens": network.tokens_a_day * min(days, network.token_days) * one.token,
        "receipts and audit of pushes": pushes * days * one.push,
        "windows": cells_a_day(network) * min(days, network.raw_days) * one.raw,
        "sums by hour": hours_a_day * over_all * min(days, network.hour_days) * one.hour,
        SUMS_OF_DAYS: days_a_day * over_all * days * one.day,
    }
    return {**kept, "all": sum(kept.values())}


def cells_a_day(network: Network) -> float:
    """Return the cells that a network's AAs push in a day."""
    return network.aas * network.fips * TYPES * network.busy * WINDOWS


def log_a_day(one: Bytes, network: Network) -> float:
    """Return the bytes of write-ahead log of a day's pushes and tokens."""
    return cells_a_day(network) * one.push_log + network.tokens_a_day * one.token_log


def shown(size: float) -> str:
    """Return the size with two or three digits and its unit."""
    unit = 0
    while size >= _STEP and unit < len(_UNITS) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"
