"""How the registry's commands reach the registry, and how they tell of it."""

from pathlib import Path

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.output.output import Exit, fail
from mudra.http.request.strict_json import JsonRefused, parse_document
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.payload.vocabulary import Vocabulary, shipped_vocabulary
from mudra.shared.finding import Finding
from mudra.storage.registry.directory_log import PostgresWordbook
from mudra.storage.registry.registry import PostgresRegistry

MAX_BYTES = 64 * 1024 * 1024
"""Largest file that is read."""


def operator() -> Actor:
    """The one who runs this command: whoever may open the data directory may decide."""
    return Actor(ActorKind.OPERATOR, operator_name(), scopes=frozenset({SUBMIT, DECIDE}))


def registry_of(dependencies: Dependencies) -> PostgresRegistry:
    """The registry, changed in the operator's name."""
    found: PostgresRegistry = dependencies.registry(Caller(operator_name()))
    return found


async def vocabulary_of(dependencies: Dependencies) -> Vocabulary:
    """The words of this release and those that the operator added."""
    return shipped_vocabulary().extended(await PostgresWordbook(dependencies.database).additions())


def read_file(path: Path) -> bytes:
    """Read a file of payloads, or end with what is wrong with it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            fail(f"{path} is larger than {MAX_BYTES} bytes", Exit.USAGE)
        return path.read_bytes()
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}", Exit.USAGE)


def parse(data: bytes) -> object:
    """Read strict JSON; raises ValueError with what is wrong and where."""
    try:
        return parse_document(data)
    except JsonRefused as refused:
        raise ValueError(refused.sentence()) from None


def findings_json(findings: tuple[Finding, ...]) -> list[dict[str, str]]:
    """Write findings for programs."""
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
