"""Requests and responses about service levels, as the wire carries them."""

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from mudra.http.request.fields import LATER_DAY, Instant, named
from mudra.http.response.response_body import ResponseBody
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.evidence import Evidence, TimedCalls
from mudra.levels.printing.league import Place
from mudra.levels.report import Report
from mudra.levels.report_store import Listed
from mudra.levels.target import (
    MAX_HOURS_A_MONTH,
    MAX_NOTICE_HOURS,
    MAX_REASON,
    Measure,
    NetworkRule,
    Target,
    TargetCommand,
    rule_on,
)
from mudra.metrics.payload.catalogue import CALL_CODES
from mudra.shared.entity_type import EntityType

_Entity = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9@._-]{0,64}\Z",
        description="the ID of a FIP or an AA; empty for the network",
    ),
]
_APIS: Final = "|".join(CALL_CODES)


_FirstDay = Annotated[
    date, Meta(description="the first day (UTC), today or later", examples=[LATER_DAY])
]


class ReportsParameters(Struct, frozen=True, rename="camel"):
    """Versions of one member, of the network for an empty ID, or of all without one."""

    entity_id: _Entity | UnsetType = UNSET


class PeriodRequest(Struct, frozen=True):
    """A month, or a period; either is over. Without any, the month that ended last."""

    month: (
        Annotated[
            str,
            Meta(
                pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])\Z",
                description="a month of the network's time zone, such as 2026-03",
            ),
        ]
        | UnsetType
    ) = UNSET
    start: Instant | UnsetType = UNSET
    end: Instant | UnsetType = UNSET


class ReportRequest(PeriodRequest, frozen=True, rename="camel"):
    """A period, and whose report of it."""

    entity_id: Annotated[_Entity, Meta(examples=["KAVERI-FIP"])] = ""


class TargetRequest(Struct, frozen=True):
    """A target of a role from a day on."""

    role: Annotated[Literal["FIP", "AA"], Meta(description="FIP or AA")]
    measure: Annotated[Measure, Meta(description=f"one of {', '.join(Measure)}")]
    value: Annotated[
        str,
        Meta(
            pattern=r"^[0-9]{1,9}(\.[0-9]{1,4})?\Z",
            description="percent, or milliseconds, as decimal text",
            examples=["99.5"],
        ),
    ]
    since: _FirstDay
    reason: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_REASON,
            description=f"why: one line of 1 to {MAX_REASON} characters",
            examples=["the agreement of the network"],
            extra_json_schema={"format": "plain-line"},
        ),
    ]
    api: Annotated[
        str,
        Meta(pattern=rf"^({_APIS})?\Z", description=f"empty or one of {', '.join(CALL_CODES)}"),
    ] = ""

    @property
    def command(self) -> TargetCommand:
        """The command of the use case."""
        value = float(self.value)
        role = EntityType(self.role)
        return TargetCommand(role, self.measure, self.api, value, self.since, self.reason)


class TargetsResponse(ResponseBody, kw_only=True, rename="camel"):
    """Targets in force, and all that were set."""

    in_force: list[Target]
    all: list[Target]


class TargetResponse(ResponseBody, kw_only=True):
    """One target as it is now."""

    target: Target


class ReportsResponse(ResponseBody, kw_only=True):
    """Versions of reports, the latest period and version first."""

    reports: list[Listed]


class ReportMadeResponse(ResponseBody, kw_only=True):
    """The latest version of the period that was asked for."""

    report: Listed


class ReportResponse(ResponseBody, kw_only=True):
    """One version of a report; its signature is in its proof."""

    listed: Listed
    report: Report


class ProofResponse(ResponseBody, kw_only=True):
    """A report with all that it takes to check it: `mudra report verify` reads this."""

    report: str
    signature: str
    key: dict[str, str]
    evidence: Evidence
    days: list[TimedCalls]


class RuleRequest(Struct, frozen=True, rename="camel"):
    """The rule of the network from a day on; what is left out stays as it is by then."""

    since: _FirstDay
    reason: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_REASON,
            description=f"why: one line of 1 to {MAX_REASON} characters",
            examples=["the agreement of the network"],
            extra_json_schema={"format": "plain-line"},
        ),
    ]
    notice_hours: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=MAX_NOTICE_HOURS,
                description="maintenance is left out if announced so many hours ahead",
                examples=[48],
            ),
        ]
        | UnsetType
    ) = UNSET
    hours_a_month: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=MAX_HOURS_A_MONTH,
                description="so many hours of maintenance in 30 days are left out",
                examples=[24],
            ),
        ]
        | UnsetType
    ) = UNSET
    league: (
        Annotated[bool, Meta(description="whether members see a league table", examples=[True])]
        | UnsetType
    ) = UNSET
    published: (
        Annotated[
            bool,
            Meta(
                description="whether all see on the public status what each FIP delivered",
                examples=[False],
            ),
        ]
        | UnsetType
    ) = UNSET

    def rule(self, stored: Iterable[NetworkRule]) -> NetworkRule:
        """Returns the rule of its first day as it is stored, with what is named."""
        return replace(rule_on(stored, self.since), **named(self))


class RulesResponse(ResponseBody, kw_only=True, rename="camel"):
    """The rule in force, and all that were set."""

    in_force: NetworkRule
    all: list[NetworkRule]


class RuleResponse(ResponseBody, kw_only=True):
    """One rule as it was stored."""

    rule: NetworkRule


class BudgetsResponse(ResponseBody, kw_only=True):
    """Error budgets of the month that runs, the emptiest first."""

    budgets: list[StoredBurn]


class LeagueParameters(Struct, frozen=True):
    """A month and a role."""

    month: Annotated[
        str,
        Meta(
            pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])\Z",
            description="a month of the network's time zone, such as 2026-03",
            examples=["2026-03"],
        ),
    ]
    role: Annotated[Literal["FIP", "AA"], Meta(description="FIP or AA")] = "FIP"


class LeagueResponse(ResponseBody, kw_only=True):
    """The members of a role, the best first."""

    places: list[Place]
