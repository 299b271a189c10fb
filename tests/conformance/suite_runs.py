"""Runs of the conformance suite against a service of the tests, with or without faults."""

from collections.abc import Callable
from dataclasses import dataclass, field

import httpx2
from tests.support.http_clients import NO_TLS
from tests.support.members import Member, new_member
from tests.support.service import Service

from mudra.client import clock
from mudra.conformance.answer import Caller
from mudra.conformance.check import Need
from mudra.conformance.redaction import Redaction
from mudra.conformance.result import Result, Verdict
from mudra.conformance.run import run_checks, selected
from mudra.conformance.service.checks.catalogue import SERVICE_CHECKS
from mudra.conformance.service.implementation import Implementation
from mudra.conformance.service.target import EntityCredentials, Target, UserCredentials
from mudra.shared.secret_text import SecretText

Fault = Callable[[httpx2.Request, httpx2.Response], httpx2.Response | None]
"""Gives another response in place of the service's, or None for its own."""


@dataclass
class FaultyTransport(httpx2.BaseTransport):
    """Forwards to the real service, and changes what comes back."""

    fault: Fault | None = None
    inner: httpx2.HTTPTransport = field(default_factory=lambda: httpx2.HTTPTransport(verify=NO_TLS))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        came = self.inner.handle_request(request)
        came.read()
        return (self.fault and self.fault(request, came)) or came


@dataclass
class Network:
    """A FIP with an admin, and an AA."""

    service: Service
    fip: Member
    aa: Member

    def target(self, *permits: Need) -> Target:
        return Target(
            base_url=self.service.issuer,
            entity=EntityCredentials(self.fip.entity_id, SecretText(self.fip.secret())),
            user=UserCredentials(self.fip.email, SecretText(self.fip.password)),
            aa=EntityCredentials(self.aa.entity_id, SecretText(self.aa.secret())),
            permits=frozenset(permits),
        )


def new_network(service: Service) -> Network:
    return Network(service, new_member(service, "FIP"), new_member(service, "AA"))


def run_suite(
    network: Network,
    *permits: Need,
    only: tuple[str, ...] = (),
    fault: Fault | None = None,
    target: Target | None = None,
) -> list[Result]:
    """Run the suite in this process; waiting moves the service's clock."""
    redaction = Redaction()
    target = target or network.target(*permits)
    with httpx2.Client(transport=FaultyTransport(fault)) as client:
        one = Implementation(
            target,
            Caller(client, lambda _: None),
            redaction,
            lambda seconds: (network.service.advance(f"PT{seconds:.0f}S"), None)[1],
            clock.wall,
        )
        checks = selected(SERVICE_CHECKS, only, decisions=True)
        return run_checks(checks, one, target.given, redaction, clock.steady, lambda _: None)


def failed(results: list[Result]) -> set[str]:
    return {one.check_id for one in results if one.verdict is Verdict.FAILED}


def described(results: list[Result], verdict: Verdict) -> str:
    return "\n".join(
        f"{one.check_id}: {one.expected} / {one.came} {one.reason}"
        for one in results
        if one.verdict is verdict
    )
