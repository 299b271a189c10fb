import base64

import pytest
from tests.support.registry.registry_payloads import aa, fip, fiu, jwk, older

from mudra.registry.payload.entry import canonical, read_canonical
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, address_findings, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.shared.finding import Severity

PUBLIC = AddressPolicy()


def checked(raw, policy=PUBLIC, **options) -> CheckedPayload:
    result = check_payload(raw, policy, shipped_vocabulary(), **options)
    assert isinstance(result, CheckedPayload), [one.sentence() for one in result]
    return result


@pytest.mark.parametrize("payload", [fip(), fiu(), aa(), fip(7), fiu(8), aa(9)])
def test_a_good_payload_is_taken_without_notes(payload):
    assert checked(payload).notes == ()


@pytest.mark.parametrize("payload", [fip(), fiu(), aa()])
def test_an_entry_survives_its_byte_form(payload):
    entry = checked(payload).entry

    assert read_canonical(canonical(entry)) == entry


def test_an_answer_has_exactly_the_members_of_the_specification():
    entry = canonical(checked(fip()).entry)

    assert entry.startswith(b'{"entityinfo":{"Identifiers":[{"category":"STRONG","type":"MOBILE"}')
    assert entry.endswith(
        b'"requester":{"id":"FIP-0","name":"Entity FIP-0"},"timestamp":"2026-01-15T09:30:00.000Z",'
        b'"txnid":"6f1c2a4e-0d6b-4c8e-9a53-000000000000","type":"FIP","ver":"1.0"}'
    )


@pytest.mark.parametrize("empty", ["", None, [], [""], [None]])
def test_all_empties_count_the_same_and_come_out_in_the_form_of_the_specification(empty):
    sent = fiu(
        tags=empty,
        entityhandle=empty,
        Identifiers=empty,
        webviewurl=empty,
        fitypes=empty,
        gsp=empty,
    )

    assert canonical(checked(sent).entry) == canonical(checked(fiu(tags="")).entry)


def test_missing_members_count_as_empty():
    sent = fiu()
    for name in (
        "tags",
        "entityhandle",
        "Identifiers",
        "webviewurl",
        "fitypes",
        "gsp",
        "tokeninfo",
        "signature",
    ):
        del sent["entityinfo"][name]

    info = checked(sent).entry.entityinfo

    assert (info.tags, info.entityhandle, info.identifiers, info.fitypes) == ("", "", (), ())
    assert (info.webviewurl, info.gsp) == (None, None)


@pytest.mark.parametrize("hollow", [{}, {"id": "", "name": "", "ip": "", "url": None}])
def test_a_gateway_of_empties_is_none(hollow):
    assert checked(fip(gsp=hollow)).entry.entityinfo.gsp is None
    assert checked(fiu(gsp=hollow)).entry.entityinfo.gsp is None


def test_a_gateway_is_kept():
    gsp = {"id": "gsp-1", "name": "Gateway", "ip": "9.9.9.9", "url": "https://g.example/x?y=1"}

    assert checked(fip(gsp=gsp)).entry.entityinfo.gsp.url == gsp["url"]


@pytest.mark.parametrize(
    "reserved", [None, "", "x", 1, [1], {"url": "https://x", "odd": {"deep": [1]}}]
)
def test_reserved_objects_accept_anything_and_keep_nothing(reserved):
    sent = fip(tokeninfo=reserved, signature=reserved)

    assert canonical(checked(sent).entry) == canonical(checked(fip()).entry)
    assert checked(sent).notes == ()


@pytest.mark.parametrize(
    "baseurl",
    [
        "https://bank.example/api",
        "v2:https://bank.example",
        "v1:https://bank.example/v1,v2:https://bank.example:8443/v2/",
        "v2:https://9.9.9.9/v2",
        "v2:https://[2620:fe::fe]/v2",
        "v2:https://xn--bnk-sna.example",
        "v2:https://BANK.example/a%20b",
    ],
)
def test_base_addresses_in_use_are_taken(baseurl):
    assert checked(fip(baseurl=baseurl)).entry.entityinfo.baseurl == baseurl


@pytest.mark.parametrize(
    "changes",
    [
        {"baseurl": "v2:http://localhost:9000/v2"},
        {"baseurl": "v2:https://10.0.0.7"},
        {"baseurl": "v2:http://[::1]:9000"},
        {"ips": ["127.0.0.1", "10.0.0.0/16", "fe80::1"]},
    ],
)
def test_a_sandbox_may_allow_http_and_private_addresses(changes):
    checked(fip(**changes), AddressPolicy(allow_http=True, allow_private=True))


def test_spellings_in_use_are_read_as_the_listed_word_with_a_note():
    sent = fip(
        fitypes=["TERM-DEPOSIT", "mutual funds"],
        Identifiers=[
            {"category": "STRONG", "type": "AADHAAR"},
            {"category": "WEAK", "type": "Others"},
        ],
    )

    result = checked(sent)

    assert result.entry.entityinfo.fitypes == ("TERM_DEPOSIT", "MUTUAL_FUNDS")
    assert [one.type for one in result.entry.entityinfo.identifiers] == ["AADHAR", "OTHERS"]
    assert {one.path for one in result.notes} == {
        "$.entityinfo.fitypes[0]",
        "$.entityinfo.fitypes[1]",
        "$.entityinfo.Identifiers[0].type",
        "$.entityinfo.Identifiers[1].type",
    }


def test_what_is_listed_twice_is_dropped_with_a_note():
    result = checked(fip(ips=["2620:FE::0:FE", "2620:fe::fe"], fitypes=["DEPOSIT", "DEPOSIT"]))

    assert result.entry.entityinfo.ips == ("2620:fe::fe",)
    assert result.entry.entityinfo.fitypes == ("DEPOSIT",)
    assert [one.severity for one in result.notes] == [Severity.NOTE] * 3


@pytest.mark.parametrize("payload", [fip(), fiu(1), aa(2)])
def test_an_older_entry_is_read_with_notes_and_refused_as_a_submission(payload):
    result = checked(older(payload), older=True)

    assert result.entry.timestamp == "2024-02-06T10:11:29.192Z"
    assert result.entry.entityinfo.ips == ()
    noted = {one.path for one in result.notes}
    assert {
        "$.timestamp",
        "$.entityinfo.credentialsPk",
        "$.entityinfo.oldEntityId",
        "$.entityinfo.ips",
    } <= noted
    assert isinstance(check_payload(older(payload), AddressPolicy(), shipped_vocabulary()), list)


def test_an_older_entry_may_have_an_empty_base_address_and_ports_as_numbers():
    sent = older(fip(baseurl="")) | {"txnid": "17"}
    sent["entityinfo"]["inboundports"] = [443]

    info = checked(sent, older=True).entry.entityinfo

    assert (info.baseurl, info.inboundports) == ("", ("443",))


@pytest.mark.parametrize(
    ("payload", "kind"),
    [(fip(), "FIP"), (fiu(1), "FIU"), (aa(2), "AA")],
    ids=["FIP", "FIU", "AA"],
)
def test_an_older_entry_without_a_type_has_the_one_whose_fields_it_fills(payload, kind):
    sent = older(payload)
    del sent["type"]

    result = checked(sent, older=True)

    assert result.entry.type == kind
    assert any(one.path == "$.type" and kind in one.problem for one in result.notes)
    assert isinstance(check_payload(sent, PUBLIC, shipped_vocabulary()), list)


def test_an_older_entry_that_fills_no_field_of_a_type_has_the_one_that_its_id_names():
    sent = older(fiu(1, id="KAVERI-FIP"))
    del sent["type"]

    result = checked(sent, older=True)

    assert result.entry.type == "FIP"
    assert any(one.problem.endswith("by its ID") for one in result.notes)


def test_an_older_entry_whose_fields_fit_two_types_has_the_one_that_its_id_names():
    sent = older(fiu(1, id="bank.FIU"))
    sent["entityinfo"]["Identifiers"] = fip()["entityinfo"]["Identifiers"]
    del sent["type"]

    result = checked(sent, older=True)

    assert result.entry.type == "FIU"
    assert any(one.problem.endswith("by its ID") for one in result.notes)


@pytest.mark.parametrize("entity_id", ["SABARMATI", "FIP-of-FIU", "fiubank"])
def test_an_older_entry_whose_fields_fit_two_types_must_name_its_own(entity_id):
    sent = older(fiu(1, id=entity_id))
    sent["entityinfo"]["Identifiers"] = fip()["entityinfo"]["Identifiers"]

    with_type = checked(sent, older=True)
    del sent["type"]
    without = check_payload(sent, PUBLIC, shipped_vocabulary(), older=True)

    assert with_type.entry.entityinfo.identifiers == ()
    assert any("it was dropped" in one.problem for one in with_type.notes)
    assert isinstance(without, list)
    assert [one.path for one in without if one.severity is Severity.ERROR] == ["$.type"]


def test_an_older_entry_with_a_private_key_is_refused_all_the_same():
    sent = older(fip())
    sent["entityinfo"]["certificate"]["d"] = "x"

    result = check_payload(sent, AddressPolicy(), shipped_vocabulary(), older=True)

    assert any("leaked" in one.problem for one in result if one.severity is Severity.ERROR)


@pytest.mark.parametrize("empty", [None, "", []])
def test_an_empty_private_member_of_a_key_is_none(empty):
    """As default serializers write a key whose type has members for both halves."""
    sent = fip()
    sent["entityinfo"]["certificate"] |= {"d": empty, "p": empty, "oth": empty, "x5c": empty}

    assert checked(sent).entry == checked(fip()).entry


@pytest.mark.parametrize("exponent", [65537, 65537.0])
def test_an_older_entry_may_have_its_exponent_as_a_number(exponent):
    sent = fip()
    sent["entityinfo"]["certificate"]["e"] = exponent

    assert checked(sent, older=True).entry.entityinfo.certificate.e == "AQAB"


@pytest.mark.parametrize(
    "timestamp",
    [
        "2024-02-29T10:11:29Z",
        "2024-02-06T10:11:29.123456789Z",
        "2024-02-06T10:11:29.1+00:00",
        "2024-02-06T10:11:29+0000",
    ],
)
def test_every_spelling_of_utc_is_kept_as_sent(timestamp):
    assert checked(fip() | {"timestamp": timestamp}).entry.timestamp == timestamp


def test_the_longest_time_that_java_writes_is_taken_in_utc():
    sent = fip() | {"timestamp": "2024-02-06T15:41:29.123456789+05:30[Asia/Kolkata]"}

    assert checked(sent).entry.timestamp == "2024-02-06T10:11:29.123Z"


def test_names_of_indian_scripts_are_kept():
    name = "क्\u200dष बैंक"

    assert checked(fip(name=name)).entry.entityinfo.name == name


def test_the_payload_must_match_the_address_it_is_sent_to():
    entry = checked(fip()).entry

    assert address_findings(entry, "FIP", "FIP-0") == []
    assert address_findings(entry, "FIP", None) == []
    assert [one.path for one in address_findings(entry, "AA", "X")] == ["$.type", "$.entityinfo.id"]


RFC_7517 = {
    "key_ops": ["verify"],
    "x5u": "https://bank.example/chain.pem",
    "x5c": ["MIIB"],
    "x5t": "dGh1bWI",
    "x5t#S256": "dGh1bWI",
    "ext": True,
    "exp": 1893456000,
}


@pytest.mark.parametrize("name", RFC_7517)
def test_a_key_field_that_the_registry_does_not_use_is_noted_and_not_kept(name):
    result = checked(fip(certificate=jwk() | {name: RFC_7517[name]}))

    assert canonical(result.entry) == canonical(checked(fip()).entry)
    [note] = result.notes
    assert note.path == f"$.entityinfo.certificate.{name}"
    assert note.severity is Severity.NOTE


def octets_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


N = jwk()["n"]
FORMS_LIVE_ELSEWHERE = {
    "zero octet": ("n", base64.urlsafe_b64encode(b"\0" + octets_of(N)).decode().rstrip("=")),
    "zero octet, padded": ("n", base64.urlsafe_b64encode(b"\0" + octets_of(N)).decode()),
    "padded": ("n", base64.urlsafe_b64encode(octets_of(N)).decode()),
    "Base64": ("n", base64.b64encode(octets_of(N)).decode()),
    "Base64 in lines": ("n", base64.encodebytes(octets_of(N)).decode()),
    "e of 4 octets": ("e", "AAEAAQ"),
    "e of 4 octets, padded": ("e", "AAEAAQ=="),
    "e as a number": ("e", 65537),
    "e in digits": ("e", "65537"),
    "e in hexadecimal": ("e", "0x10001"),
    "e as openssl prints it": ("e", "010001"),
    "no alg": ("alg", None),
    "no use": ("use", ""),
}


@pytest.mark.parametrize("form", FORMS_LIVE_ELSEWHERE)
def test_an_import_stores_a_key_that_is_live_elsewhere_in_the_right_form_and_notes_it(form):
    name, value = FORMS_LIVE_ELSEWHERE[form]

    result = checked(fip(certificate=jwk() | {name: value}), older=True)

    assert canonical(result.entry) == canonical(checked(fip()).entry)
    assert [one.path for one in result.notes] == [f"$.entityinfo.certificate.{name}"]


@pytest.mark.parametrize("form", FORMS_LIVE_ELSEWHERE)
def test_a_submission_in_such_a_form_is_refused(form):
    name, value = FORMS_LIVE_ELSEWHERE[form]

    result = check_payload(fip(certificate=jwk() | {name: value}), PUBLIC, shipped_vocabulary())

    assert not isinstance(result, CheckedPayload)
    assert [one.path for one in result] == [f"$.entityinfo.certificate.{name}"]


@pytest.mark.parametrize(
    "form", [one for one in FORMS_LIVE_ELSEWHERE if one.startswith(("zero", "padded", "Base"))]
)
def test_the_refusal_of_a_modulus_offers_its_right_form(form):
    _, value = FORMS_LIVE_ELSEWHERE[form]

    [found] = check_payload(fip(certificate=jwk() | {"n": value}), PUBLIC, shipped_vocabulary())

    assert found.nearest == N


@pytest.mark.parametrize("e", ["3", 3, 65536, "0x10000", True, 0, -65537, "99999999999", 2**40 + 1])
def test_an_import_refuses_a_bad_exponent_in_any_form(e):
    raw = fip(certificate=jwk() | {"e": e})

    assert not isinstance(
        check_payload(raw, PUBLIC, shipped_vocabulary(), older=True), CheckedPayload
    )
