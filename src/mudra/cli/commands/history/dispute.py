"""mudra dispute: a member contests its figures; operators answer and decide."""

import base64
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command, user_command
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.option_group import with_options
from mudra.cli.output.output import Exit, fail, show_facts, show_table
from mudra.cli.output.shown import Shown, facts, line, table
from mudra.disputes.dispute import OPERATOR_ACTS, Act
from mudra.disputes.evidence import MAX_BYTES
from mudra.disputes.raise_rule import days_within

app = typer.Typer(no_args_is_help=True)
_OWN = "v1/entity/disputes"
_ALL = "/operator/v1/disputes"
_STEPS = [one.value for one in Act if one in OPERATOR_ACTS]
_ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_FILE = "1c2b3d4e-5f60-4172-8394-a5b6c7d8e9f0"

_Entity = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
_Which = Annotated[UUID, typer.Argument(help="ID of the dispute.")]
_Evidence = Annotated[UUID, typer.Argument(help="ID of the file, as the dispute lists it.")]
_Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write; it must be new.")]
_Text = Annotated[str, typer.Option("--text", help="Your text, at most 4,000 characters.")]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The options of what is contested: exactly one of day, incident and API."""

    text: Annotated[str, typer.Option("--text", help="Your statement, 4,000 characters at most.")]
    day: Annotated[str, typer.Option("--day", help="A day of IST, such as 2026-01-31.")] = ""
    incident: Annotated[str, typer.Option("--incident", help="ID of an incident.")] = ""
    code: Annotated[
        str, typer.Option("--api", help="Code of an API, such as fif; needs --first-day.")
    ] = ""
    first_day: Annotated[str, typer.Option("--first-day", help="First day of the line.")] = ""
    last_day: Annotated[
        str, typer.Option("--last-day", help="Last day of the line; empty for one day.")
    ] = ""
    comment: Annotated[
        bool, typer.Option("--comment", help="Publish a comment; ask for no correction.")
    ] = False

    def body(self) -> dict[str, str]:
        """Return what was typed as the API takes it; ends the command where it is unclear."""
        chosen = {"day": self.day, "incident": self.incident, "line": self.code}
        about = [name for name, typed in chosen.items() if typed]
        if len(about) != 1:
            fail("name what you contest: one of --day, --incident and --api", Exit.USAGE)
        return {
            "kind": "comment" if self.comment else "dispute",
            "about": about[0],
            "text": self.text,
            "day": self.day,
            "incidentId": self.incident,
            "api": self.code,
            "firstDay": self.first_day,
            "lastDay": self.last_day,
        }


@user_command(app, "mudra dispute list KAVERI-FIP --open", "list")
async def list_disputes(
    api: Api,
    entity_id: _Entity,
    only_open: Annotated[bool, typer.Option("--open", help="Only those to be decided.")] = False,
) -> Shown:
    """List the disputes and comments of your entity, the newest first."""
    query = {"entityId": entity_id, "open": "true" if only_open else ""}
    return _listed((await api.get(_OWN, query))["disputes"])


@user_command(app, f"mudra dispute show {_ID}")
async def show(api: Api, dispute_id: _Which) -> Shown:
    """Show a dispute of your entity: its steps, its files, its corrections."""
    return _case(await api.get(f"{_OWN}/{dispute_id}"))


@user_command(
    app,
    'mudra dispute raise KAVERI-FIP --day 2026-01-31 --text "Our gateway answered all calls."',
    "raise",
)
@with_options(Subject)
async def raise_dispute(subject: Subject, api: Api, entity_id: _Entity) -> Shown:
    """Contest a day, an incident or one API over some days, or comment on it."""
    return _case(await api.post(_OWN, {"entityId": entity_id, **subject.body()}))


@user_command(app, f'mudra dispute inform {_ID} --text "The log is attached."')
async def inform(api: Api, dispute_id: _Which, text: _Text) -> Shown:
    """Add to your statement, or answer the operator's question."""
    return _case(await api.post(f"{_OWN}/{dispute_id}/steps", {"act": "inform", "text": text}))


@user_command(app, f"mudra dispute withdraw {_ID}")
async def withdraw(api: Api, dispute_id: _Which) -> Shown:
    """Withdraw a dispute or a comment; it stays in the history."""
    return _case(await api.post(f"{_OWN}/{dispute_id}/steps", {"act": "withdraw"}))


@user_command(app, f"mudra dispute attach {_ID} gateway.log")
async def attach(
    api: Api,
    dispute_id: _Which,
    file: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="PDF, PNG, JPEG or text, 2 MiB at most."),
    ],
) -> Shown:
    """Attach a file to a dispute of your entity; five files at most."""
    if file.stat().st_size > MAX_BYTES:
        fail(f"{file} has more than {MAX_BYTES:,} bytes: send a smaller one", Exit.USAGE)
    content = base64.b64encode(file.read_bytes()).decode("ascii")
    body = {"name": file.name, "content": content}
    return facts((await api.post(f"{_OWN}/{dispute_id}/evidence", body))["evidence"])


@user_command(app, f"mudra dispute evidence {_ID} {_FILE} --output gateway.log")
async def evidence(api: Api, dispute_id: _Which, evidence_id: _Evidence, output: _Output) -> Shown:
    """Download a file of a dispute of your entity."""
    return _written(await api.get(f"{_OWN}/{dispute_id}/evidence/{evidence_id}"), output)


@owner_command(app, "mudra dispute queue --entity KAVERI-FIP --all")
async def queue(
    api: Api,
    entity: Annotated[str, typer.Option("--entity", help="Of this member alone.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Include closed ones and comments.")] = False,
) -> Shown:
    """List the disputes that operators have to decide, the newest first."""
    query = {"entityId": entity, "open": "" if every else "true"}
    return _listed((await api.get(_ALL, query))["disputes"])


@owner_command(app, f"mudra dispute case {_ID}")
async def case(api: Api, dispute_id: _Which) -> Shown:
    """Show a dispute of any member: its steps, its files, its corrections."""
    return _case(await api.get(f"{_ALL}/{dispute_id}"))


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The options of an operator's step."""

    text: Annotated[str, typer.Option("--text", help="Text for the member; review needs none.")] = (
        ""
    )
    effect: Annotated[
        str, typer.Option("--effect", help="Of an acceptance: left_out or not_against_member.")
    ] = "left_out"
    start: Annotated[
        str, typer.Option("--start", help="Of accept_partly: begin of the part, ISO 8601.")
    ] = ""
    end: Annotated[
        str, typer.Option("--end", help="Of accept_partly: end of the part, ISO 8601.")
    ] = ""
    apis: Annotated[
        list[str] | None,
        typer.Option("--api", help="Of accept_partly: code of an API; again for more."),
    ] = None

    def body(self) -> dict[str, object]:
        """Return what was typed as the API takes it."""
        times = {
            name: read_instant(f"--{name}", typed).isoformat()
            for name, typed in (("start", self.start), ("end", self.end))
            if typed
        }
        return {
            "text": self.text,
            "effect": self.effect,
            "apis": [*(self.apis or ())],
            **times,
        }


def _step(typed: str) -> Act:
    if typed not in _STEPS:
        raise typer.BadParameter(f"{typed} is no step of an operator: {', '.join(_STEPS)}")
    return Act(typed)


@owner_command(app, f'mudra dispute act {_ID} accept --effect left_out --text "The AA failed."')
@with_options(Decision)
async def act(
    decision: Decision,
    api: Api,
    dispute_id: _Which,
    step: Annotated[
        Act,
        typer.Argument(parser=_step, metavar="STEP", help=f"One of {', '.join(_STEPS)}."),
    ],
) -> Shown:
    """Review a dispute, ask or answer its member, accept, reject or reopen it."""
    body = {"act": step.value, **decision.body()}
    return _case(await api.post(f"{_ALL}/{dispute_id}/steps", body))


@owner_command(app, f"mudra dispute file {_ID} {_FILE} --output gateway.log")
async def file(api: Api, dispute_id: _Which, evidence_id: _Evidence, output: _Output) -> Shown:
    """Download a file of a dispute of any member; the reading is audited."""
    return _written(await api.get(f"{_ALL}/{dispute_id}/evidence/{evidence_id}"), output)


def _listed(found: list[Answer]) -> Shown:
    names = ("disputeId", "entityId", "kind", "about", "start", "end", "state", "dueAt")
    return table(
        ["ID", "MEMBER", "KIND", "ABOUT", "DAY", "START", "END", "STATE", "DUE"],
        [_row([str(one[name] or "") for name in names]) for one in found],
        found,
    )


def _row(row: list[str]) -> list[str]:
    """Put the days before the start, as they were typed: only an incident has other edges."""
    _id, _member, _kind, about, start, end, *_ = row
    first, last = days_within(*map(datetime.fromisoformat, (start, end)))
    days = str(first) if first == last else f"{first} to {last}"
    return [*row[:4], "" if about == "incident" else days, *row[4:]]


def _case(answer: Answer) -> Shown:
    document = {name: answer[name] for name in ("dispute", "steps", "evidence", "corrections")}

    def shown() -> None:
        show_facts({name: value for name, value in answer["dispute"].items() if value})
        steps = [[one["at"], one["by"], one["act"], one["text"]] for one in answer["steps"]]
        show_table(["AT", "BY", "WHAT", "TEXT"], steps)
        if answer["evidence"]:
            files = [
                [one["evidenceId"], one["name"], one["mediaType"], str(one["size"])]
                for one in answer["evidence"]
            ]
            show_table(["FILE", "NAME", "KIND", "BYTES"], files)
        if answer["corrections"]:
            made = [
                [one["start"], one["end"], one["api"] or "all", one["effect"], one["reason"]]
                for one in answer["corrections"]
            ]
            show_table(["START", "END", "API", "EFFECT", "REASON"], made)

    return Shown(document, shown)


def _written(answer: Answer, output: Path) -> Shown:
    content = base64.b64decode(answer["content"])
    try:
        with output.open("xb") as target:
            target.write(content)
    except FileExistsError:
        fail(f"{output} exists: name a new file", Exit.USAGE)
    return line(f"{output}: {len(content):,} bytes", answer["evidence"])
