"""The second place of the audit, to which a service copies its checkpoints."""

import time

from tests.support.service import Service

SECOND = "audit-checkpoints.jsonl"
AGAIN_S = 10.0
"""A checkpoint that was made just before an act was sealed lacks it; the next one has it."""


def until_exported(service: Service, what: str) -> None:
    """Wait until the second place has an act; each move of the clock runs most jobs, so few do."""
    second = service.data_dir / SECOND
    asked_at = float("-inf")

    def is_there() -> bool:
        nonlocal asked_at
        if time.monotonic() > asked_at + AGAIN_S:
            service.advance("PT11M")  # a checkpoint is due every 10 minutes
            asked_at = time.monotonic()
        return second.exists() and what in second.read_text()

    service.wait_until(is_there)
