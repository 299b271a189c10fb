"""Each call says what of the present state refuses it, and its code has no other refusal.

That is each 409, and each 404 that says more than that nothing has this ID.
"""

import ast
import inspect
import textwrap
import types
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.reachable_refusals import refusals_of

from mudra.bootstrap.routes import service_routes
from mudra.http.route import Mount
from mudra.http.route_settings import RouteSettings
from mudra.levels.printing.pdf import NO_PDF
from mudra.settings.settings import Settings
from mudra.shared.refusal import Refusal, RefusalKind

NOT_OF_THE_CALL = {
    "an act of another kind, by the same function": {
        "Acknowledge an incident": {"INCIDENT_NOT_OPEN", "INCIDENT_NOT_OVER"},
        "Attach a file to an own dispute": {"TOO_LATE_TO_REOPEN"},
        "Take a step in an own dispute": {"TOO_LATE_TO_REOPEN"},
        "Stop following a FIP": {"fips_refused"},
        "Publish an announcement": {"NoSuchAnnouncement"},
        **dict.fromkeys(
            (
                *("Show the entity's timeline", "Show the timeline"),
                *("Show what changed before an incident",),
                "Show what changed before an incident of the entity",
            ),
            frozenset({"NoSuchAnnouncement", "NO_SUCH_SILENCE"}),
        ),
        "Add your own webhook": {"fips_refused", "ALREADY_ADDED"},  # a second one is too many
        **dict.fromkeys(
            (
                *("Enable an account", "End a user's tokens", "List a user's tokens"),
                *("Reset a lost second factor", "Send a link again"),
            ),
            frozenset({"LastOperator"}),
        ),
        "Confirm a change by the link in an email": {"LastOperator", "OwnAccount"},
        **dict.fromkeys(
            (
                *("Submit an entry", "Update an entry", "Update the entry that the payload names"),
                "Retire an entry",
            ),
            frozenset(
                {"SecondOperatorNeeded", "SecondOperatorTied", "content_differs", "unknown_version"}
                | {"version_moved", "AlreadyHeld", "duplicate_entity"}
            ),
        ),
    },
    "of a page, which was open for some time": {
        "Acknowledge an incident": {"Acknowledged"},
        "Act on an incident": {"Acknowledged"},
        "Replace the entity's secret": {"SecretChanged"},
        "End the grace period of the old secret early": {"SecretChanged"},
    },
    "of one member of many, in the answer": {
        "Act on many members": {
            *("LastOperator", "OwnAccount", "WrongAccountKind", "already_suspended"),
            *("already_retired", "no_admin_invited", "entry_not_live", "NoSuchUser"),
        },
        "Onboard the members of a file": {"MemberDiffers", "WrongAccountKind"},
    },
}
"""What the code of a call names, and this call never comes to, by the reason."""


UNKNOWN = {
    *("no_such_entity", "unknown_entity", "NoSuchIncident", "NoSuchDispute", "NoSuchEvidence"),
    *("NoSuchWebhook", "NO_SUCH_REPORT", "NO_SUCH_HELD_REPORT", "NO_SUCH_ADDRESS", "UnknownKey"),
}
"""Refusals that say no more than that nothing has this ID or address: those of any call."""


def mounted() -> Iterator[tuple[Mount[Any], Any]]:
    """Each call with its handler."""
    routes = service_routes(RouteSettings.of(Settings(sandbox=True))).routes
    for route in routes.litestar.routes:
        for one in getattr(route, "route_handlers", ()):
            function = one.fn
            cells = dict(
                zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            )
            if {"self", "handler"} <= cells.keys():
                yield cells["self"].cell_contents, cells["handler"].cell_contents


CALLS = {f"{mount.method} {mount.path}": (mount, handler) for mount, handler in mounted()}


@pytest.mark.parametrize("kind", [RefusalKind.CONFLICT, RefusalKind.NOT_FOUND])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_says_each_refusal_by_the_state(call: str, kind: RefusalKind) -> None:
    mount, handler = CALLS[call]
    said = [one for one in mount.conflicts if one.kind is kind]

    found = refusals_of(handler, kind)

    aside = {name for calls in NOT_OF_THE_CALL.values() for name in calls.get(mount.summary, set())}
    assert [
        name
        for name, one in found.items()
        if name not in aside | UNKNOWN and not is_said(one, said)
    ] == []
    assert [
        one.sentence
        for one in said
        if one is not NO_PDF and not any(is_said(known, (one,)) for known in found.values())
    ] == []


def is_said(found: object, said: Any) -> bool:
    """Whether one of the refusals that a call says is this constant, of this class or function."""
    if isinstance(found, types.FunctionType):
        parts = fixed_parts(found)
        return any(all(part in one.sentence for part in parts) for one in said)
    if isinstance(found, type):
        return any(isinstance(one, found) for one in said)
    return found in said


def fixed_parts(function: types.FunctionType) -> list[str]:
    """The parts of a sentence that are not filled in."""
    (made,) = [
        node
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
        if isinstance(node, ast.JoinedStr)
    ]
    return [one.value for one in made.values if isinstance(one, ast.Constant)]


def test_some_calls_have_such_refusals() -> None:
    assert sum(bool(mount.conflicts) for mount, _ in CALLS.values()) > 40
    assert all(isinstance(one, Refusal) for mount, _ in CALLS.values() for one in mount.conflicts)
