"""Detection goes on where a report cannot be read: it counts as one that did not come."""

from datetime import timedelta

from tests.storage.metrics.detection import START, Detection

from mudra.metrics.incidents.incident import AaReporting
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange

HOUR = timedelta(hours=1)


def test_a_report_that_cannot_be_read_is_one_that_did_not_come() -> None:
    """The windows go on: what is damaged at one AA hides no trouble of the others."""
    detection = Detection()
    memory, down = detection.memory, START + 2 * HOUR
    memory.damaged = {("C-AA", at) for at in TimeRange(down, down + 2 * HOUR).windows}

    detection.until(down + 2 * HOUR)

    (incident,) = memory.incidents_of(AaReporting("C-AA"))
    assert incident.began == down
    assert max(memory.journals) == down + 2 * HOUR - WINDOW
