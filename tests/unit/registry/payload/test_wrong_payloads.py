"""A table of wrong payloads: each with the path and the words of the finding it must bring."""

import pytest
from tests.support.registry.registry_payloads import fip
from tests.unit.registry.payload.wrong import WRONG_MEMBERS, changed
from tests.unit.registry.payload.wrong_more import MORE_WRONG

from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.shared.finding import Finding, Severity

WRONG = WRONG_MEMBERS + MORE_WRONG


def findings(raw: object) -> list[Finding]:
    result = check_payload(raw, AddressPolicy(), shipped_vocabulary())
    assert isinstance(result, list), "the payload was taken"
    return result


@pytest.mark.parametrize(("base", "member", "value", "path", "words"), WRONG)
def test_a_wrong_payload_brings_its_finding(base, member, value, path, words):
    found = findings(changed(base(), member, value))

    sentences = [
        one.sentence() for one in found if one.path == path and one.severity is Severity.ERROR
    ]
    assert any(words in sentence for sentence in sentences), [one.sentence() for one in found]


@pytest.mark.parametrize(("base", "member", "value", "path", "words"), WRONG)
def test_one_wrong_thing_brings_findings_of_that_thing_only(base, member, value, path, words):
    found = findings(changed(base(), member, value))

    errors = [one.path for one in found if one.severity is Severity.ERROR]
    assert all(one.startswith(path) or path.startswith(one) for one in errors), errors
    assert len(errors) <= 3


def test_the_table_holds_at_least_120_wrong_payloads():
    assert len(WRONG) >= 120


def test_all_findings_come_at_once():
    payload = fip(
        name="",
        ips=["10.0.0.1", "x"],
        fitypes=["GOLD"],
        webviewurl="x",
        baseurl="http://u:p@localhost/#x",
    )
    payload["timestamp"] = "now"
    payload["entityinfo"]["certificate"] |= {"d": "x", "kty": "EC", "e": "Aw"}

    paths = [one.path for one in findings(payload)]

    assert set(paths) == {
        "$.timestamp",
        "$.entityinfo.name",
        "$.entityinfo.ips[0]",
        "$.entityinfo.ips[1]",
        "$.entityinfo.fitypes[0]",
        "$.entityinfo.webviewurl",
        "$.entityinfo.baseurl",
        "$.entityinfo.certificate.d",
        "$.entityinfo.certificate.kty",
        "$.entityinfo.certificate.e",
    }
    assert paths.count("$.entityinfo.baseurl") == 4


@pytest.mark.parametrize("raw", [None, [], "x", 1, True, 1.5, [{}]])
def test_what_is_no_object_has_one_finding(raw):
    assert len(findings(raw)) == 1


def test_an_empty_object_names_every_member_that_is_missing():
    assert [one.path for one in findings({})] == [
        "$.type",
        "$.ver",
        "$.timestamp",
        "$.txnid",
        "$.requester",
        "$.entityinfo",
    ]


def test_a_private_key_is_never_repeated():
    payload = changed(fip(), "entityinfo.certificate.d", "c2VjcmV0LXZhbHVl")
    payload["entityinfo"]["name"] = "-----BEGIN PRIVATE KEY-----c2VjcmV0"
    payload["entityinfo"]["id"] = "-----BEGIN PRIVATE KEY-----c2VjcmV0"
    payload["entityinfo"]["baseurl"] = (
        "v2:https://admin:c2VjcmV0@a.example,V3:https://admin:c2VjcmV0@a.example"
    )

    shown = "".join(one.sentence() for one in findings(payload))

    assert "c2VjcmV0" not in shown


def test_thousands_of_unknown_members_cost_little_and_are_counted():
    payload = fip() | {f"member{number}": 1 for number in range(5000)}

    found = findings(payload)

    assert len(found) == 21
    assert "has 4980 more unknown fields" in found[20].sentence()
