"""A service for a load: without limits for callers, and its log is read."""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from tests.support.process import running_service
from tests.support.service import Service

VARIABLES = {
    "MUDRA_SECOND_FACTOR": "none",
    "MUDRA_METRICS_PUSH_UNKNOWN_FIPS": "100000",
    "MUDRA_ENTITY_TOKEN_RATE": "100000+100000",
}


@contextlib.contextmanager
def loaded_service(data_dir: Path, workers: int, port: int) -> Iterator[Service]:
    """A service for a load, on `port`, 0 for a free one. Its log is read: it never waits."""
    words = ("--workers", str(workers))
    variables = cast("dict[str, Any]", VARIABLES)
    with running_service(data_dir, *words, port=port, sandbox=False, **variables) as service:
        assert service.process.stdout is not None
        log = os.dup(service.process.stdout.fileno())
        threading.Thread(target=drain, args=[log], daemon=True).start()
        yield service


def drain(log: int) -> None:
    """Read a service's log to its end: one that is not read stops the service when it is full."""
    while os.read(log, 65536):
        pass
    os.close(log)
