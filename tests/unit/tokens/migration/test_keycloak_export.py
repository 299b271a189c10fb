"""Exports of Keycloak as hands and other programs leave them: a fault costs its element."""

import json
from typing import Any

import pytest

from mudra.tokens.migration.keycloak_export import Export, read_export

GOOD: dict[str, Any] = {
    "clientId": "KAVERI-FIP", "serviceAccountsEnabled": True, "secret": "s" * 30,
}  # fmt: skip  # one line


def exported(*clients: object, **realm: object) -> Export:
    return read_export(json.dumps({"realm": "aa", "clients": clients, **realm}).encode())


@pytest.mark.parametrize(
    "odd",
    [
        {"protocolMappers": [None, "x", {"config": []}]},
        {"protocolMappers": {}},
        {"name": 7},
        {"protocol": None},
        {"bearerOnly": None, "attributes": None, "notBefore": None},
        {"enabled": "true", "serviceAccountsEnabled": "true"},
        {"attributes": {"client.secret.expiration.time": None, "x": []}},
    ],
)
def test_a_fault_in_what_no_one_needs_costs_nothing(odd: dict[str, object]) -> None:
    found = exported(GOOD | odd)

    assert not found.unreadable
    (client,) = found.clients
    assert client.secret is not None
    assert (client.name, client.entity_type, client.lost) == ("KAVERI-FIP", "FIP", ())


@pytest.mark.parametrize("realm", [{"users": {}}, {"groups": "x"}, {"identityProviders": 1}])
def test_a_list_of_the_realm_that_is_none_costs_no_client(realm: dict[str, object]) -> None:
    assert len(exported(GOOD, **realm).clients) == 1


@pytest.mark.parametrize(
    "components",
    [[], "x", {"org.keycloak.keys.KeyProvider": {}}, {"org.keycloak.keys.KeyProvider": [7]}],
)
def test_keys_that_cannot_be_read_are_said(components: object) -> None:
    found = exported(GOOD, components=components)

    assert len(found.clients) == 1
    ((name, why),) = found.skipped
    assert name.startswith("key")
    assert "cannot be read" in why


@pytest.mark.parametrize("half", ["\\ud83d", "\\udc00", "\\uDBFF\\ud83d"])
@pytest.mark.parametrize("place", ["displayName", "name", "description", "attributes", "users"])
def test_half_a_character_costs_the_text_that_has_it(place: str, half: str) -> None:
    """Programs that cut a text in the middle of an emoji leave one."""
    odd = {"name": "HERE", "description": "HERE", "attributes": {"a": "HERE"}}
    client = GOOD | {key: value for key, value in odd.items() if key == place}
    realm = {"displayName": "HERE", "users": [{"username": "HERE"}]}
    of_realm = {key: value for key, value in realm.items() if key == place}
    text = json.dumps({"realm": "aa", "clients": [client], **of_realm})
    assert "HERE" in text

    (found,) = read_export(text.replace("HERE", half).encode()).clients

    assert found.secret is not None
    assert found.secret.text.reveal() == GOOD["secret"]


def test_a_secret_with_half_a_character_does_not_move() -> None:
    text = json.dumps({"realm": "aa", "clients": [GOOD | {"secret": "HERE" * 8}]})

    (client,) = read_export(text.replace("HERE", "\\ud800").encode()).clients

    assert (client.secret, client.why) == (None, "the secret has half of a character")


def test_each_thing_that_a_client_has_there_and_not_here_is_named() -> None:
    mappers = [
        {"name": "Client ID", "config": {"claim.name": "clientId"}},
        {
            "name": "t",
            "protocolMapper": "oidc-hardcoded-claim-mapper",
            "config": {"claim.name": "tenant"},
        },
        {"name": "gateway", "config": {"included.custom.audience": "fip-gateway"}},
        {"config": {"claim.name": "roles", "claim.value": "FIP"}},
    ]
    there = {
        "attributes": {"access.token.lifespan": "3600"},
        "redirectUris": ["https://app.example/*"],
        "protocolMappers": mappers,
    }

    found = exported(
        GOOD | there, roles={"realm": [{"name": "offline_access"}, {"name": "auditor"}]}
    )

    assert found.clients[0].lost == (
        "its tokens live 3600 seconds there, 24 hours here",
        "addresses of its sign-in pages are not carried",
        "mappers of its tokens are not carried: tenant, gateway (2)",
    )
    assert found.skipped == [("roles of the realm (1)", "a member's type is its only role")]


def test_every_attribute_without_a_place_here_is_named() -> None:
    of_client = {"tenant.id": "7", "member.active": "false", "client.secret.creation.time": "17"}
    quiet = {"backchannel.logout.session.required": "true", "saml.assertion.signature": "false"}
    users = [
        {"username": "service-account-kaveri-fip", "attributes": {"region": ["south"]}},
        {"username": "asha", "attributes": {"phone": ["1"], "region": ["west"], "left": None}},
        {"username": "ravi", "attributes": "none"},
    ]
    of_realm = {"network.code": "AA-1", "cibaInterval": "5", "frontendUrl": "https://a.example"}

    found = exported(GOOD | {"attributes": of_client | quiet}, users=users, attributes=of_realm)

    assert found.clients[0].lost == (
        "attributes of it are not carried: member.active, tenant.id (2)",
    )
    assert found.skipped[1:] == [
        ("attributes of users", "they have no place here: phone, region (2)"),
        ("attributes of the realm", "they have no place here: frontendUrl, network.code (2)"),
    ]


def test_very_many_attributes_are_counted_and_the_first_are_named() -> None:
    many = {f"a{number:05}" + "x" * 500: "1" for number in range(20_000)}

    (client,) = exported(GOOD | {"attributes": many}).clients

    (said,) = client.lost
    assert "a00000x" in said
    assert said.endswith(", … (20000)")
    assert len(said) < 600


@pytest.mark.parametrize("not_before", ["soon", 1.5, 10**20, True])
def test_a_time_that_is_none_is_said(not_before: object) -> None:
    (client,) = exported(GOOD | {"notBefore": not_before}).clients

    assert "refuses tokens" in client.lost[0]


@pytest.mark.parametrize("not_before", [0, 0.0, "0", "", None])
def test_no_time_is_said_to_be_none(not_before: object) -> None:
    found = exported(GOOD | {"notBefore": not_before}, notBefore=not_before)

    assert (list(found.clients[0].lost), list(found.skipped)) == ([], [])


@pytest.mark.parametrize(
    "expiry", ["NaN", "1e999", "1_893_456_000", "2030-01-01", True, ["1"], " "]
)
def test_a_secret_with_an_end_that_is_not_understood_does_not_move(expiry: object) -> None:
    (client,) = exported(GOOD | {"attributes": {"client.secret.expiration.time": expiry}}).clients

    assert client.secret is None
    assert "no time in seconds" in client.why


@pytest.mark.parametrize(
    ("odd", "why"),
    [({"protocol": "saml"}, "OpenID Connect"), ({"protocol": []}, "OpenID Connect"),
     ({"bearerOnly": True}, "bearer only")],
)  # fmt: skip  # of one kind
def test_a_client_that_gets_no_tokens_is_no_member(odd: dict[str, object], why: str) -> None:
    found = exported(GOOD | odd)

    assert not found.clients
    assert why in found.skipped[0][1]


def test_the_first_of_two_clients_with_one_id_counts() -> None:
    found = exported(GOOD, GOOD | {"secret": "t" * 30})

    assert [str(one.secret and one.secret.text.reveal()) for one in found.clients] == ["s" * 30]
    assert [(name, "twice" in why) for name, why in found.unreadable] == [("KAVERI-FIP", True)]
