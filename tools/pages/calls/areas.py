"""The page of a call, and the part of it, by its address."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Area:
    """One page of calls."""

    file: str
    title: str
    about: str
    who: str
    """The account of the sandbox that all its commands use, and what else they need."""
    parts: Mapping[str, str]
    """A pattern of addresses by the heading of its part; the first that fits decides."""


AREAS: Final[Sequence[Area]] = (
    Area(
        "tokens",
        "Tokens and secrets",
        "Tokens of people and entities, the entity's secret, keys and revoked tokens. Programs in "
        "five languages are in [token service](../token-service.md#samples).",
        "lakshmi@kaveribank.example, an admin of KAVERI-FIP; entity ID, secret and Entity Access "
        "Token are those of KAVERI-FIP. [Replace](#replace-the-entitys-secret) answers with a new "
        "`$ENTITY_SECRET`; the one before works on for as many days as the call says.",
        {
            "Get a token": r"/iam/v1/(user|entity)/token/generate|/iam/oauth2/token",
            "Check and end tokens": (
                r"/iam/(oauth2/(introspect|revoke)|revocations|\.well-known/.+)"
            ),
            "Listed addresses": r"/iam/v1/entity/address/binding",
            "The entity's secret": r"/iam/v1/entity/secret/\w+",
        },
    ),
    Area(
        "registry",
        "Registry",
        "Entries of members. The payload with an example, the rules and programs in five languages "
        "are in [registry](../registry.md).",
        "KAVERI-FIP, whose Entity Access Token it is; the User Access Token is that of its admin "
        "lakshmi@kaveribank.example.",
        {"Read": r"/cr/v2/changes|GET /cr/v2/.+", "Write": r"/cr/v2/.+"},
    ),
    Area(
        "member-metrics",
        "Metrics of a member",
        "Calls of a member's programs, with an Entity Access Token. How to push is in "
        "[metrics push](../metrics-push.md).",
        "SAARTHI-AA, whose Entity Access Token it is. Only those of "
        "[Followed FIPs](#followed-fips) need that of an FIU, such as FINSIGHT-FIU.",
        {
            "Push": r"/metrics/perf/v1/(push|receipts)",
            "Health": r"/metrics/perf/v1/(health|funnel/.+|comparison|volume|incidents)",
            "The health feed": r"/metrics/perf/v1/feed.*",
            "Webhooks": r"/metrics/perf/v1/webhooks.*",
            "Planned maintenance": r"/metrics/perf/v1/maintenance.*",
            "Followed FIPs": r"/metrics/perf/v1/followed-fips.*",
            "Service levels": r"/metrics/perf/v1/levels/.+",
        },
    ),
    Area(
        "people",
        "People and their entities",
        "Calls of a person who is signed in: the entity that they administer, and their account.",
        "lakshmi@kaveribank.example, an admin of KAVERI-FIP.",
        {
            "Admins of the entity": r"/iam/v1/entity/(admin|contact)/.+",
            "What happened to the entity": (
                r"/iam/v1/entity/(attention|activity|timeline|incidents/.+)"
            ),
            "Disputes": r"/iam/v1/entity/disputes.*",
            "Your tokens and sessions": r"/iam/v1/user/(token|session)/.+",
            "Your alarms": r"/iam/v1/user/alarm/.+",
            "Passwords and links": r"/iam/v1/user/(password|link)/.+",
        },
    ),
    Area(
        "operators",
        "Operators",
        "Members, people, registry, audit and keys, with the User Access Token of an operator.",
        "vikram@network.example, an operator with all scopes.",
        {
            "Admins of members": r"/operator/v1/members/(admins/.+|contact)",
            "Members": r"/operator/v1/members.*",
            "Users and operators": r"/operator/v1/(users.*|operators)",
            "Decisions about entries": r"/operator/v1/registry/.+",
            "Emails": r"/operator/v1/mails.*",
            "The audit": r"/operator/v1/audit.*",
            "Keys, board and settings": r"/operator/v1/(keys.*|board|settings)",
        },
    ),
    Area(
        "network-health",
        "Health of the network",
        "Metrics, incidents and service levels of all members, with the User Access Token of an "
        "operator.",
        "vikram@network.example, an operator with all scopes.",
        {
            "Implausible reports": r"/operator/v1/health/held-reports.*",
            "Silences": r"/operator/v1/health/silences.*",
            "Webhooks": r"/operator/v1/health/webhooks.*",
            "Pictures": r"/operator/v1/(health/.+|funnel/.+|comparison/.+|volume)",
            "Incidents and the timeline": r"/operator/v1/(incidents.*|timeline)",
            "Disputes": r"/operator/v1/disputes.*",
            "Announcements": r"/operator/v1/announcements.*",
            "Service levels": r"/operator/v1/levels/.+",
        },
    ),
    Area(
        "open",
        "Public status and sandbox",
        "Open data for everyone ([open data](../open-data.md)), and the clock, emails and faults "
        "of a [sandbox](../../how-to/test-your-client.md).",
        "lakshmi@kaveribank.example, an admin of KAVERI-FIP; most need no token.",
        {"Public status": r"/status/v1/.+", "Sandbox": r"/sandbox/v1/.+"},
    ),
)


def place_of(method: str, path: str) -> tuple[Area, str]:
    """Returns the page and the part of it that has a call; raises KeyError where none has."""
    for area in AREAS:
        for part, pattern in area.parts.items():
            if any(re.fullmatch(pattern, one) for one in (path, f"{method.upper()} {path}")):
                return area, part
    raise KeyError(path)
