"""mudra registry lint, submit, import: what is done with a file of payloads."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from rich.progress import track

from mudra.cli.client.api_client import BaseUrl
from mudra.cli.client.registry_call import ask_findings, send_entry
from mudra.cli.local.program import Dependencies
from mudra.cli.local.registry_store import (
    findings_json,
    operator,
    parse,
    read_file,
    registry_of,
    vocabulary_of,
)
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_rooms
from mudra.cli.output.output import Exit, console, fail, show_facts, show_json
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.refusal import RegistryRefusal
from mudra.registry.lifecycle.register import (
    Outcome,
    preview_submission,
    submit_entry,
    update_entry,
)
from mudra.registry.lifecycle.submission import Repeat
from mudra.registry.payload.lint import LintReport, listed_twice
from mudra.registry.payload.lint import lint as lint_file
from mudra.registry.payload.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import Vocabulary, shipped_vocabulary
from mudra.shared.finding import Finding
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.registry.registry import PostgresRegistry

File = Annotated[Path, typer.Argument(help="A payload, or an array of them, as JSON.")]
Older = Annotated[bool, typer.Option(help="Read what older directories hold; note it only.")]


class Line(Struct, frozen=True):
    """What became of one payload of a file."""

    entity_id: str
    result: str
    detail: str = ""


class Brought(Struct, frozen=True):
    """What became of a file: `broke_off` when the database went away before its end."""

    lines: tuple[Line, ...]
    broke_off: bool = False


def add_to(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(epilog="Example: mudra registry lint entry.json")(lint)
    app.command(epilog="Example: mudra registry submit entry.json")(submit)
    app.command("import", epilog="Example: mudra registry import directory.json --dry-run")(
        import_file
    )


def lint(
    file: File,
    older: Older = False,
    sandbox: Annotated[bool, typer.Option(help="Allow http and private addresses.")] = False,
    online: Annotated[
        bool,
        typer.Option(help="Ask the service, as the signed-in user: its own words and rules."),
    ] = False,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Judge a file: every finding at once. Exit code 1 when it would be refused.

    Offline by the words and rules of this release; with --online by those of the service, to
    which the operator may have added words. Neither keeps anything.
    """
    if online and (older or sandbox):
        fail("--older and --sandbox are for offline: with --online the service decides", Exit.USAGE)
    if online:
        report = LintReport(1, ask_findings(_one_payload(file), base_url))
    else:
        policy = AddressPolicy(sandbox, sandbox)
        report = lint_file(read_file(file), parse, policy, shipped_vocabulary(), older=older)
    if as_json:
        show_json(
            {
                "payloads": report.payloads,
                "passes": report.passes,
                "findings": findings_json(report.findings),
            }
        )
    else:
        for finding in report.findings:
            sys.stdout.write(f"{finding.severity.value}: {finding.sentence()}\n")
        verdict = "passes" if report.passes else "would be refused"
        sys.stdout.write(f"{report.payloads} payload(s): {verdict}\n")
    if not report.passes:
        raise typer.Exit(int(Exit.FAILED))


def submit(
    file: File,
    base_url: BaseUrl = None,
    as_operator: Annotated[
        bool, typer.Option(help="Act on the data directory, for any entity, without a sign-in.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Submit or update one entry as the signed-in user; it waits for approval where one is needed.

    With --as-operator it goes into the data directory or database directly.
    """
    raw = _one_payload(file)
    if not as_operator:
        status, notes = send_entry(raw, base_url)
        _tell((Line(_id_of(raw), status, notes),), as_json=as_json)
        return

    async def act(dependencies: Dependencies) -> Line:
        vocabulary = await vocabulary_of(dependencies)
        checked = check_payload(raw, dependencies.address_policy, vocabulary)
        if not isinstance(checked, CheckedPayload):
            return _refused(checked)
        return await _store(registry_of(dependencies), checked, approved=False)

    lines = (with_rooms(act, data_dir),)
    _tell(lines, as_json=as_json)
    _end(lines)


def import_file(
    file: File,
    dry_run: Annotated[
        bool, typer.Option(help="Say what each entry would come to, change nothing.")
    ] = False,
    older: Older = True,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Import an array of payloads, live at once; each wholly or not at all.

    The same file again passes over what is there: so an import that broke off
    is resumed.
    """
    raws = _payloads(file)

    async def act(dependencies: Dependencies) -> Brought:
        vocabulary = await vocabulary_of(dependencies)
        judged = _judged(raws, dependencies.address_policy, vocabulary, older=older)
        registry = registry_of(dependencies)
        lines: list[Line] = []
        for checked in track(judged, "importing", console=console, disable=as_json):
            if not isinstance(checked, CheckedPayload):
                lines.append(_refused(checked))
                continue
            try:
                if dry_run:
                    lines.append(
                        _foreseen(await preview_submission(registry, checked, operator()), checked)
                    )
                else:
                    lines.append(await _store(registry, checked, approved=True))
            except DatabaseUnavailable:
                return Brought(tuple(lines), broke_off=True)
        return Brought(tuple(lines))

    brought = with_rooms(act, data_dir)
    _tell(brought.lines, as_json=as_json)
    if brought.broke_off:
        fail(
            f"the database did not answer after {len(brought.lines)} of {len(raws)} entries: "
            "run the same command again, it passes over what is there",
            Exit.UNREACHABLE,
        )
    _end(brought.lines)


def sentence_of(outcome: object) -> str:
    """Say why the registry refused."""
    assert isinstance(outcome, RegistryRefusal), outcome
    return outcome.sentence()


def _one_payload(file: Path) -> object:
    raws = _payloads(file)
    if len(raws) != 1:
        fail(
            f"{file} holds {len(raws)} payloads: the service takes one; lint offline and import "
            "take an array",
            Exit.USAGE,
        )
    return raws[0]


def _payloads(file: Path) -> list[object]:
    try:
        raw = parse(read_file(file))
    except ValueError as wrong:
        fail(f"{file} is not JSON: {wrong}", Exit.USAGE)
    return raw if isinstance(raw, list) else [raw]


def _judged(
    raws: list[object], policy: AddressPolicy, vocabulary: Vocabulary, *, older: bool
) -> list[CheckedPayload | list[Finding]]:
    """Check every payload; what is listed before in the file is refused as well."""
    roots = [f"$[{index}]" for index in range(len(raws))]
    results = [
        (root, check_payload(raw, policy, vocabulary, older=older, root=root))
        for root, raw in zip(roots, raws, strict=True)
    ]
    twice: dict[str, list[Finding]] = {}
    for found in listed_twice(results):
        twice.setdefault(found.path.partition(".")[0], []).append(found)
    return [twice.get(root, result) for root, result in results]


def _refused(findings: list[Finding]) -> Line:
    return Line("", "refused", _sentences(tuple(findings)))


def _foreseen(outcome: Outcome | Repeat, checked: CheckedPayload) -> Line:
    entity_id = checked.entry.entityinfo.id
    if isinstance(outcome, Repeat):
        return Line(entity_id, "unchanged")
    if isinstance(outcome, Decision):
        result = "new" if outcome.act is RegistryAction.SUBMIT else "changed"
        return Line(entity_id, result, _sentences(checked.notes))
    return Line(entity_id, "refused", sentence_of(outcome))


async def _store(registry: PostgresRegistry, checked: CheckedPayload, *, approved: bool) -> Line:
    entity_id = checked.entry.entityinfo.id
    there = await registry.history(entity_id)
    outcome: Outcome | Repeat
    if there is None:
        outcome = await submit_entry(registry, checked, operator(), approved=approved)
    else:
        outcome = await update_entry(registry, checked, operator(), approved=approved)
    if isinstance(outcome, Repeat):
        return Line(entity_id, "unchanged")
    if isinstance(outcome, Decision):
        return Line(entity_id, outcome.status, _sentences(checked.notes))
    return Line(entity_id, "refused", sentence_of(outcome))


def _sentences(findings: tuple[Finding, ...]) -> str:
    return "; ".join(one.sentence() for one in findings)


def _id_of(raw: object) -> str:
    info = raw.get("entityinfo") if isinstance(raw, dict) else None
    found = info.get("id") if isinstance(info, dict) else None
    return found if isinstance(found, str) else ""


def _tell(lines: tuple[Line, ...], *, as_json: bool) -> None:
    if as_json:
        show_json(
            [
                {"entityId": one.entity_id, "result": one.result, "detail": one.detail}
                for one in lines
            ]
        )
        return
    for number, one in enumerate(lines):
        if one.detail:
            sys.stdout.write(f"[{number}] {one.entity_id} {one.result}: {one.detail}\n")
    show_facts(dict(Counter(one.result for one in lines)))


def _end(lines: tuple[Line, ...]) -> None:
    if any(one.result == "refused" for one in lines):
        raise typer.Exit(int(Exit.FAILED))
