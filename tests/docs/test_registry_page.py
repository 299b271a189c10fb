"""What docs/reference/registry.md shows and says of writes and of changes is what a service does."""

import json
import re
from typing import Any, Final
from uuid import uuid4

import httpx2
import pytest
from tests.support.documents.blocks import blocks_of, text_of
from tests.support.members import Member, new_member
from tests.support.registry.registry_commands import payload
from tests.support.service import Service
from tools.pages.registry_payload import example

PAGE: Final = "docs/reference/registry.md"


def block(first: str) -> str:
    (text,) = (one.body for one in blocks_of(PAGE) if one.first.startswith(first))
    return text


def rows(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading."""
    part = text_of(PAGE).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.+) \|$", part, re.MULTILINE)
    return [line.split(" | ") for line in lines if not line.startswith("---")][1:]


class Writer:
    """An admin who writes to the registry."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self.entity_id = member.entity_id

    def sent(self, method: str, path: str, body: object) -> httpx2.Response:
        url = f"{self._member.service.root}/cr/v2/{path}"
        return self._member.client.request(method, url, json=body, headers=self._member.bearer())


@pytest.fixture
def fip(sandbox: Service) -> Member:
    return new_member(sandbox, "FIP")


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errorCode"]


def test_a_write_is_answered_as_shown(fip: Member) -> None:
    writer, body = Writer(fip), payload(fip)
    shown = json.loads(block('{"ver": "1.0.0", "timestamp": "2026-01-31T09:30:00.000Z", "txnid"'))

    first = writer.sent("POST", "entityInfo/FIP", body).json()
    again = writer.sent("POST", "entityInfo/FIP", body).json()

    changing = ("timestamp", "txnid", "version")
    assert {**first, **dict.fromkeys(changing)} == {**shown, **dict.fromkeys(changing)}
    assert (first["txnid"], first["version"]) == (body["txnid"], 1)
    assert {**again, "timestamp": ""} == {**first, "timestamp": ""}


def test_a_finding_is_as_shown(fip: Member) -> None:
    body = payload(fip)
    body["entityinfo"]["ips"] = ["10.0.0.300"]

    answer = Writer(fip).sent("POST", "lint/FIP", body).json()

    assert answer["passes"] is False
    assert answer["findings"] == [json.loads(block('{"path": '))]


def test_each_refusal_is_as_its_table_says(fip: Member, sandbox: Service) -> None:
    writer, body = Writer(fip), payload(fip)
    missing = writer.sent("PUT", f"entityInfo/FIP/{fip.entity_id}", body)
    writer.sent("POST", "entityInfo/FIP", body)
    stranger = Writer(new_member(sandbox, "FIP"))
    found = [
        code_of(writer.sent("POST", "entityInfo/FIP", {})),
        code_of(stranger.sent("PUT", f"entityInfo/FIP/{fip.entity_id}", body)),
        code_of(missing),
        code_of(writer.sent("POST", "entityInfo/FIP", {**body, "txnid": str(uuid4())})),
        code_of(writer.sent("POST", "entityInfo/FIP", {**body, "ver": "1" * 70_000})),
    ]
    table = [
        (int(row[0]), row[1].strip("`"))
        for row in re.findall(r"^\| (\d{3}) \| (`\w+`) \|", text_of(PAGE), re.MULTILINE)
    ]

    assert found == table[:5]
    assert [status for status, _ in table[5:]] == [429, 503]


def test_only_an_admin_retires_an_entry(fip: Member) -> None:
    writer = Writer(fip)
    writer.sent("POST", "entityInfo/FIP", payload(fip))
    path = f"entityInfo/FIP/{fip.entity_id}?reason=closed"
    token = fip.entity_token(fip.secret()).json()["accessToken"]
    by_entity = fip.client.delete(
        f"{fip.service.root}/cr/v2/{path}", headers={"Authorization": f"Bearer {token}"}
    )
    operation = fip.client.get(f"{fip.service.root}/schema/openapi.json").json()["paths"][
        "/cr/v2/entityInfo/{entity_type}/{entity_id}"
    ]["delete"]

    assert code_of(by_entity) == (401, "Unauthorized")
    assert by_entity.json()["errorMsg"] == (
        "an admin of the entity retires its entry, or an operator with the scope registry: an Entity "
        "Access Token does not"
    )
    assert "Entity Access Token" not in operation["description"]
    assert writer.sent("DELETE", path, None).status_code == 409  # it was never live


@pytest.mark.parametrize("row", rows("What you write for it"), ids=lambda row: row[0])
def test_what_one_writes_passes(row: list[str], fip: Member) -> None:
    body: dict[str, Any] = example("FIP")
    body["requester"]["id"] = body["entityinfo"]["id"] = fip.entity_id
    body["entityinfo"] |= json.loads(f"{{{row[1].strip('`')}}}")

    answer = Writer(fip).sent("POST", "lint/FIP", body).json()

    assert answer["passes"] is True, answer


def test_the_hash_of_the_page_is_that_of_the_registry(sandbox: Service) -> None:
    names: dict[str, Any] = {}
    exec(block("import hashlib"), names)
    fiu = new_member(sandbox, "FIU")
    token = fiu.entity_token(fiu.secret()).json()["accessToken"]
    page = fiu.client.get(
        f"{sandbox.root}/cr/v2/changes?since=0", headers={"Authorization": f"Bearer {token}"}
    ).json()

    copy = {(one["type"], one["id"]): one["entry"] for one in page["changes"]}
    assert (page["complete"], page["more"]) == (True, False)
    assert len(copy) > 3
    assert names["hash_of"](copy) == page["hash"]
