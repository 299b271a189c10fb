"""One number of a report, with what it is made of."""

from msgspec import Struct

from mudra.levels.target import Measure


class Budget(Struct, frozen=True, rename="camel"):
    """The failures that a target allows, and those that happened."""

    allowed: int
    spent: int
    spent_percent: float | None
    """None where nothing is allowed and nothing was spent."""


class Figure(Struct, frozen=True, rename="camel"):
    """One measure of one API, or of all calls for customers together (empty `api`)."""

    measure: Measure
    api: str
    value: float | None
    """Percent with four decimals, or milliseconds; None where nothing can be said."""
    part: int
    """Calls that are good; of missing reports those that are missing; of times the samples."""
    whole: int
    """Calls, ended FI requests or reports that count."""
    reporters: int
    """AAs whose calls these are; of an AA, FIPs."""
    left_out: int
    """Calls that do not count: maintenance, a cause elsewhere, a decision."""
    uncertain: int
    """Of these, failed calls whose cause may be the member or another."""
    down_windows: int
    """Of availability: windows of ten minutes in the member's own outages."""
    windows: int
    """Of availability: windows that any AA reported, without maintenance."""
    target: float | None
    met: bool | None
    """None without a target or a value."""
    budget: Budget | None
    """Of shares with a target."""
