"""The public status of a service: what it shows, without a wait for its next snapshot."""

from collections.abc import Callable

from tests.support.service import Service

SNAPSHOT_LASTS = "PT2M"
"""A snapshot is of a minute ago at most: who asks when this has passed waits for a new one."""


def until_shown(service: Service, condition: Callable[[], bool]) -> None:
    """Let the last snapshot be too old by the service's clock; return once a condition holds."""
    service.advance(SNAPSHOT_LASTS)
    service.wait_until(condition)
