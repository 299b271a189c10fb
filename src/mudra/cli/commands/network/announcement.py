"""mudra announcement: what the operator announces on the public status."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.option_group import with_options
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.http.response.announcement_responses import AnnouncementDetails, announcement_details
from mudra.metrics.announcements.announcement import (
    Announcement,
    AnnouncementCommand,
    Kind,
    Translation,
)
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

app = typer.Typer(no_args_is_help=True)
T = TypeVar("T")
_ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_TRANSLATED = 3

_Which = Annotated[UUID, typer.Argument(help="ID, as mudra announcement list shows it.")]


@dataclass(frozen=True, kw_only=True)
class Content:
    """The options of an announcement: what it says, about whom and when."""

    title: Annotated[str, typer.Option("--title", help="Title in English, 1 to 120 characters.")]
    text: Annotated[str, typer.Option("--text", help="One paragraph in English, 600 characters.")]
    kind: Annotated[Kind, typer.Option("--kind", help="What it is.")] = Kind.INFORMATION
    institutions: Annotated[
        list[str] | None,
        typer.Option("--institution", help="FIP ID that it concerns; again for more. Else all."),
    ] = None
    translations: Annotated[
        list[str] | None,
        typer.Option(
            "--translation", help='"LANGUAGE|TITLE|TEXT", such as "hi|…|…"; again for more.'
        ),
    ] = None
    at: Annotated[
        str, typer.Option("--at", help="Publish at this instant, ISO 8601; else now.")
    ] = ""
    begins: Annotated[
        str, typer.Option("--begins", help="When it begins, ISO 8601 with offset.")
    ] = ""
    ends: Annotated[
        str, typer.Option("--ends", help="When it ends: from then on in the history.")
    ] = ""

    def command(self) -> AnnouncementCommand:
        """Return what was typed as the use cases take it."""
        return AnnouncementCommand(
            self.kind,
            self.title,
            self.text,
            tuple(_translation(one) for one in self.translations or ()),
            tuple(self.institutions or ()),
            *(
                read_instant(name, text) if text else None
                for name, text in (
                    ("--at", self.at),
                    ("--begins", self.begins),
                    ("--ends", self.ends),
                )
            ),
        )


@app.command("list", epilog="Example: mudra announcement list --past --json")
def list_announcements(
    past: Annotated[
        bool, typer.Option("--past", help="Include those that were over in the last 90 days.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List current and scheduled announcements, the last published first."""

    async def act(work: UnitOfWork, now: datetime) -> list[AnnouncementDetails]:
        found = await work.announcements.list(now, past=past)
        return [announcement_details(one, now) for one in found]

    shown = _done(act, data_dir)
    if as_json:
        show_json([msgspec.to_builtins(one) for one in shown])
        return
    show_table(
        ["ID", "STATE", "KIND", "PUBLISHED", "ENDS", "INSTITUTIONS", "TITLE"],
        [
            [
                *(one.announcement_id, one.state, one.kind, one.publish_at),
                *(one.ended_at or one.ends or "open", ", ".join(one.fip_ids) or "all", one.title),
            ]
            for one in shown
        ],
    )


@app.command(
    epilog='Example: mudra announcement publish --title "Maintenance" --text "Sunday, 02:00." '
    "--kind maintenance"
)
@with_options(Content)
def publish(content: Content, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Publish an announcement, now or later; subscribers get it once."""
    command = content.command()

    async def act(work: UnitOfWork, now: datetime) -> AnnouncementDetails:
        caller = Caller(operator_name())
        return _details(await work.announcements.publish(command, caller, now), now)

    _show(_done(act, data_dir), as_json=as_json)


@app.command(
    epilog=f'Example: mudra announcement change {_ID} --title "Over soon" --text "At 05:00."'
)
@with_options(Content)
def change(
    content: Content, announcement_id: _Which, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Replace an announcement that is not over, wholly; it is not sent again."""
    command = content.command()

    async def act(work: UnitOfWork, now: datetime) -> AnnouncementDetails:
        caller, which = Caller(operator_name()), str(announcement_id)
        return _details(await work.announcements.change(which, command, caller, now), now)

    _show(_done(act, data_dir), as_json=as_json)


@app.command(epilog=f"Example: mudra announcement end {_ID}")
def end(announcement_id: _Which, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Move an announcement to the history now; a scheduled one is never published."""

    async def act(work: UnitOfWork, now: datetime) -> AnnouncementDetails:
        caller = Caller(operator_name())
        return _details(await work.announcements.end(str(announcement_id), caller, now), now)

    _show(_done(act, data_dir), as_json=as_json)


def _translation(typed: str) -> Translation:
    parts = typed.split("|")
    if len(parts) != _TRANSLATED:
        fail("--translation must be LANGUAGE|TITLE|TEXT", Exit.USAGE)
    return Translation(*(one.strip() for one in parts))


def _done(act: Callable[[UnitOfWork, datetime], Awaitable[T]], data_dir: Path | None) -> T:
    """Act in one transaction, which gives the time."""

    async def within(dependencies: Dependencies) -> T:
        async with dependencies.unit_of_work() as work:
            return await act(work, await work.people.now())

    return with_store(within, data_dir)


def _details(outcome: Announcement | Refusal, now: datetime) -> AnnouncementDetails:
    """Return what a use case returned, or end with the text of its refusal."""
    if isinstance(outcome, Refusal):
        fail(outcome.sentence)
    return announcement_details(outcome, now)


def _show(shown: AnnouncementDetails, *, as_json: bool) -> None:
    facts = msgspec.to_builtins(shown)
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)
