"""`mudra registry lint FILE`: the whole judgement of a registration, offline."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from mudra.registry.payload.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.shared.finding import Finding, Severity

Results: TypeAlias = list[tuple[str, CheckedPayload | list[Finding]]]
"""The path of each payload in its file, and what became of it."""


class LintReport(Struct, frozen=True):
    """How many payloads a file holds, and everything found in it."""

    payloads: int
    findings: tuple[Finding, ...]

    @property
    def passes(self) -> bool:
        """Whether every payload would be taken."""
        return all(found.severity is Severity.NOTE for found in self.findings)


def lint(
    data: bytes,
    parse: Callable[[bytes], object],
    policy: AddressPolicy,
    vocabulary: Vocabulary,
    *,
    older: bool = False,
) -> LintReport:
    """Judge a file with one payload or an array of them.

    `parse` reads strict JSON and raises `ValueError` with what is wrong and where.
    """
    try:
        raw = parse(data)
    except ValueError as wrong:
        return LintReport(0, (Finding("$", f"is not JSON: {wrong}", "one payload or an array"),))
    if not isinstance(raw, list):
        return LintReport(1, tuple(_findings(check_payload(raw, policy, vocabulary, older=older))))
    if not raw:
        return LintReport(0, (Finding("$", "is an empty array", "at least one payload"),))
    results = [
        (root, check_payload(one, policy, vocabulary, older=older, root=root))
        for root, one in ((f"$[{index}]", one) for index, one in enumerate(raw))
    ]
    findings = [found for _, result in results for found in _findings(result)]
    return LintReport(len(raw), (*findings, *listed_twice(results)))


def _findings(result: CheckedPayload | list[Finding]) -> tuple[Finding, ...]:
    return result.notes if isinstance(result, CheckedPayload) else tuple(result)


def listed_twice(results: Results) -> Iterator[Finding]:
    """Find what must be unique over the registry and is not so in this file."""
    seen: dict[tuple[str, str], str] = {}
    for root, result in results:
        if not isinstance(result, CheckedPayload):
            continue
        info = result.entry.entityinfo
        unique = (
            ("id", info.id),
            ("entityhandle", info.entityhandle),
            ("certificate.kid", result.key.kid),
            ("certificate.n", result.key.modulus_hash),
        )
        for name, value in unique:
            first = seen.setdefault((name, value), root) if value else root
            if first != root:
                path = f"{root}.entityinfo.{name}"
                yield Finding(path, f"is the same as in {first}", "unique over the registry")
