"""A year with known truth: faults, maintenance, late reports, lies and disputes, month by month.

Each month has a first version, made of what was there, and a second one after late reports and
after lies were replaced. Every number of both is counted again, window by window, by `recount`.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import msgspec
import pytest
from tests.unit.levels.recount import (
    AAS,
    APIS,
    START,
    TEN,
    Event,
    Seen,
    World,
    quantile,
    recount,
)
from tests.unit.levels.worlds import MEMBER, RULE, evidence_of

from mudra.levels.proof import Proof, faults_of, read_proof
from mudra.levels.report import Report, encoded_evidence, next_version, report_of, signed_text
from mudra.levels.target import SHIPPED, Measure
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.percentiles import percentiles_of

CUSTOMER = ("adisc", "fireq")
FAULTS = ("fip", "fip-api", "path", "aa", "network", "left_out", "excused")
MADE = datetime(2027, 4, 1, tzinfo=UTC)


def month(random: Random, windows: int, events: int) -> World:
    """The truth of a month: all that was called, and all that happened."""
    reported = {one for one in range(windows) if random.random() < 0.97}
    seen = {
        (window, aa, api): Seen(*counts, [random.randint(0, 120) for _ in range(sum(counts[:3]))])
        for window in sorted(reported)
        for aa in AAS
        for api in APIS
        if random.random() < 0.2
        for counts in [[random.randint(0, most) for most in (12, 2, 2, 1)]]
    }
    happened = []
    for kind in (*FAULTS, *random.choices(FAULTS, k=events)):
        first = random.randrange(windows)
        end = min(first + random.randint(1, 30), windows)
        api = random.choice(APIS) if kind in {"fip-api", "left_out"} else ""
        happened.append(
            Event(kind, first, end, random.choice(AAS), api, doubt=random.random() < 0.2)
        )
    for kind, hours in (("maintenance", 48), ("maintenance", 1), ("aa-maintenance", 48)):
        first = random.randrange(windows)
        end = min(first + random.randint(1, 18), windows)
        notice = timedelta(hours=hours)
        happened.append(Event(kind, first, end, random.choice(AAS), "", notice))
    return World(windows, seen, happened, reported)


def as_first_known(random: Random, truth: World) -> World:
    """The month as it was known on its first day after: reports missing, and some that lied."""
    late = {(window, aa) for window, aa, _ in truth.seen if random.random() < 0.02}
    seen = {}
    for (window, aa, api), one in truth.seen.items():
        if (window, aa) in late:
            continue
        lied = random.random() < 0.01
        cells = [*one.cells, *[3] * 50] if lied else one.cells
        seen[window, aa, api] = replace(one, good=one.good + 50, cells=cells) if lied else one
    silent = {window for window, _ in late} - {window for window, _, _ in seen}
    return replace(truth, seen=seen, reported=truth.reported - silent)


def report(world: World) -> Report:
    return report_of(
        MEMBER,
        TimeRange(START, START + world.windows * TEN),
        evidence := evidence_of(world),
        encoded_evidence(evidence),
        SHIPPED,
        issuer="https://x.example/iam",
        rule=RULE,
        now=MADE,
        percentiles_of=percentiles_of,
    )


def numbers_differ(made: Report, world: World) -> list[str]:
    """Each number of a report that the recount does not have."""
    found, wrong = {(one.measure, one.api): one for one in made.figures}, []
    for api in ("", *APIS):
        known = recount(world, CUSTOMER if not api else (api,))
        success, up = found[Measure.SUCCESS, api], found[Measure.AVAILABILITY, api]
        expected = {
            "success": ((success.part, success.whole), (known.good, known.eligible)),
            "availability": (
                (up.part, up.whole, up.uncertain),
                (known.eligible - known.lost, known.eligible, known.doubt),
            ),
        }
        if api:
            for measure, percent in ((Measure.P95, 95), (Measure.P99, 99)):
                value = quantile(known.cells, percent, 1 << 40)
                expected[measure.value] = (found[measure, api].value,), (value,)
        wrong += [
            f"{name} of {api}: {pair}" for name, pair in expected.items() if pair[0] != pair[1]
        ]
    return wrong


def year(seed: int, *, months: int, windows: int, events: int) -> None:
    random = Random(seed)
    changed = 0
    for _ in range(months):
        truth = month(random, windows, events)
        known = as_first_known(random, truth)
        first, made = report(known), report(truth)
        second = next_version(first, made)

        assert numbers_differ(first, known) == []
        assert numbers_differ(made, truth) == []
        if second is not None:
            changed += 1
            assert second.version == 2
            assert second.figures == made.figures
            shown = {(one.measure, one.api, one.number) for one in second.changes}
            then = {(one.measure, one.api): one for one in first.figures}
            for one in made.figures:
                before = then[one.measure, one.api]
                for number in ("value", "part", "whole"):
                    differs = getattr(before, number) != getattr(one, number)
                    assert ((one.measure.value, one.api, number) in shown) == differs
        evidence = evidence_of(truth)
        proof = Proof(signed_text(made).decode(), "e30..e30", {"kty": "RSA"}, evidence)
        assert faults_of(*read_proof(msgspec.json.encode(proof))) == []
        text = json.loads(proof.report)
        figure = random.choice([one for one in text["figures"] if one["whole"]])
        figure[random.choice(("part", "whole"))] += 1
        one_off = msgspec.structs.replace(proof, report=json.dumps(text))
        assert len(faults_of(*read_proof(msgspec.json.encode(one_off)))) >= 1
    assert changed >= months - 1


def test_each_number_of_two_short_months_equals_the_recount() -> None:
    year(7, months=2, windows=3 * 144, events=4)


@pytest.mark.slow
def test_each_number_of_a_year_equals_the_recount() -> None:
    year(2026, months=12, windows=30 * 144, events=20)
