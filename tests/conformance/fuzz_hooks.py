"""Hooks of schemathesis: what this interface means by formats that JSON Schema leaves open.

And valid bodies without members that the document does not name: they are
ignored, as decisions.md part 3 wants, but must still be strict JSON (no floats,
no huge numbers), which no schema can say of what it does not name.
"""

import itertools
import os
from typing import Any

import schemathesis
from hypothesis import strategies as st
from tests.support.registry_payloads import aa, fip, fiu

SPARED = set(os.environ.get("FUZZ_SPARED", "").split(","))
"""The caller's own user ID and token: a fuzzer that reads lists finds them there."""
NOBODY = "00000000-0000-4000-8000-000000000007"
HARMLESS = {
    "/sandbox/v1/clock": {"advance": "PT1S"},
    "/iam/v1/entity/admin/handover": {"entityId": "NO-SUCH-ENTITY"},
}
"""What valid calls say here: else they move the time past the tokens' end, or give a place away."""
REGISTERED = {"FIP": fip, "FIU": fiu, "AA": aa}
"""Valid entries: no schema says what makes an RSA modulus, or which members a type has."""
ENTITY = os.environ.get("FUZZ_ENTITY", "")
"""The caller's own entity, its type at the end; empty for an operator, who writes for anyone."""
_numbers = itertools.count(700_000)
_WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=20)

schemathesis.openapi.format(
    "email", st.builds("{}.{}@{}.example".format, _WORD, _WORD, _WORD.map(lambda word: f"d{word}"))
)
schemathesis.openapi.format("plain-line", st.builds("Ravi {}".format, _WORD))


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Leave alone what would take the caller's own rights, and with them all that follows."""
    body = case.body if isinstance(case.body, dict) else {}
    sent = (*case.path_parameters.values(), *body.values())
    return SPARED.isdisjoint(str(value) for value in sent)


@schemathesis.hook
def before_call(
    context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, object]
) -> None:
    """Name nobody in place of the caller: what a list gave is put into a case after the filter."""
    for name, value in list((case.path_parameters or {}).items()):
        if str(value) in SPARED:
            case.path_parameters[name] = NOBODY


@schemathesis.hook
def map_case(context: schemathesis.HookContext, case: schemathesis.Case) -> schemathesis.Case:
    """Drop what is not named from valid bodies; a valid entry is one of its type."""
    if case.operation.path.startswith("/cr/") and isinstance(case.body, dict):
        if is_positive(case):
            case.body = valid_entry(case)
    elif isinstance(case.body, dict) and is_positive(case):
        named = {
            name for body in case.operation.body for name in body.definition["schema"]["properties"]
        }
        case.body = {
            # JSON Schema takes 7.0 for a whole number; on the wire it is a float.
            name: int(value) if isinstance(value, float) else value
            for name, value in case.body.items()
            if name in named
        } | HARMLESS.get(case.operation.path, {})
    return case


def valid_entry(case: schemathesis.Case) -> dict[str, Any]:
    """Make an entry that belongs to the address of a case."""
    kind = str(case.path_parameters["entity_type"])
    entry = REGISTERED[kind](next(_numbers))
    own = ENTITY if ENTITY.endswith(kind) else ""
    entity_id = case.path_parameters.get("entity_id") or own or entry["entityinfo"]["id"]
    entry["entityinfo"]["id"] = entry["requester"]["id"] = entity_id
    return entry


def is_positive(case: schemathesis.Case) -> bool:
    """Tell whether a case is one that the document calls valid."""
    return case.meta is None or case.meta.generation.mode.is_positive
