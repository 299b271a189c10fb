"""The drill of alerts breaks each that is shipped: `make test-slow` plays one of it, an operator all."""

import re
from pathlib import Path

from bench.alerts import ALERTS

RULES = Path("deploy/prometheus/mudra.rules.yml")


def test_each_alert_that_is_shipped_is_broken_by_the_drill() -> None:
    shipped = re.findall(r"alert: (\w+)", RULES.read_text())

    assert set(ALERTS) == set(shipped)
