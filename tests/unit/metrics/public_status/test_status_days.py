"""The days of the public status: by columns as by each sum, and never bad by chance or by others."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import log, sqrt

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.metrics.incidents import an_incident
from tests.support.metrics.totals import reported_by, totals_of

from mudra.metrics.attribution.causes.cause import Cause, CauseStatus, Kind, Locus
from mudra.metrics.attribution.evidence.evidence import empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS
from mudra.metrics.attribution.evidence.lanes import Symptom as EngineSymptom
from mudra.metrics.detection.fip_counts import own_calls
from mudra.metrics.health.health import Status
from mudra.metrics.health.judging import health_of
from mudra.metrics.health.own_calls import (
    ALL,
    Field,
    OwnCalls,
    added_up,
    own_from_bytes,
    own_to_bytes,
    own_totals,
)
from mudra.metrics.incidents.incident import Fip, Path, Symptom
from mudra.metrics.payload.catalogue import Position, RequestType
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.public_status.status_history import (
    FLOOR,
    Day,
    DayState,
    days_of_fips,
    with_incidents,
)

DAY = date(2026, 3, 4)
CONSENT = CALL_APIS.index(RequestType.CONSENT)
SOON, LATE = (100, 200, 300, 400), (4_000, 5_000, 6_000, 90_000)


def block(good, refused, failed, unanswered, pxx):
    counts = [0] * len(Position)
    counts[Position.OK_200], counts[Position.NOT_FOUND_404] = good, refused
    counts[Position.INTERNAL_500] = failed
    counts[Position.TOTAL] = good + refused + failed + unanswered
    return RequestBlock("cns", pxx, tuple(counts))


NUMBERS = st.sampled_from([0, 1, 5, 19, 95, 99, 100, 1000, 10**6, 2**52, 10**16])
BLOCKS = st.builds(block, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from([SOON, LATE]))


def day_of(health):
    """One day by plain numbers."""
    if health.total < FLOOR.min_calls or health.status is Status.UNSURE:
        return Day(DAY, DayState.TOO_FEW, None, None)
    is_bad = beyond_chance(health)
    state = DayState.BAD if is_bad else DayState.GOOD
    found = round(Fraction(1000 * health.succeeded, health.eligible))
    if 0 < health.succeeded < health.eligible:
        found = min(max(found, 1), 999)
    return Day(DAY, state, health.total, found / 10)


@given(st.lists(BLOCKS, max_size=5))
@example([block(99, 0, 1, 0, SOON), block(99, 0, 0, 0, SOON), block(0, 100, 0, 0, SOON)])
def test_a_day_of_many_fips_is_that_of_each(blocks):
    seen = totals_of(
        reported_by("AA", f"FIP-{number}", one) for number, one in enumerate(blocks)
    ).by("fip")

    found = zip(seen.fip_ids(), health_of(seen), strict=True)
    assert days_of_fips(DAY, seen).of_fips == {
        fip_id: day_of(health) for fip_id, health in found if health.total
    }


def beyond_chance(health):
    """Whether 5.3 standard deviations lie between these failures and 5 %."""
    share = (health.eligible - health.succeeded) / health.eligible
    if share <= 0.05:
        return False
    parts = ((share, 0.05), (1 - share, 0.95))
    deviance = 2 * health.eligible * sum(a * log(a / b) for a, b in parts if a > 1e-12)
    return sqrt(max(deviance, 0)) >= 5.3


def own_of(*windows):
    """A day of one FIP: of each window the eligible and failed calls of each AA."""
    evidence = []
    for by_aa in windows:
        one = empty_evidence(100, len(by_aa), 1)
        for aa, (calls, failed) in enumerate(by_aa):
            one.total[CONSENT, aa, 0], one.failed[CONSENT, aa, 0] = calls, failed
        evidence.append(one)
    return added_up(own_calls(one, ("BANK",), (), ()) for one in evidence)


def day_by(own):
    """The day of all calls that were reported, and of those that are the FIPs' own."""
    counts = own.counts[:, ALL]
    blocks = []
    for place, fip_id in enumerate(own.fips):
        total = int(counts[Field.TOTAL, place] + counts[Field.TAKEN_OUT, place])
        failed = int(counts[Field.FAILED, place] + counts[Field.TAKEN_OUT, place])
        if total:
            one = block(total - failed, 0, failed, 0, SOON)
            blocks.append(reported_by("AA", fip_id, one))
    return days_of_fips(DAY, totals_of(blocks).by("fip"), own_totals(own))


def state_of(own, *incidents):
    found = day_by(own)
    day = found.of_fips["BANK"]
    return with_incidents(day, incidents, is_below="BANK" in found.below).state


GOOD = ((60, 1), (60, 1), (60, 0))
DOWN = ((60, 55), (60, 60), (60, 58))
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_a_day_is_bad_by_the_test_of_an_incident_and_not_by_one_window_or_one_aa():
    assert state_of(own_of(*[GOOD] * 100)) is DayState.GOOD
    assert state_of(own_of(*[GOOD] * 10, *[DOWN] * 3)) is DayState.BAD
    assert state_of(own_of(*[GOOD] * 3, DOWN)) is DayState.GOOD
    assert state_of(own_of(*[((60, 60), (60, 0), (60, 0))] * 9)) is DayState.GOOD
    assert state_of(own_of(*[((30, 2), (30, 2))] * 2)) is DayState.GOOD  # 4 of 120: chance


def test_with_an_incident_a_day_is_bad_where_the_rule_is_broken_and_else_partly_so():
    incident = an_incident(Fip("BANK"), NOON)
    slow = replace(incident, cause=replace(incident.cause, symptoms=(Symptom.SLOW,)))

    assert state_of(own_of(*[GOOD] * 100), incident) is DayState.PARTLY
    assert state_of(own_of(*[GOOD] * 3, ((60, 30), (60, 30), (60, 30))), incident) is DayState.BAD
    assert state_of(own_of(*[GOOD] * 3, ((60, 30), (60, 30), (60, 30))), slow) is DayState.PARTLY
    assert state_of(own_of(((3, 3),)), incident) is DayState.PARTLY


def test_what_one_aa_alone_saw_and_may_be_its_own_makes_no_day_bad():
    alone = an_incident(Fip("BANK"), NOON, ambiguous_with=(Path("AA", "BANK"),))
    day = own_of(*[((60, 1),)] * 10, *[((60, 60),)] * 5)

    assert state_of(day) is DayState.BAD
    assert state_of(day, alone) is DayState.PARTLY
    assert state_of(day, alone, an_incident(Fip("BANK"), NOON)) is DayState.BAD


def test_few_calls_and_heartbeats_alone_are_not_no_data():
    assert state_of(own_of(((3, 0),))) is DayState.TOO_FEW
    beats = empty_evidence(100, 1, 1)
    beats.total[CALL_APIS.index(RequestType.HEARTBEAT), 0, 0] = 500
    own = own_calls(beats, ("BANK",), (), ())
    assert day_by(own).of_fips == {}


def test_what_a_cause_elsewhere_or_a_maintenance_explains_is_not_the_fips_own():
    window = empty_evidence(100, 2, 2)
    window.total[CONSENT], window.failed[CONSENT] = 60, 60
    of_aa = Cause(
        1, Locus(Kind.AA, 0), (EngineSymptom.FAILURES,), 99, CauseStatus.BAD, 1, 1, 1, 9, (0,), (), ()
    )  # fmt: skip
    window.maintained_fips[1] = True

    own = own_calls(window, ("BANK", "OTHER"), [of_aa], ())

    assert own.counts[Field.TOTAL, ALL].tolist() == [60, 0]
    assert own.counts[Field.TAKEN_OUT, ALL].tolist() == [60, 120]
    assert day_by(own).of_fips["BANK"].state is DayState.TOO_FEW
    assert "OTHER" not in day_by(own).of_fips


def test_own_calls_add_up_in_any_order_and_survive_storage():
    parts = [own_of(GOOD), own_of(DOWN), OwnCalls(("NEW",), own_of(GOOD).counts)]
    there, back = added_up(parts), added_up(parts[::-1])
    read = own_from_bytes(own_to_bytes(there))

    assert np.array_equal(read.counts, there.counts)
    for name in there.fips:
        one, other = (found.counts[..., found.fips.index(name)] for found in (there, back))
        assert np.array_equal(one, other)
    assert there.counts[Field.WINDOW_FAILED, ALL, 0] == 173


def test_a_day_begins_and_ends_at_midnight_of_utc():
    incident = an_incident(Fip("BANK"), NOON - timedelta(days=1))
    over = replace(incident, ended=datetime(2026, 3, 4, tzinfo=UTC))
    assert state_of(own_of(*[GOOD] * 3), over) is DayState.GOOD
