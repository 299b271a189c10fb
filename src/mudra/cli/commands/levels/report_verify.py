"""mudra report verify: recompute every number of a report from its proof, without any network."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from mudra.cli.local.given_file import read_file
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, facts
from mudra.client.errors import SignatureRefused
from mudra.client.signing.body_signature import RegisteredKey, signing_key_id
from mudra.levels.proof import Proof, Unreadable, faults_of, read_proof
from mudra.levels.report import Report

_UNPROVEN = (
    "The key is that of the file itself. Compare it with the network's published keys: "
    "save {issuer}/.well-known/jwks.json as a file, and pass it with --keys."
)


def verify(
    file: Annotated[Path, typer.Argument(help="The proof, as mudra report download wrote it.")],
    keys: Annotated[
        Path | None,
        typer.Option("--keys", help="The network's published keys (JWK Set), saved as a file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a report offline: its signature, and each number against the sums in the file."""
    try:
        proof, report = read_proof(read_file(file))
    except Unreadable as reason:
        fail(f"{file}: {reason}", Exit.USAGE)
    faults = [*_unsigned(proof, keys), *faults_of(proof, report)]
    _shown(proof, report, faults, trusted=keys is not None).write(as_json=as_json)


def _unsigned(proof: Proof, keys: Path | None) -> Iterable[str]:
    key = proof.key if keys is None else _key_of(keys, proof)
    if key is None:
        yield "signature: none of the keys in --keys made it"
        return
    try:
        RegisteredKey.from_certificate(key).check(proof.report.encode(), proof.signature)
    except SignatureRefused as refused:
        yield f"signature: {refused.diagnosis}"


def _key_of(file: Path, proof: Proof) -> Mapping[str, object] | None:
    try:
        kid = signing_key_id(proof.signature)
        found: Any = msgspec.json.decode(read_file(file))
        return next((one for one in found["keys"] if one.get("kid") == kid), None)
    except SignatureRefused:
        return None
    except (msgspec.MsgspecError, LookupError, TypeError, AttributeError):
        fail(f"{file} is no JWK Set (RFC 7517 5)", Exit.USAGE)


def _shown(proof: Proof, report: Report, faults: list[str], *, trusted: bool) -> Shown:
    document = {
        "valid": not faults,
        "faults": faults,
        "keyIsPublished": trusted,
        "kid": proof.key.get("kid", ""),
        "entityId": report.member.entity_id,
        "start": report.start.isoformat(),
        "end": report.end.isoformat(),
        "version": report.version,
        "figures": len(report.figures),
        "days": len({one.at for one in proof.days}),
    }
    said = {
        "member": report.member.entity_id or "network",
        "period": f"{report.start.isoformat()} to {report.end.isoformat()}",
        "version": report.version,
        "key": f"{document['kid']} ({'published' if trusted else 'of the file'})",
        "figures": f"{len(report.figures)} recomputed from {len(proof.evidence.whole)} sums",
        "days": f"{document['days']} add up" if proof.days else "not in the file",
    }
    for number, one in enumerate(faults, 1):
        said[f"fault {number}"] = one
    notes = [] if trusted else [_UNPROVEN.format(issuer=report.issuer)]
    shown = facts({**said, "verdict": "valid" if not faults else "NOT VALID"}, document)
    return Shown(
        document,
        shown.show,
        Exit.FAILED if faults else Exit.OK,
        "the report is not what the file proves: do not rely on it" if faults else "",
        notes,
    )
