"""The members of the demonstration network, and the password that their admins share."""

import enum
from typing import Final

from msgspec import Struct

DEMO_PASSWORD: Final = "try-me-in-the-sandbox"  # noqa: S105  # printed on the screen, loopback only

FIRST_DAYS: Final = 3
"""Days of history that a new demonstration network has."""


class Demo(enum.Enum):
    """The extent of a sandbox's demonstration network."""

    NONE = 0
    STILL = 1
    """Its members, without agents and traffic."""
    ALIVE = 2


class DemoMember(Struct, frozen=True):
    """One member of the demonstration network."""

    entity_id: str
    entity_type: str
    name: str
    admin: str
    admin_name: str


DEMO_NETWORK: Final = (
    DemoMember(
        "SAARTHI-AA",
        "AA",
        "Saarthi Account Aggregator",
        "meera@saarthi-aa.example",
        "Meera Krishnan",
    ),
    DemoMember(
        "SETUFLOW-AA", "AA", "Setuflow Consent Services", "arjun@setuflow.example", "Arjun Bhatia"
    ),
    DemoMember("KAVERI-FIP", "FIP", "Kaveri Bank", "lakshmi@kaveribank.example", "Lakshmi Iyer"),
    DemoMember(
        "DECCAN-FIP", "FIP", "Deccan Cooperative Bank", "imran@deccanbank.example", "Imran Sheikh"
    ),
    DemoMember(
        "NORTHSTAR-FIP",
        "FIP",
        "Northstar Mutual Fund",
        "gurpreet@northstar-mf.example",
        "Gurpreet Gill",
    ),
    DemoMember(
        "SURAKSHA-FIP",
        "FIP",
        "Suraksha Life Insurance",
        "ananya@surakshalife.example",
        "Ananya Sen",
    ),
    DemoMember(
        "BHARATPENSION-FIP",
        "FIP",
        "Bharat Pension Registry",
        "thomas@bharatpension.example",
        "Thomas Kurien",
    ),
    DemoMember("FINSIGHT-FIU", "FIU", "Finsight Lending", "asha@finsight.example", "Asha Rao"),
    DemoMember(
        "TIDEWEALTH-FIU", "FIU", "Tidewealth Advisors", "rohan@tidewealth.example", "Rohan Mehta"
    ),
    DemoMember(
        "QUICKLEDGER-FIU",
        "FIU",
        "Quickledger Accounting",
        "zoya@quickledger.example",
        "Zoya Ansari",
    ),
)


class DemoOperator(Struct, frozen=True):
    """An operator user; without scopes it has all of them."""

    email: str
    name: str
    scopes: tuple[str, ...] = ()


DEMO_OPERATORS: Final = (
    DemoOperator("vikram@network.example", "Vikram Desai"),
    DemoOperator("night-desk@network.example", "Night Desk", ("health",)),
)
