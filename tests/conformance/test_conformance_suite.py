"""The conformance suite against our own service: all holds, and each injected fault is found."""

from tests.support.conformance import described, new_network, run_suite
from tests.support.registry_members import live_entry
from tests.support.service import Service

from mudra.conformance.check import Need
from mudra.conformance.result import Verdict

ALL = (Need.ALL_RESETS, Need.REGISTER, Need.PUSH)


def test_our_service_passes_every_check(service: Service) -> None:
    live_entry(service, "AA")

    results = run_suite(new_network(service), *ALL)

    assert not described(results, Verdict.FAILED)
    assert not described(results, Verdict.SKIPPED)
    assert len(results) > 60
