"""mudra report: monthly reports of service levels, their proof, and the targets."""

from pathlib import Path
from typing import Annotated, Final
from uuid import UUID

import msgspec
import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command, user_command
from mudra.cli.commands.levels import network_rules, targets
from mudra.cli.commands.levels.report_verify import verify
from mudra.cli.local.instant_option import read_instant
from mudra.cli.output.output import Exit, fail, show_table
from mudra.cli.output.shown import Shown, line, table, text

app = typer.Typer(no_args_is_help=True)
targets.add_commands(app)
network_rules.add_commands(app)
app.command(epilog="Example: mudra report verify proof.json --keys jwks.json")(verify)
_PATH: Final = "/operator/v1/levels/reports"
_OWN: Final = "/levels/reports"
_ID: Final = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_PREFIX: Final = "/metrics/perf/v1"
_FIGURES: Final = (
    *("MEASURE", "API", "VALUE", "TARGET", "MET"),
    *("CALLS", "LEFT OUT", "UNCERTAIN", "REPORTERS"),
)
ReportId = Annotated[UUID, typer.Argument(help="ID, as mudra report list shows it.")]
Own = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
Out = Annotated[Path, typer.Option("--out", help="File to write; it must not exist.")]
Pdf = Annotated[bool, typer.Option("--pdf", help="The report to print, in place of the proof.")]
Language = Annotated[
    str, typer.Option("--language", help="Of a PDF, such as hi; the network's when left out.")
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print a line for each number as CSV.")]
Prefix = Annotated[str, typer.Option("--prefix", help="Path of the network's metrics.")]
Month = Annotated[str, typer.Option("--month", help="A month of the network, such as 2026-03.")]
Start = Annotated[str, typer.Option("--from", help="In place of a month: when it begins.")]
End = Annotated[str, typer.Option("--to", help="In place of a month: when it ends.")]


@owner_command(app, "mudra report list --entity KAVERI-FIP --json", "list")
async def list_reports(
    api: Api,
    entity: Annotated[
        str, typer.Option("--entity", help="Only this member; 'network' for the network.")
    ] = "",
) -> Shown:
    """List the versions of reports, the latest period and version first."""
    path = f"{_PATH}?entityId=" if entity == "network" else _PATH
    query = {} if entity in {"", "network"} else {"entityId": entity}
    return _listed((await api.get(path, query) if query else await api.get(path))["reports"])


@owner_command(app, "mudra report make KAVERI-FIP --month 2026-03")
async def make(
    api: Api,
    entity: Annotated[str, typer.Argument(help="ID of a FIP or an AA; none for the network.")] = "",
    month: Month = "",
    start: Start = "",
    end: End = "",
) -> Shown:
    """Make a report of a period that is over; a further version only where a number differs."""
    body = {"entityId": entity, **_period(month, start, end)}
    return _listed([(await api.post(_PATH, body))["report"]])


@owner_command(app, f"mudra report show {_ID} --csv")
async def show(api: Api, report_id: ReportId, as_csv: AsCsv = False) -> Shown:
    """Show the numbers of a report and what counts differently; of a version also what changed."""
    path = f"{_PATH}/{report_id}"
    if as_csv:
        found = await api.text(path, {"format": "csv"})
        return text(found, found)
    return _numbers(await api.get(path))


@owner_command(
    app,
    f"mudra report download {_ID} --out proof.json · "
    f"mudra report download {_ID} --pdf --language hi --out report.pdf",
)
async def download(
    api: Api, report_id: ReportId, out: Out, pdf: Pdf = False, language: Language = ""
) -> Shown:
    """Write a report with its signature and the sums that prove it, or as PDF."""
    return await _downloaded(api, f"{_PATH}/{report_id}", out, pdf=pdf, language=language)


@user_command(app, "mudra report own KAVERI-FIP --json")
async def own(api: Api, entity_id: Own, prefix: Prefix = _PREFIX) -> Shown:
    """List the reports of an entity that you administer, and the network's."""
    member = await api.of_entity(entity_id)
    return _listed((await member.get(f"{prefix}{_OWN}"))["reports"])


@user_command(app, "mudra report make-own KAVERI-FIP --month 2026-03")
async def make_own(
    api: Api,
    entity_id: Own,
    month: Month = "",
    start: Start = "",
    end: End = "",
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Make the report of an entity that you administer."""
    member = await api.of_entity(entity_id)
    made = await member.post(f"{prefix}{_OWN}", _period(month, start, end))
    return _listed([made["report"]])


@user_command(app, f"mudra report show-own KAVERI-FIP {_ID}")
async def show_own(
    api: Api, entity_id: Own, report_id: ReportId, as_csv: AsCsv = False, prefix: Prefix = _PREFIX
) -> Shown:
    """Show the numbers of a report of an entity that you administer, or of the network."""
    member, path = await api.of_entity(entity_id), f"{prefix}{_OWN}/{report_id}"
    if as_csv:
        found = await member.text(path, {"format": "csv"})
        return text(found, found)
    return _numbers(await member.get(path))


@user_command(app, f"mudra report download-own KAVERI-FIP {_ID} --out proof.json")
async def download_own(
    api: Api,
    entity_id: Own,
    report_id: ReportId,
    out: Out,
    pdf: Pdf = False,
    language: Language = "",
    prefix: Prefix = _PREFIX,
) -> Shown:
    """Write such a report with its signature and the sums that prove it, or as PDF."""
    member = await api.of_entity(entity_id)
    path = f"{prefix}{_OWN}/{report_id}"
    return await _downloaded(member, path, out, pdf=pdf, language=language)


def _period(month: str, start: str, end: str) -> dict[str, str]:
    if bool(month) == bool(start or end) or bool(start) != bool(end):
        fail("give --month, or --from and --to", Exit.USAGE)
    if month:
        return {"month": month}
    times = {"start": ("--from", start), "end": ("--to", end)}
    return {name: read_instant(*typed).isoformat() for name, typed in times.items()}


def _listed(found: list[Answer]) -> Shown:
    return table(
        ["ID", "MEMBER", "FROM", "TO", "VERSION", "MADE"],
        [
            [
                *(one["reportId"], one["entityId"] or "network", one["start"], one["end"]),
                *(str(one["version"]), one["madeAt"]),
            ]
            for one in found
        ],
        found,
    )


def _numbers(answer: Answer) -> Shown:
    report = answer["report"]
    figures = [
        [
            *(one["measure"], one["api"] or "all", _text(one["value"]), _text(one["target"])),
            {True: "yes", False: "no", None: ""}[one["met"]],
            *(str(one["whole"]), str(one["leftOut"]), str(one["uncertain"])),
            str(one["reporters"]),
        ]
        for one in report["figures"]
    ]
    changes = [
        [
            *(one["measure"], one["api"] or "all", one["number"]),
            *(_text(one["before"]), _text(one["after"])),
        ]
        for one in report["changes"]
    ]

    spans = [
        [
            *(one["fate"], one["start"], one["end"], one["cause"]),
            *(", ".join(one["peers"]), one["reference"]),
        ]
        for one in report["spans"]
    ]

    def shown() -> None:
        show_table(_FIGURES, figures)
        if spans:
            typer.echo("\nWhat counts differently:")
            show_table(["COUNTS AS", "FROM", "TO", "CAUSE", "WITH", "ID"], spans)
        if changes:
            typer.echo(f"\nChanged since version {report['version'] - 1}:")
            show_table(["MEASURE", "API", "NUMBER", "BEFORE", "AFTER"], changes)
            for reason in report["reasons"]:
                typer.echo(f"because: {reason}")

    return Shown(answer.content, shown)


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:,.4f}".rstrip("0").rstrip(".")


async def _downloaded(api: Api, path: str, out: Path, *, pdf: bool, language: str) -> Shown:
    if language and not pdf:
        fail("--language is that of a PDF: add --pdf", Exit.USAGE)
    if pdf:
        _write(out, await api.file(path, {"format": "pdf", "language": language}))
        return line(f"{out} is written", {"file": str(out)})
    _write(out, msgspec.json.encode((await api.get(f"{path}/proof")).content))
    return line(f"{out} is written: check it with mudra report verify {out}", {"file": str(out)})


def _write(out: Path, content: bytes) -> None:
    try:
        with out.open("xb") as file:
            file.write(content)
    except OSError as error:
        fail(f"--out {out}: {error.strerror}")
