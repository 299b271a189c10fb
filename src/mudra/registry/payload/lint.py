"""Checks of whole files: `mudra registry lint FILE`, offline, and before an import."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.shared.finding import Finding, Severity

_Results: TypeAlias = list[tuple[str, CheckedPayload | list[Finding]]]
"""The path of each payload in its file, and the result of its check."""


class LintReport(Struct, frozen=True):
    """The number of payloads in a file, and all findings."""

    payloads: int
    findings: tuple[Finding, ...]

    @property
    def passes(self) -> bool:
        """Return whether every payload would be accepted."""
        return all(found.severity is Severity.NOTE for found in self.findings)


def lint(
    data: bytes,
    parse: Callable[[bytes], object],
    policy: AddressPolicy,
    vocabulary: Vocabulary,
    *,
    older: bool = False,
) -> LintReport:
    """Check a file with one payload or an array of them.

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
    results = _check_each(raw, policy, vocabulary, older=older)
    findings = [found for _, result in results for found in _findings(result)]
    return LintReport(len(raw), (*findings, *_repeated(results)))


def check_all(
    raws: Sequence[object], policy: AddressPolicy, vocabulary: Vocabulary, *, older: bool
) -> list[CheckedPayload | list[Finding]]:
    """Check the payloads of an import; one that repeats an earlier one is refused as well."""
    results = _check_each(raws, policy, vocabulary, older=older)
    repeated: dict[str, list[Finding]] = {}
    for found in _repeated(results):
        repeated.setdefault(found.path.partition(".")[0], []).append(found)
    return [repeated.get(root, result) for root, result in results]


def _check_each(
    raws: Sequence[object], policy: AddressPolicy, vocabulary: Vocabulary, *, older: bool
) -> _Results:
    return [
        (root, check_payload(raw, policy, vocabulary, older=older, root=root))
        for root, raw in ((f"$[{index}]", raw) for index, raw in enumerate(raws))
    ]


def _findings(result: CheckedPayload | list[Finding]) -> tuple[Finding, ...]:
    return result.notes if isinstance(result, CheckedPayload) else tuple(result)


def _repeated(results: _Results) -> Iterator[Finding]:
    """Find values that must be unique over the registry and occur twice in this file."""
    seen: dict[tuple[str, str], str] = {}
    for root, result in results:
        if not isinstance(result, CheckedPayload):
            continue
        info = result.entry.entityinfo
        unique = (
            ("id", info.id),
            # Its case makes no other handle (0205).
            ("entityhandle", info.entityhandle.lower()),
            ("certificate.kid", result.key.kid),
            ("certificate.n", result.key.modulus_hash),
        )
        for name, value in unique:
            first = seen.setdefault((name, value), root) if value else root
            if first != root:
                path = f"{root}.entityinfo.{name}"
                yield Finding(path, f"is the same as in {first}", "unique over the registry")
