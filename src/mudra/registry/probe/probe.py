"""The probe of a member's address, and its result."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.shared.refusal import PlainRefusal, RefusalKind


def nothing_to_probe(entity_id: str) -> PlainRefusal:
    """Refuse: the entity has neither a pending version nor a live one."""
    return PlainRefusal(
        RefusalKind.CONFLICT, f"{entity_id} has neither a pending version nor a live one"
    )


def not_probed(entity_id: str) -> PlainRefusal:
    """Refuse: no one has asked for a probe of the entity's base URL."""
    return PlainRefusal(RefusalKind.NOT_FOUND, f"the base URL of {entity_id} has not been probed")


class ServerCertificate(Struct, frozen=True):
    """The certificate by which a server answered; `problem` says why it is not trusted."""

    subject: str
    issuer: str
    names: Sequence[str]
    valid_until: datetime
    sha256: str
    problem: str = ""


class ProbeResult(Struct, frozen=True):
    """The result of a probe.

    `status` is that of the answer, 0 without one, of which `problem` says why. `key_problem` says
    why the registered key is not proven; empty when it is.
    """

    status: int
    problem: str
    key_problem: str
    certificate: ServerCertificate | None = None

    @property
    def is_key_proven(self) -> bool:
        """Return whether the server showed that it holds the registered key."""
        return not self.key_problem


class Probe(Struct, frozen=True):
    """A probe of one version; without `done_at` it waits or runs."""

    probe_id: str
    entity_id: str
    version: int
    requested_by: str
    requested_at: datetime
    done_at: datetime | None = None
    result: ProbeResult | None = None


class WaitingProbe(Struct, frozen=True):
    """A probe to be run: what the version says, and who asked for it.

    `base_url` is that of the newest version of the interface, where the entry has several.
    """

    probe_id: str
    entity_id: str
    version: int
    base_url: str
    key: Mapping[str, str]
    caller: Caller
