"""Quality G4: the service's limit of pushes lets 72 hours of backlog through in half an hour."""

from mudra.agent.clock import MINUTE, SECOND
from mudra.settings.settings import Settings
from mudra.shared.waiting.rate_limit import KeyedRateLimit

BETWEEN_STARTS = 500

WINDOWS = 432


def test_a_backlog_of_72_hours_passes_the_limit_within_half_an_hour() -> None:
    now, settings = 0, Settings()
    rate = KeyedRateLimit(
        settings.metrics_push_rate.steady / 600,
        settings.metrics_push_rate.burst,
        lambda: now / SECOND,
    )

    for window in range(WINDOWS):
        for tag in ("req", "not"):
            now += BETWEEN_STARTS + rate.wait_s(f"AA-1 {tag}") * SECOND
            assert now < 30 * MINUTE, f"only {window} windows in half an hour"
