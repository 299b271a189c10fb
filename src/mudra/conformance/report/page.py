"""One HTML page: the parts, each check with the line that it proves, printable, no other file."""

from collections import defaultdict
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from mudra.conformance.result import Report, Result, Verdict

_PARTS: Final = {
    "1": "What the service does",
    "2.2": "Token response",
    "2.3": "Entity secret",
    "2.5": "Request metrics",
    "2.6": "Notification metrics",
    "2.7": "Registry payload",
    "3": "States of a secret",
    "4.1": "User token",
    "4.2": "Read the secret",
    "4.3": "Reset the secret",
    "4.4": "Entity token",
    "5": "Authentication",
    "7": "Errors",
    "8": "Limits",
    "D1": "Network facts: calls between members",
    "D3": "Network decisions: token service",
    "D4": "Network decisions: registry",
    "D5": "Network decisions: metrics",
}


def page(report: Report) -> str:
    """Return the page; everything that came from outside is escaped."""
    parts: defaultdict[str, list[Result]] = defaultdict(list)
    for result in report.results:
        parts[result.part].append(result)
    environment = Environment(
        loader=PackageLoader("mudra.conformance", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        report=report,
        names=_PARTS,
        parts=[(part, _PARTS.get(part, ""), parts[part]) for part in sorted(parts)],
        counts=[(verdict.value, report.count(verdict)) for verdict in Verdict],
        failed=[one for one in report.results if one.verdict is Verdict.FAILED],
    )
