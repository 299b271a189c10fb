"""The ground of the registry's commands: who acts, payloads, findings."""

from mudra.cli.local.operator_name import operator_name
from mudra.http.request.body.strict_json import JsonRefused, parse_json
from mudra.registry.lifecycle import actor
from mudra.registry.lifecycle.actor import Actor
from mudra.shared.finding import Finding


def operator() -> Actor:
    """Return the one who runs this command: anyone who may open the data directory may decide."""
    return actor.operator(operator_name())


def parse(data: bytes) -> object:
    """Read strict JSON; raises ValueError with what is wrong and where."""
    try:
        return parse_json(data)
    except JsonRefused as refused:
        raise ValueError(refused.sentence()) from None


def findings_json(findings: tuple[Finding, ...]) -> list[dict[str, str]]:
    """Return findings as JSON for programs."""
    return [
        {
            "path": one.path,
            "problem": one.problem,
            "allowed": one.allowed,
            "nearest": one.nearest,
            "severity": one.severity.value,
        }
        for one in findings
    ]
