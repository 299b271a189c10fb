"""mudra registry lint, submit, import: commands that read a file of payloads."""

import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer
from msgspec import Struct
from rich.progress import track

from mudra.cli.client.api import Api
from mudra.cli.client.registry_call import ask_findings, send_entry
from mudra.cli.client.sign_in import BaseUrl, signed_in
from mudra.cli.command import at_service
from mudra.cli.local.given_file import read_file
from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.registry_store import findings_json, operator, parse
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import Exit, console, fail, show_facts, show_json
from mudra.registry.lifecycle.acts.register import Outcome, preview_submission, submit_or_update
from mudra.registry.lifecycle.acts.submission import Repeat
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.refusal import SecondOperatorNeeded
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.lint import LintReport, check_all
from mudra.registry.payload.lint import lint as lint_file
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.registry.ports import Registry
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding
from mudra.shared.text.undecodable import REPLACEMENT, without_lone_surrogates
from mudra.shared.unavailable import DatabaseUnavailable

T = TypeVar("T")
File = Annotated[Path, typer.Argument(help="A payload, or an array of them, as JSON.")]
Older = Annotated[
    bool,
    typer.Option(help="Accept forms that older directories contain, and report them as notes."),
]


class Line(Struct, frozen=True):
    """The result of one payload of a file."""

    entity_id: str
    result: str
    detail: str = ""


class Imported(Struct, frozen=True):
    """The result of a file; `interrupted` if the database became unavailable before its end."""

    lines: tuple[Line, ...]
    interrupted: bool = False


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
        typer.Option(help="Ask the service, as the signed-in user: its vocabulary and rules."),
    ] = False,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Check a file and show every finding. Exit code 1 if it would be refused.

    Offline with the vocabulary and rules of this release; with --online with those of the
    service, to which the operator may have added words. Neither stores anything.
    """
    if online and (older or sandbox):
        fail(
            "--older and --sandbox work offline only: with --online the service decides", Exit.USAGE
        )
    if online:
        report = LintReport(1, _as_user(base_url, partial(ask_findings, raw=_one_payload(file))))
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
    """Submit or update one entry as the signed-in user; some changes need approval.

    With --as-operator it is written to the data directory or database directly.
    """
    from mudra.registry.lifecycle.acts.registration import (  # noqa: PLC0415  # loads the database
        RegistrationService,
    )
    from mudra.registry.payload.extend_vocabulary import (  # noqa: PLC0415  # loads the database
        read_vocabulary,
    )
    from mudra.registry.payload.vocabulary_store import (  # noqa: PLC0415  # loads the database
        VocabularyStore,
    )

    raw = _one_payload(file)
    if not as_operator:
        status, notes = _as_user(base_url, partial(send_entry, raw=raw))
        _show((Line(_id_of(raw), status, notes),), as_json=as_json)
        return

    async def act(dependencies: Dependencies) -> Line:
        async with dependencies.transaction() as tx:
            vocabulary = await read_vocabulary(VocabularyStore(tx))
            checked = check_payload(raw, tx.service(RegistrationService).policy, vocabulary)
            if not isinstance(checked, CheckedPayload):
                return _refused(checked)
            return _line(await submit_or_update(tx.service(Registry), checked, operator()), checked)

    lines = (program().in_store(act, data_dir),)
    _show(lines, as_json=as_json)
    _end(lines)


def _as_user(base_url: str | None, call: Callable[[Api], Awaitable[T]]) -> T:
    entry = signed_in(base_url)
    return at_service(entry.base_url, call, entry.secret_token)


def import_file(
    file: File,
    dry_run: Annotated[
        bool, typer.Option(help="Show what each entry would change; change nothing.")
    ] = False,
    older: Older = True,
    entity_type: Annotated[
        EntityType | None, typer.Option("--type", help="The type of entries that name none.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Import an array of payloads, live at once; each wholly or not at all.

    The same file again skips entries that are there: so an interrupted import
    can be resumed. Where two operators are needed, entries are pending until
    another one imports the same file. An older entry without a type gets the one
    whose fields it fills, or that its ID names.
    """
    from mudra.registry.lifecycle.acts.registration import (  # noqa: PLC0415  # loads the database
        RegistrationService,
    )
    from mudra.registry.payload.extend_vocabulary import (  # noqa: PLC0415  # loads the database
        read_vocabulary,
    )
    from mudra.registry.payload.vocabulary_store import (  # noqa: PLC0415  # loads the database
        VocabularyStore,
    )

    raws = [_typed(raw, entity_type) for raw in _payloads(file, older=older)]

    async def act(dependencies: Dependencies) -> Imported:
        async with dependencies.transaction() as tx:
            vocabulary = await read_vocabulary(VocabularyStore(tx))
            policy = tx.service(RegistrationService).policy
        checked = [
            _cut(place) if _is_cut(raw) else found
            for place, (raw, found) in enumerate(
                zip(raws, check_all(raws, policy, vocabulary, older=older), strict=True)
            )
        ]
        lines: list[Line] = []
        for one in track(checked, "importing", console=console, disable=as_json):
            try:
                lines.append(await _imported(dependencies, one, dry_run=dry_run))
            except DatabaseUnavailable:
                return Imported(tuple(lines), interrupted=True)
        return Imported(tuple(lines))

    imported = program().in_store(act, data_dir)
    _show(imported.lines, as_json=as_json)
    if imported.interrupted:
        fail(
            f"the database did not answer after {len(imported.lines)} of {len(raws)} entries: "
            "run the same command again, it skips the entries that are there",
            Exit.UNREACHABLE,
        )
    _end(imported.lines)


async def _imported(
    dependencies: Dependencies, checked: CheckedPayload | list[Finding], *, dry_run: bool
) -> Line:

    if not isinstance(checked, CheckedPayload):
        return _refused(checked)
    async with dependencies.transaction() as tx:
        if dry_run:
            return _preview(
                await preview_submission(tx.service(Registry), checked, operator()), checked
            )
        outcome = await submit_or_update(tx.service(Registry), checked, operator(), approved=True)
        return _line(outcome, checked)


def _one_payload(file: Path) -> object:
    raws = _payloads(file)
    if len(raws) != 1:
        fail(
            f"{file} holds {len(raws)} payloads: the service accepts one; lint offline and import "
            "accept an array",
            Exit.USAGE,
        )
    return raws[0]


def _payloads(file: Path, *, older: bool = False) -> list[object]:
    """Return the payloads of a file; in an `older` one half of a character costs its entry."""
    data = read_file(file)
    try:
        raw = parse(without_lone_surrogates(data) if older else data)
    except ValueError as wrong:
        fail(f"{file} is not JSON: {wrong}", Exit.USAGE)
    return raw if isinstance(raw, list) else [raw]


def _cut(place: int) -> list[Finding]:
    problem = "has half of a character (a lone surrogate)"
    return [Finding(f"$[{place}]", problem, "a text of whole characters")]


def _is_cut(raw: object) -> bool:
    return REPLACEMENT.encode() in msgspec.json.encode(raw)


def _typed(raw: object, entity_type: EntityType | None) -> object:
    if entity_type is None or not isinstance(raw, dict) or raw.get("type"):
        return raw
    return raw | {"type": entity_type.value}


def _refused(findings: list[Finding]) -> Line:
    return Line("", "refused", _sentences(tuple(findings)))


def _preview(outcome: "Outcome | Repeat", checked: CheckedPayload) -> Line:

    result = ""
    if isinstance(outcome, Decision):
        result = "new" if outcome.action is RegistryAction.SUBMIT else "changed"
    return _line(outcome, checked, result)


def _line(outcome: "Outcome | Repeat", checked: CheckedPayload, result: str = "") -> Line:

    entity_id = checked.entry.entityinfo.id
    if isinstance(outcome, Repeat):
        return Line(entity_id, "unchanged")
    if isinstance(outcome, Decision):
        return Line(entity_id, result or outcome.status, _sentences(checked.notes))
    if isinstance(outcome, SecondOperatorNeeded):
        return Line(entity_id, "pending", outcome.sentence)
    return Line(entity_id, "refused", outcome.sentence)


def _sentences(findings: tuple[Finding, ...]) -> str:
    return "; ".join(one.sentence() for one in findings)


def _id_of(raw: object) -> str:
    info = raw.get("entityinfo") if isinstance(raw, dict) else None
    found = info.get("id") if isinstance(info, dict) else None
    return found if isinstance(found, str) else ""


def _show(lines: tuple[Line, ...], *, as_json: bool) -> None:
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
