"""X1 for network metrics: who may push, read receipts, feeds, pictures and incidents."""

import pytest
from tests.support.members import new_member
from tests.support.people.operators import new_operator

METRICS = "/metrics/perf/v1"
NONE = "00000000-0000-4000-8000-000000000000"
OPERATORS = (
    ("GET", "/operator/v1/health/network"),
    ("GET", "/operator/v1/health/fips"),
    ("GET", "/operator/v1/health/aas"),
    ("GET", "/operator/v1/health/pairs"),
    ("GET", "/operator/v1/health/matrix"),
    ("GET", "/operator/v1/health/held-reports"),
    ("POST", f"/operator/v1/health/held-reports/{NONE}/admit"),
    ("POST", f"/operator/v1/health/held-reports/{NONE}/refuse"),
    ("GET", "/operator/v1/health/silences"),
    ("GET", "/operator/v1/health/webhooks"),
    ("POST", "/operator/v1/health/silences"),
    ("POST", "/operator/v1/health/webhooks"),
    ("POST", f"/operator/v1/health/silences/{NONE}/end"),
    ("POST", f"/operator/v1/health/webhooks/{NONE}/remove"),
    ("POST", f"/operator/v1/health/webhooks/{NONE}/test"),
    ("POST", f"/operator/v1/health/webhooks/{NONE}/rotate"),
    ("GET", f"/operator/v1/health/webhooks/{NONE}/events"),
    ("POST", f"/operator/v1/health/webhooks/{NONE}/events/{NONE}/resend"),
    ("GET", "/operator/v1/announcements"),
    ("POST", "/operator/v1/announcements"),
    ("POST", f"/operator/v1/announcements/{NONE}"),
    ("POST", f"/operator/v1/announcements/{NONE}/end"),
    ("POST", f"/operator/v1/announcements/{NONE}/updates"),
    ("GET", "/operator/v1/funnel/network"),
    ("GET", "/operator/v1/comparison/FIP"),
    ("GET", "/operator/v1/volume"),
    ("GET", "/operator/v1/incidents"),
    ("GET", "/operator/v1/levels/targets"),
    ("POST", "/operator/v1/levels/targets"),
    ("POST", f"/operator/v1/levels/targets/{NONE}/end"),
    ("GET", "/operator/v1/levels/rule"),
    ("POST", "/operator/v1/levels/rule"),
    ("GET", "/operator/v1/levels/budgets"),
    ("GET", "/operator/v1/levels/league?month=2026-03"),
    ("GET", "/operator/v1/levels/reports"),
    ("POST", "/operator/v1/levels/reports"),
    ("GET", f"/operator/v1/levels/reports/{NONE}"),
    ("GET", f"/operator/v1/levels/reports/{NONE}/proof"),
    ("POST", f"/operator/v1/incidents/{NONE}/acknowledge"),
    ("POST", f"/operator/v1/incidents/{NONE}/acts"),
    ("GET", f"/operator/v1/incidents/{NONE}/before"),
    ("GET", "/operator/v1/timeline"),
    ("GET", "/operator/v1/disputes"),
    ("GET", f"/operator/v1/disputes/{NONE}"),
    ("POST", f"/operator/v1/disputes/{NONE}/steps"),
    ("GET", f"/operator/v1/disputes/{NONE}/evidence/{NONE}"),
)
MEMBERS = {
    ("POST", f"{METRICS}/push"): {"AA"},
    ("GET", f"{METRICS}/receipts"): {"AA"},
    ("GET", f"{METRICS}/health"): {"AA", "FIP"},
    ("GET", f"{METRICS}/funnel/all"): {"AA", "FIP"},
    ("GET", f"{METRICS}/comparison"): {"AA", "FIP"},
    ("GET", f"{METRICS}/volume"): {"AA", "FIP"},
    ("GET", f"{METRICS}/feed"): {"AA", "FIU"},
    ("GET", f"{METRICS}/feed/events"): {"AA", "FIU"},
    ("GET", f"{METRICS}/incidents"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/webhooks"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/webhooks"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/webhooks/{NONE}/remove"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/webhooks/{NONE}/test"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/webhooks/{NONE}/rotate"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/webhooks/{NONE}/attempts"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/webhooks/{NONE}/events"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/webhooks/{NONE}/events/{NONE}/resend"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/followed-fips"): {"FIU"},
    ("PUT", f"{METRICS}/followed-fips/NONE"): {"FIU"},
    ("DELETE", f"{METRICS}/followed-fips/NONE"): {"FIU"},
    ("GET", f"{METRICS}/maintenance"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/levels/budgets"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/levels/league"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/levels/reports"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/levels/reports"): {"AA", "FIP"},
    ("GET", f"{METRICS}/levels/reports/{NONE}"): {"AA", "FIP", "FIU"},
    ("GET", f"{METRICS}/levels/reports/{NONE}/proof"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/maintenance"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/maintenance/{NONE}"): {"AA", "FIP", "FIU"},
    ("POST", f"{METRICS}/maintenance/{NONE}/end"): {"AA", "FIP", "FIU"},
}


@pytest.fixture(scope="module")
def callers(service):
    """Headers of one entity of each type, its admin, and operators with and without the scope."""
    found = {}
    for kind in ("AA", "FIP", "FIU"):
        member = new_member(service, kind)
        token = member.entity_token(member.secret()).json()["accessToken"]
        found[kind] = (member.client, {"Authorization": f"Bearer {token}"})
    found["admin of a member"] = (member.client, member.bearer())
    for name, scope in (("operator", "health"), ("operator without health", "members")):
        one = new_operator(service, scope)
        found[name] = (one.client, one.headers)
    return found


def status(service, caller, method, path):
    client, headers = caller
    body = {"json": {"entityId": NONE}} if method == "POST" else {}
    # A stream does not end by itself.
    with client.stream(method, service.root + path, headers=headers, **body) as answer:
        return answer.status_code


@pytest.mark.parametrize(("method", "path"), OPERATORS)
def test_only_an_operator_with_the_scope_health_sees_the_network(service, callers, method, path):
    refused = {
        name: status(service, caller, method, path)
        for name, caller in callers.items()
        if name != "operator"
    }

    assert refused == dict.fromkeys(refused, 401)
    # What is posted here names nothing that there is.
    taken = status(service, callers["operator"], method, path)
    assert taken in ({200} if NONE not in path and method == "GET" else {400, 404})


@pytest.mark.parametrize(("method", "path"), sorted(MEMBERS))
def test_members_reach_what_concerns_their_type_only(service, callers, method, path):
    reached = {
        name for name, caller in callers.items() if status(service, caller, method, path) != 401
    }

    assert reached == MEMBERS[(method, path)]
