"""Hooks of schemathesis: what this interface means by formats that JSON Schema leaves open.

And valid bodies without members that the document does not name: they are
ignored, since clients send them, but must still be strict JSON (no floats,
no huge numbers), which no schema can say of what it does not name.
"""

import itertools
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import schemathesis
from hypothesis import Phase, settings
from hypothesis import strategies as st
from tests.support.metrics.metrics_payloads import as_value, request_metrics
from tests.support.registry.registry_payloads import aa, fip, fiu

from mudra.metrics.payload.catalogue import WINDOW, window_start

SPARED = set(os.environ.get("FUZZ_SPARED", "").split(","))
"""User IDs and tokens of the callers: a fuzzer that reads lists finds them there."""
UNKNOWN = "00000000-0000-4000-8000-000000000007"
HARMLESS = {
    "/sandbox/v1/clock": {"advance": "PT1S"},
    "/iam/v1/entity/admin/handover": {"entityId": "NO-SUCH-ENTITY"},
}
"""What valid calls say here: else they move the time past the tokens' end, or give a place away."""
BY_NAME = (".detail", ".counts")
"""Objects whose members differ from answer to answer."""
LEFT_OUT = {
    *("$.message", "$.oldSecretExpirationDate", "$.old", "$.clientId", "$.cnf"),
    *("$.admins[].invitedUntil", "$.admins[].takesOverFrom", "$.users[].linkValidUntil"),
    *("$.evidence.whole[].statuses", "$.evidence.apart[].statuses", "$.days[].statuses"),
}
"""Members of answers while an old secret is in its grace period, and a second name of another."""
REGISTERED = {"FIP": fip, "FIU": fiu, "AA": aa}
"""Valid entries: no schema says what makes an RSA modulus, or which members a type has."""
ENTITY = os.environ.get("FUZZ_ENTITY", "")
"""The caller's own entity, its type at the end; empty for an operator, who writes for anyone."""
_NOW = datetime.now(UTC)
_SOON = {"begins": _NOW.isoformat(), "ends": (_NOW + timedelta(days=1)).isoformat()}
HARMLESS["/operator/v1/health/silences"] = {**_SOON, "entityId": "", "reason": "planned work"}
# A maintenance is of one FIP, and no schema says that it needs one.
HARMLESS["/operator/v1/health/silences"]["maintenance"] = False
# No schema says that a begin is before its end, and which FIPs there are.
HARMLESS["/operator/v1/announcements"] = {"fipIds": [], "translations": [], **_SOON}
HARMLESS["/operator/v1/announcements"]["publishAt"] = _NOW.isoformat()
HARMLESS["/iam/v1/user/alarm/preferences"] = {
    "quietFrom": "22:00",
    "quietUntil": "06:00",
    "timeZone": "Asia/Kolkata",
}
# An entry of another type than its member is refused, and no schema says which members there are.
HARMLESS["/operator/v1/members"] = {"entityId": "FUZZED-FIP", "type": "FIP"}
# One act of three needs it.
HARMLESS["/operator/v1/members/bulk"] = {"reason": "planned work"}
# A post-mortem may be longer than what other acts say.
HARMLESS["/operator/v1/incidents/{incident_id}/acts"] = {"text": "The FIP restarts its gateway."}
HARMLESS["/metrics/perf/v1/maintenance"] = {**_SOON, "reason": "planned work"}
# What it is about decides what it needs, and no schema says which days are over.
HARMLESS["/iam/v1/entity/disputes"] = {
    "about": "day",
    "day": (_NOW - timedelta(days=4)).date().isoformat(),
    "text": "Our gateway answered all calls.",
}
# A step says something, and no schema says how Base64 ends, or which kinds of files there are.
_OF_DISPUTE = "/iam/v1/entity/disputes/{dispute_id}"
HARMLESS[f"{_OF_DISPUTE}/steps"] = {"text": "Which calls were these?"}
HARMLESS[f"{_OF_DISPUTE}/evidence"] = {"name": "gateway.log", "content": "MjAwIC9GSS9GZXRjaAo="}
_LEVELS = "/metrics/perf/v1/levels/reports"
HARMLESS[_LEVELS] = {"month": (_NOW.replace(day=1) - timedelta(days=2)).strftime("%Y-%m")}
ONE_WAY = {_LEVELS: {"start", "end"}}
"""Left out of valid bodies: no schema says that a month is in place of them."""
ANY_TIME = {"from", "to", "next"}
"""Left out of valid queries: no schema says that one is before the other."""
AA = os.environ.get("FUZZ_AA", "")
LAST_WINDOW = window_start(_NOW) - WINDOW
"""Of a valid payload of metrics: no schema says whose, of when, and that its counts add up."""
_numbers = itertools.count(700_000)
# Of one number each: letters drawn one by one, and thrown away where an address is too long, took
# a third of the whole run.
_WORD = st.integers(0, 16**20 - 1).map("{:x}".format)

_EMAIL = _WORD.map(lambda word: f"{word[::2]}.{word}@d{word}.example")
schemathesis.openapi.format("email", _EMAIL)
schemathesis.openapi.format("email-or-empty", st.just("") | _EMAIL)
schemathesis.openapi.format("webhook-url", _WORD.map("https://{}.example/alarms".format))
schemathesis.openapi.format("plain-line", _WORD.map("Ravi {}".format))
_FILE = "entityId,type,name,adminEmail\r\n{0}-FIP,FIP,Bank,{0}@file.example\r\n"
schemathesis.openapi.format("member-file", _WORD.map(_FILE.format))

# Each of the examples is drawn again. Else half of the run goes into thousands of variants of one
# that are thrown away unsent: the search for more answers of 2xx, where half of all are already.
_PHASES = [phase for phase in Phase if phase is not Phase.target]
settings.register_profile("drawn", settings.get_profile("default"), phases=_PHASES)
settings.load_profile("drawn")


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
    """Name no one in place of the caller: what a list gave is put into a case after the filter."""
    for name, value in list((case.path_parameters or {}).items()):
        if str(value) in SPARED:
            case.path_parameters[name] = UNKNOWN
            if isinstance(case.body, dict) and case.body.get("entityinfo") and is_positive(case):
                case.body = valid_entry(case)  # an entry names its address
    if isinstance(case.body, dict) and is_positive(case):  # examples are not mapped
        left_out = ONE_WAY.get(case.operation.path, set())
        case.body = {name: one for name, one in case.body.items() if name not in left_out}
        case.body |= HARMLESS.get(case.operation.path, {})
        if case.operation.path.endswith("/push"):
            case.body = as_value(request_metrics(1, AA, str(next(_numbers)), LAST_WINDOW))
        if "/oauth2/" in case.operation.path:  # no schema says: one way of authentication only
            case.body = {k: v for k, v in case.body.items() if not k.startswith("client_")}


@schemathesis.hook
def map_case(context: schemathesis.HookContext, case: schemathesis.Case) -> schemathesis.Case:
    """Drop what is not named from valid bodies; a valid entry is one of its type."""
    if case.operation.path.startswith("/cr/") and isinstance(case.body, dict):
        if is_positive(case):
            case.body = valid_entry(case)
    elif isinstance(case.body, dict) and is_positive(case):
        document = case.operation.schema.raw_schema
        order = document["paths"][case.operation.path][case.operation.method]["requestBody"]
        named = {
            name
            for content in order["content"].values()
            for schema in _objects(content["schema"], document)
            for name in schema["properties"]
        }
        case.body = {
            # JSON Schema takes 7.0 for a whole number; on the wire it is a float.
            name: int(value) if isinstance(value, float) else value
            for name, value in case.body.items()
            if name in named
        } | HARMLESS.get(case.operation.path, {})
        if case.operation.path.endswith("/push"):
            case.body = as_value(request_metrics(1, AA, str(next(_numbers)), LAST_WINDOW))
    if case.query and is_positive(case):
        case.query = {name: value for name, value in case.query.items() if name not in ANY_TIME}
    return case


def _objects(schema: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects that a body may be: one, or either payload of metrics."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        return _objects(document["components"]["schemas"][name], document)
    if "properties" in schema:
        return [schema]
    parts = schema.get("oneOf") or schema["anyOf"]
    return [one for part in parts for one in _objects(part, document)]


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


@schemathesis.check
def answer_as_in_its_example(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """The example of an answer has each member that a real one has, and of the same type."""
    document = case.operation.schema.raw_schema
    operation = document["paths"][case.operation.path][case.operation.method]
    described = operation["responses"].get(str(response.status_code), {})
    content = described.get("content", {}).get("application/json", {})
    if "example" in content:
        found = list(unlike(content["example"], response.json(), "$"))
        assert not found, f"not as in the example: {found}"


def unlike(example: Any, answered: Any, path: str) -> Iterator[str]:
    """Where an answer has what its example has not; null is of any type."""
    if example is None or answered is None:
        return
    if kind_of(example) is not kind_of(answered):
        yield f"{path} is no {kind_of(example).__name__}"
    elif isinstance(answered, dict):
        # An object by name has one example for all.
        same = example["KAVERI-FIP"] if [*example] == ["KAVERI-FIP"] else None
        for name, one in answered.items():
            place = f"{path}.{name}"
            if name in example or same is not None:
                yield from unlike(example.get(name, same), one, place)
            elif not path.endswith(BY_NAME) and place not in LEFT_OUT:
                yield place
    elif isinstance(answered, list):
        for one in answered if example else ():
            yield from unlike(example[0], one, f"{path}[]")


def kind_of(value: object) -> type:
    """The type of a value in JSON, where a whole number is a number."""
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)
