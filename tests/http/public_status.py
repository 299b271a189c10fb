"""The public status of a service: what it shows, without a wait for its next snapshot."""

from collections.abc import Callable
from typing import Any

from tests.support.service import Service

SNAPSHOT_LASTS = "PT2M"
"""A snapshot is of a minute ago at most: who asks when this has passed waits for a new one."""


def until_shown(service: Service, condition: Callable[[], bool]) -> None:
    """Let the last snapshot be too old by the service's clock; return once a condition holds."""
    service.advance(SNAPSHOT_LASTS)
    service.wait_until(condition)


def open_data(service: Service, path: str = "/status/network.json") -> dict[str, Any]:
    """Open data of the public status; a busy service may have no snapshot for a while (503)."""
    client = service.client()

    def found() -> dict[str, Any]:
        answer = client.get(f"{service.root}{path}")
        return answer.json() if answer.is_success else {}

    return service.wait_until(found)
