"""mudra report rule, budgets and league: what the network asks, what is left, who delivers."""

from typing import Annotated

import typer

from mudra.cli.client.api import Answer, Api, given
from mudra.cli.command import owner_command, user_command
from mudra.cli.output.shown import Shown, table

_PATH = "/operator/v1/levels"
_PREFIX = "/metrics/perf/v1"
_OWN = "/levels"
Own = Annotated[str, typer.Argument(help="ID of an entity that you administer.")]
Prefix = Annotated[str, typer.Option("--prefix", help="Path of the network's metrics.")]
Month = Annotated[str, typer.Option("--month", help="A month of the network, such as 2026-03.")]
Role = Annotated[str, typer.Option("--role", help="FIP or AA.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    owner_command(app, "mudra report rule --json")(rule)
    owner_command(
        app,
        "mudra report set-rule --notice-hours 48 --hours-a-month 12 --since 2026-04-01 "
        '--reason "agreement of 2026"',
    )(set_rule)
    owner_command(app, "mudra report budgets --entity KAVERI-FIP")(budgets)
    user_command(app, "mudra report own-budgets KAVERI-FIP")(own_budgets)
    owner_command(app, "mudra report league --month 2026-03 --role AA")(league)
    user_command(app, "mudra report own-league KAVERI-FIP --month 2026-03")(own_league)


async def rule(
    api: Api,
    all_: Annotated[
        bool, typer.Option("--all", help="Every rule that was ever set, in place of today's.")
    ] = False,
) -> Shown:
    """Show the rule about maintenance, the league table and the public page."""
    found = await api.get(f"{_PATH}/rule")
    return _rules(found["all"] if all_ else [found["inForce"]])


async def set_rule(
    api: Api,
    since: Annotated[str, typer.Option("--since", help="The first day (UTC), today or later.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    notice_hours: Annotated[
        int | None, typer.Option(help="Maintenance announced so many hours ahead is left out.")
    ] = None,
    hours_a_month: Annotated[
        int | None, typer.Option(help="Hours of it in 30 days are left out.")
    ] = None,
    league_: Annotated[
        bool | None,
        typer.Option("--league/--no-league", help="Whether members see a league table."),
    ] = None,
    published: Annotated[
        bool | None,
        typer.Option(
            "--publish/--no-publish",
            help="Whether all see on the public status what each FIP delivered.",
        ),
    ] = None,
) -> Shown:
    """Change what is named of the rule from a day on; each report keeps that of its first day."""
    named = {
        "noticeHours": notice_hours,
        "hoursAMonth": hours_a_month,
        "league": league_,
        "published": published,
    }
    body = {"since": since, "reason": reason} | given(named)
    return _rules([(await api.post(f"{_PATH}/rule", body))["rule"]])


async def budgets(
    api: Api,
    entity: Annotated[str, typer.Option("--entity", help="Only this member.")] = "",
) -> Shown:
    """List the error budgets of this month, the emptiest first."""
    return _budgets(await api.get(f"{_PATH}/budgets", {"entityId": entity} if entity else {}))


async def own_budgets(api: Api, entity_id: Own, prefix: Prefix = _PREFIX) -> Shown:
    """List the error budgets of an entity that you administer."""
    member = await api.of_entity(entity_id)
    return _budgets(await member.get(f"{prefix}{_OWN}/budgets"))


async def league(api: Api, month: Month, role: Role = "FIP") -> Shown:
    """Show the members of a role by what they delivered, the best first."""
    return _places(await api.get(f"{_PATH}/league", {"month": month, "role": role}))


async def own_league(
    api: Api, entity_id: Own, month: Month, role: Role = "FIP", prefix: Prefix = _PREFIX
) -> Shown:
    """Show the same table as a member, where the operator says so."""
    member = await api.of_entity(entity_id)
    return _places(await member.get(f"{prefix}{_OWN}/league", {"month": month, "role": role}))


def _rules(found: list[Answer]) -> Shown:
    return table(
        ["SINCE", "NOTICE HOURS", "HOURS A MONTH", "LEAGUE", "PUBLIC", "REASON"],
        [
            [
                *(one["since"], str(one["noticeHours"]), str(one["hoursAMonth"])),
                *(
                    "shown" if one["league"] else "hidden",
                    "shown" if one["published"] else "hidden",
                ),
                one["reason"],
            ]
            for one in found
        ],
        found,
    )


def _budgets(answer: Answer) -> Shown:
    return table(
        ["MEMBER", "MEASURE", "LEFT", "SPENT", "ALLOWED", "DAY", "WEEK", "OUTLOOK", "GONE AT"],
        [
            [
                *(one["entityId"], one["burn"]["measure"], f"{one['burn']['leftPercent']:g} %"),
                *(f"{one['burn']['spent']:,}", f"{one['burn']['allowed']:,}"),
                *(f"{one['burn']['dayRate']:g}", f"{one['burn']['weekRate']:g}"),
                *(one["burn"]["outlook"], one["burn"]["goneAt"] or ""),
            ]
            for one in answer["budgets"]
        ],
        answer["budgets"],
    )


def _places(answer: Answer) -> Shown:
    return table(
        ["PLACE", "MEMBER", "AVAILABILITY", "SUCCESS", "CALLS", "MISSED"],
        [
            [
                *(str(one["place"]), one["entityId"], _share(one["availability"])),
                *(_share(one["success"]), f"{one['calls']:,}", str(one["missed"])),
            ]
            for one in answer["places"]
        ],
        answer["places"],
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f} %"
