"""A proof shows any one changed number, without the signature: in the report or its evidence."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples
from tests.unit.levels.recount import START, random_world
from tests.unit.levels.worlds import MEMBER, RULE, evidence_of

from mudra.levels.proof import Proof, Unreadable, faults_of, read_proof
from mudra.levels.report import encoded_evidence, report_of, signed_text
from mudra.levels.target import SHIPPED
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.percentiles import percentiles_of

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def proof_of(seed: int) -> dict[str, Any]:
    world = random_world(seed)
    evidence = evidence_of(world)
    end = world.at(world.windows)
    report = report_of(
        MEMBER,
        TimeRange(START, end),
        evidence,
        encoded_evidence(evidence),
        SHIPPED,
        issuer="https://x.example/iam",
        rule=RULE,
        now=NOW,
        percentiles_of=percentiles_of,
    )
    proof = Proof(signed_text(report).decode(), "e30..e30", {"kty": "RSA"}, evidence)
    read: dict[str, Any] = json.loads(msgspec.json.encode(proof))
    return read


def faults(proof: dict[str, Any]) -> list[str]:
    try:
        return faults_of(*read_proof(json.dumps(proof).encode()))
    except Unreadable as reason:
        return [str(reason)]


def numbers_in(value: Any) -> list[tuple[Any, Any]]:
    """Each place with a number: the list or object that has it, and where."""
    found = []
    places = value.items() if isinstance(value, dict) else enumerate(value)
    for place, one in places:
        if isinstance(one, dict | list):
            found += numbers_in(one)
        elif isinstance(one, int | float) and not isinstance(one, bool):
            found.append((value, place))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_an_unchanged_proof_has_no_fault(seed: int) -> None:
    assert faults(proof_of(seed)) == []


@pytest.mark.deeper
@settings(max_examples=examples(30))
@given(st.integers(0, 200), st.integers(0), st.sampled_from((1, -1, 7)))
def test_any_one_changed_number_of_the_figures_is_found(seed: int, which: int, by: int) -> None:
    proof = proof_of(seed)
    report = json.loads(proof["report"])
    places = numbers_in({"figures": report["figures"], "reports": report["reports"]})
    held, place = places[which % len(places)]
    held[place] += by
    proof["report"] = json.dumps(report)

    assert faults(proof) != []


@pytest.mark.deeper
@settings(max_examples=examples(30))
@given(st.integers(0, 200), st.integers(0), st.sampled_from((1, -1, 7)))
def test_any_one_changed_number_of_the_evidence_is_found(seed: int, which: int, by: int) -> None:
    proof = proof_of(seed)
    places = numbers_in(proof["evidence"])
    held, place = places[which % len(places)]
    held[place] += by

    assert faults(proof) != []


def test_the_fault_names_the_number_and_both_values() -> None:
    proof = proof_of(3)
    report = json.loads(proof["report"])
    figure = next(one for one in report["figures"] if one["measure"] == "success")
    truth = figure["part"]
    figure["part"] += 5
    proof["report"] = json.dumps(report)

    (found,) = faults(proof)

    assert found == (
        f"success of all calls: the report says part {truth + 5}, the evidence gives {truth}"
    )


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[" * 100_000, b'{"report": 1}', b"\xff", b"null"]
)
def test_what_is_no_proof_is_refused_with_a_sentence(content: bytes) -> None:
    with pytest.raises(Unreadable, match="the file is no proof of a report"):
        read_proof(content)
