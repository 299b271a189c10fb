"""mudra announcement: what the operator announces on the public status."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command
from mudra.cli.local.instant_option import read_instant
from mudra.cli.local.option_group import with_options
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, facts, table
from mudra.metrics.announcements.announcement import Kind

app = typer.Typer(no_args_is_help=True)
T = TypeVar("T")
_PATH = "/operator/v1/announcements"
_INCIDENTS = "/operator/v1/incidents"
_FIP_OF: Final = {"fip": "entityId", "fip-api": "entityId", "path": "peerId"}
"""Where an incident of a kind has its FIP."""
_ID = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_TRANSLATED = 3

_Which = Annotated[UUID, typer.Argument(help="ID, as mudra announcement list shows it.")]


@dataclass(frozen=True, kw_only=True)
class Content:
    """The options of an announcement: what it says, about whom and when."""

    title: Annotated[str, typer.Option("--title", help="Title in English, 1 to 120 characters.")]
    text: Annotated[str, typer.Option("--text", help="One paragraph in English, 600 characters.")]
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", help="What it is; else incident with --incident, else information."),
    ] = None
    institutions: Annotated[
        list[str] | None,
        typer.Option(
            "--institution",
            help="FIP ID that it concerns; again for more. Else that of --incident, else all; "
            "'' for all.",
        ),
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

    incident: Annotated[
        UUID | None, typer.Option("--incident", help="ID of the incident that it is about.")
    ] = None

    def body(self, about: Answer | None) -> dict[str, object]:
        """Return what was typed as the API takes it; the rest follows from the incident."""
        usual = Kind.INFORMATION if about is None else Kind.INCIDENT
        typed = _several(self.institutions, str)
        fip_ids = _institutions_of(about) if typed is None else typed
        times = {
            name: read_instant(option, typed).isoformat()
            for name, option, typed in (
                ("publishAt", "--at", self.at),
                ("begins", "--begins", self.begins),
                ("ends", "--ends", self.ends),
            )
            if typed
        }
        return {
            "kind": (self.kind or usual).value,
            "title": self.title,
            "text": self.text,
            "translations": [_translation(one) for one in self.translations or ()],
            "fipIds": fip_ids,
            **({"incidentId": str(self.incident)} if self.incident else {}),
            **times,
        }


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The options of a change: what is not named stays, and an empty value removes."""

    title: Annotated[str | None, typer.Option("--title", help="Title in English.")] = None
    text: Annotated[str | None, typer.Option("--text", help="One paragraph in English.")] = None
    kind: Annotated[Kind | None, typer.Option("--kind", help="What it is.")] = None
    institutions: Annotated[
        list[str] | None,
        typer.Option("--institution", help="FIP ID that it concerns; again for more. '' for all."),
    ] = None
    translations: Annotated[
        list[str] | None,
        typer.Option(
            "--translation", help="\"LANGUAGE|TITLE|TEXT\"; again for more. '' removes them."
        ),
    ] = None
    at: Annotated[
        str | None, typer.Option("--at", help="Publish at this instant, if it is scheduled.")
    ] = None
    begins: Annotated[
        str | None, typer.Option("--begins", help="When it begins; '' for no time.")
    ] = None
    ends: Annotated[str | None, typer.Option("--ends", help="When it ends; '' for open.")] = None

    def body(self, known: Answer) -> dict[str, object]:
        """Return the announcement that is `known` with what was typed."""
        times = {
            name: known[name] if typed is None else _instant(option, typed)
            for name, option, typed in (
                ("publishAt", "--at", self.at),
                ("begins", "--begins", self.begins),
                ("ends", "--ends", self.ends),
            )
        }
        typed: dict[str, object | None] = {
            "kind": self.kind and self.kind.value,
            "title": self.title,
            "text": self.text,
            "translations": _several(self.translations, _translation),
            "fipIds": _several(self.institutions, str),
        }
        kept = {name: known[name] if one is None else one for name, one in typed.items()}
        return kept | {name: at for name, at in times.items() if at}


@owner_command(app, "mudra announcement list --past --json", "list")
async def list_announcements(
    api: Api,
    past: Annotated[
        bool, typer.Option("--past", help="Include those that were over in the last 90 days.")
    ] = False,
) -> Shown:
    """List current and scheduled announcements, the last published first."""
    found = (await api.get(_PATH, {"past": "true" if past else ""}))["announcements"]
    return table(
        ["ID", "STATE", "KIND", "PUBLISHED", "ENDS", "INSTITUTIONS", "TITLE"],
        [
            [
                *(one["announcementId"], one["state"], one["kind"], one["publishAt"]),
                one["endedAt"] or one["ends"] or "open",
                *(", ".join(one["fipIds"]) or "all", one["title"]),
            ]
            for one in found
        ],
        found,
    )


@owner_command(
    app,
    'mudra announcement publish --title "Maintenance" --text "Sunday, 02:00." --kind maintenance',
)
@with_options(Content)
async def publish(content: Content, api: Api) -> Shown:
    """Publish an announcement, now or later; subscribers get it once."""
    about: Answer | None = None
    if content.incident:
        about = (await api.get(f"{_INCIDENTS}/{content.incident}"))["incident"]
    made = (await api.post(_PATH, content.body(about)))["announcement"]
    return facts({**made, "reaches": _reached(made["fipIds"])}, made)


@owner_command(app, f'mudra announcement change {_ID} --title "Over soon" --text "At 05:00."')
@with_options(Changes)
async def change(changes: Changes, api: Api, announcement_id: _Which) -> Shown:
    """Change what is named of an announcement that is not over; it is not sent again."""
    shown = (await api.get(_PATH))["announcements"]
    known = next((one for one in shown if one["announcementId"] == str(announcement_id)), None)
    if known is None:
        fail("no current or scheduled announcement of this ID")
    body = changes.body(known)
    return facts((await api.post(f"{_PATH}/{announcement_id}", body))["announcement"])


@owner_command(app, f'mudra announcement update {_ID} --text "Calls succeed again." --ends')
async def update(
    api: Api,
    announcement_id: _Which,
    text: Annotated[str, typer.Option("--text", help="One paragraph in English.")],
    translations: Annotated[
        list[str] | None,
        typer.Option("--translation", help='"LANGUAGE|TEXT", such as "hi|…"; again for more.'),
    ] = None,
    ends: Annotated[bool, typer.Option("--ends", help="It is the last: the rest is past.")] = False,
) -> Shown:
    """Add an update to an announcement that is shown; subscribers get it."""
    said = [_text_in(one) for one in translations or ()]
    body = {"text": text, "translations": said, "ends": ends}
    return facts((await api.post(f"{_PATH}/{announcement_id}/updates", body))["announcement"])


@owner_command(app, f"mudra announcement end {_ID}")
async def end(api: Api, announcement_id: _Which) -> Shown:
    """Move an announcement to the history now; a scheduled one is never published."""
    return facts((await api.post(f"{_PATH}/{announcement_id}/end"))["announcement"])


def _institutions_of(incident: Answer | None) -> list[str]:
    """Return the FIP at the cause; none where it is an AA or the network."""
    if incident is None:
        return []
    name = _FIP_OF.get(incident["kind"])
    return [incident[name]] if name else []


def _reached(fip_ids: Sequence[str]) -> str:
    if not fip_ids:
        return "everyone: all pages, and all subscribers"
    return f"subscribers and pages of {', '.join(fip_ids)}, and subscribers of the whole network"


def _instant(option: str, typed: str) -> str:
    return read_instant(option, typed).isoformat() if typed else ""


def _several(typed: list[str] | None, read: Callable[[str], T]) -> list[T] | None:
    """Return each value that is not empty; None where the option was not typed."""
    return None if typed is None else [read(one) for one in typed if one]


def _text_in(typed: str) -> dict[str, str]:
    language, between, text = typed.partition("|")
    if not between:
        fail("--translation must be LANGUAGE|TEXT", Exit.USAGE)
    return {"language": language.strip(), "text": text.strip()}


def _translation(typed: str) -> dict[str, str]:
    parts = typed.split("|")
    if len(parts) != _TRANSLATED:
        fail("--translation must be LANGUAGE|TITLE|TEXT", Exit.USAGE)
    return dict(zip(("language", "title", "text"), (one.strip() for one in parts), strict=True))
