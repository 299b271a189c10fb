"""Calls and filters of operators in the OpenAPI document."""

import httpx2
from tests.support.service import Service


def test_what_operators_do_with_people_is_in_the_document(service: Service) -> None:
    document = httpx2.get(f"{service.root}/schema/openapi.json").json()

    for path in (
        "/operator/v1/members",
        "/operator/v1/users/{user_id}/disable",
        "/operator/v1/mails/{mail_id}/retry",
        "/operator/v1/audit",
        "/iam/v1/entity/admin/handover",
        "/iam/v1/entity/secret/use",
    ):
        assert path in document["paths"]
    filters = {
        "members": {"type", "status", "words", "withoutAdmin"},
        "users": {"state", "entityId", "words", "operators"},
        "mails": {"failed", "to"},
        "audit": {"event", "outcome", "actor", "userId", "entityId", "since", "until"},
    }
    for name, wanted in filters.items():
        query = document["paths"][f"/operator/v1/{name}"]["get"]["parameters"]
        assert wanted | {"after", "limit"} <= {parameter["name"] for parameter in query}
