"""Time comes in as an argument: only the clock files ask the machine."""

import ast
from collections.abc import Iterator

from tools.lint.source import Fault, Source, dotted

CLOCKS = frozenset(
    {
        "src/mudra/bootstrap/clock.py",
        # These two run without the service, so they cannot borrow its clock.
        "src/mudra/agent/clock.py",
        "src/mudra/client/clock.py",
    }
)
ASKS_THE_MACHINE = (
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
    "time.time",
    "time.time_ns",
)
BARE = frozenset({"time", "time_ns"})


def no_clock_outside_its_file(source: Source) -> Iterator[Fault]:
    """Refuse `datetime.now()` and its like, also when passed on uncalled."""
    if not source.is_python or not source.under("src/") or source.path in CLOCKS:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and _asks(dotted(node)):
            yield source.fault(
                node, f"{dotted(node)} outside a clock.py; take `now` as an argument"
            )
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            for name in node.names:
                if name.name in BARE:
                    yield source.fault(node, f"time.{name.name} outside a clock.py")


def _asks(name: str) -> bool:
    return any(name == banned or name.endswith("." + banned) for banned in ASKS_THE_MACHINE)
