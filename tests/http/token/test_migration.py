"""A realm of Keycloak moves in: members with their secrets, tokens of both side by side."""

import json
import uuid
from datetime import timedelta
from pathlib import Path

import httpx2
import jwt
import pytest
from tests.docs.keycloak import Realm, client
from tests.support.members import Member, new_member
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.shared.secret_text import SecretText
from mudra.tokens.migration.keycloak_keys import ExportedKey
from mudra.tokens.migration.move_in import KeyMove, Line
from mudra.tokens.secrets.secret import rotate
from mudra.tokens.secrets.secret_store import Secrets
from mudra.tokens.signing_keys.signing_key_store import SigningKeys


def new_id(kind: str = "FIP") -> str:
    return f"KC-{uuid.uuid4().hex[:8].upper()}-{kind}"


def secret_of(entity_id: str) -> str:
    return f"secret-of-{entity_id}-0123456789abcdef"


def migrate(
    service: Service, realm: Realm, folder: Path, *options: str, check: bool = True
) -> dict[str, tuple[str, str]]:
    """Run the command; gives result and detail of each thing by its name."""
    file, admins = realm.write(folder)
    words = ("migrate", "keycloak", str(file), "--admins", str(admins), "--issuer", realm.issuer)
    done = service.cli(*words, "--json", *options, check=check)
    for one in realm.clients:
        assert str(one["secret"]) not in done.output
    lines = json.loads(done.stdout)["lines"]
    return {one["name"]: (one["result"], one["detail"]) for one in lines}


def token_of(service: Service, entity_id: str, secret: str) -> httpx2.Response:
    form = {"id": entity_id, "secret": secret}
    return service.client().post("/v1/entity/token/generate", data=form)


def reads_registry(service: Service, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    url = f"{service.root}/cr/v2/entityInfo/AA"
    return service.client().get(url, headers=headers).status_code


def published(service: Service) -> set[str]:
    keys = service.client().get("/protocol/openid-connect/certs").json()["keys"]
    assert all("d" not in key for key in keys)
    return {key["kid"] for key in keys}


def test_a_dry_run_reports_and_changes_nothing(service: Service, tmp_path: Path) -> None:
    entity_id = new_id()
    realm = Realm(clients=[client(entity_id)])

    report = migrate(service, realm, tmp_path)

    assert report[entity_id][0] == "new"
    assert report[entity_id][1].startswith("keeps its secret, until ")
    assert report[realm.kid][0] == "new"
    assert report["client admin-cli"] == ("skipped", "Keycloak's own")
    assert report["key rsa-enc-generated"][0] == "skipped"
    assert token_of(service, entity_id, secret_of(entity_id)).status_code == 401
    assert realm.kid not in published(service)


def test_members_keep_their_secrets_and_tokens_of_both_are_valid(
    service: Service, tmp_path: Path
) -> None:
    entity_id, other = new_id(), new_id("FIU")
    realm = Realm(clients=[client(entity_id), client(other)])
    before = token_of(service, *own(new_member(service))).json()["accessToken"]

    migrate(service, realm, tmp_path, "--apply")

    issued = token_of(service, entity_id, secret_of(entity_id))
    assert issued.status_code == 200, issued.text
    foreign = realm.token(entity_id, service.wall())
    older = realm.token(entity_id, service.wall(), preferred_username=None, clientId=entity_id)
    for token in (issued.json()["accessToken"], foreign, older):
        assert reads_registry(service, token) == 200
        seen = service.introspected(token, other, secret_of(other))
        assert seen["active"] is True
    kid = jwt.get_unverified_header(issued.json()["accessToken"])["kid"]
    assert kid == jwt.get_unverified_header(before)["kid"] != realm.kid
    assert realm.kid in published(service)

    again = migrate(service, realm, tmp_path, "--apply")
    assert {again[one][0] for one in (entity_id, other, realm.kid)} == {"unchanged"}
    wrong = Realm(realm.issuer, [client(entity_id, secret="x" * 32)])
    kept = migrate(service, wrong, tmp_path, "--apply")
    assert kept[entity_id] == ("unchanged", "it has another secret here, which stays")
    assert token_of(service, entity_id, secret_of(entity_id)).status_code == 200


def test_secrets_live_as_long_as_there_and_never_longer(service: Service, tmp_path: Path) -> None:
    rotated, expired, nothing, later = (new_id("FIU") for _ in range(4))
    now = int(service.wall())
    realm = Realm(
        clients=[
            client(
                rotated,
                attributes={
                    "client.secret.rotated": "old-secret-0123456789abcdef",
                    "client.secret.rotated.expiration.time": str(now + 21 * 86_400),
                },
            ),
            client(expired, attributes={"client.secret.expiration.time": "1710000000"}),
            client(nothing, secret=None),
            client(later, attributes={"client.secret.expiration.time": str(now + 3 * 86_400)}),
        ]
    )
    assert migrate(service, realm, tmp_path) == (
        report := migrate(service, realm, tmp_path, "--apply")
    )

    assert "its rotated secret works until" in report[rotated][1]
    assert report[expired] == ("new", "gets a new secret: its secret ended on 2024-03-09")
    assert report[nothing] == ("new", "gets a new secret: the export has no secret")
    assert token_of(service, rotated, secret_of(rotated)).status_code == 200
    old = token_of(service, rotated, "old-secret-0123456789abcdef")
    assert old.status_code == 200
    assert "Sunset" in old.headers
    assert token_of(service, expired, secret_of(expired)).status_code == 401

    async def resets(dependencies: Dependencies) -> int:
        async with dependencies.transaction() as tx:
            held = await Secrets(tx).held(rotated)
            assert held is not None
            return len(held.resets)

    assert service.in_store(resets) == 0
    service.advance("P4D")
    assert token_of(service, later, secret_of(later)).json()["errorCode"] == "SecretExpired"
    service.advance("P4D")
    ended = token_of(service, rotated, "old-secret-0123456789abcdef")
    assert ended.json()["errorCode"] == "SecretGraceEnded"


def own(member: Member) -> tuple[str, str]:
    return member.entity_id, member.secret()


def test_the_old_secret_ends_with_its_reset(service: Service, tmp_path: Path) -> None:
    entity_id = new_id()
    migrate(service, Realm(clients=[client(entity_id)]), tmp_path, "--apply")
    service.advance("PT6M")

    async def reset(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            held = await Secrets(tx).locked(entity_id)
            assert held is not None
            assert held.current.version == 1
            rotation = rotate(held.current, held.now, 90, 0)
            await Secrets(tx).replace(rotation, SecretText("y" * 43))

    service.in_store(reset)
    assert token_of(service, entity_id, secret_of(entity_id)).status_code == 401
    assert token_of(service, entity_id, "y" * 43).status_code == 200


def test_a_key_that_was_imported_gives_no_one_more_than_an_entity(
    service: Service, tmp_path: Path
) -> None:
    entity_id = new_id()
    realm = Realm(clients=[client(entity_id)])
    migrate(service, realm, tmp_path, "--apply")
    operator, now = new_operator(service), service.wall()
    user = operator.headers["Authorization"].removeprefix("Bearer ")
    claims = jwt.decode(user, options={"verify_signature": False})
    as_operator = realm.token(entity_id, now, **claims)
    ours = jwt.decode(
        token_of(service, entity_id, secret_of(entity_id)).json()["accessToken"],
        options={"verify_signature": False},
    )
    person = {"preferred_username": "asha", "client_id": None}
    forged = {
        "an operator": as_operator,
        "an operator of the other issuer": realm.token(
            entity_id, now, **{**claims, "iss": realm.issuer}
        ),
        "our issuer": realm.token(entity_id, now, **ours),
        "a person at the client": realm.token(entity_id, now, **person),
        "a person who claims the client": realm.token(entity_id, now, preferred_username="asha"),
        "no name at all": realm.token(entity_id, now, preferred_username=None, client_id=None),
        "another client's account": realm.token(
            entity_id, now, preferred_username="service-account-x"
        ),
        "an ID token": realm.token(entity_id, now, typ="ID"),
        "a refresh token": realm.token(entity_id, now, typ="Refresh"),
        "not yet": realm.token(entity_id, now + 3600),
        "over": realm.token(entity_id, now - 90_000),
        "no end": realm.token(entity_id, now, exp=None),
        "no member": realm.token("admin-cli", now),
        "a list as client": realm.token(entity_id, now, azp=[entity_id]),
    }
    for name, token in forged.items():
        assert reads_registry(service, token) == 401, name
        headers = {"Authorization": f"Bearer {token}"}
        for path in ("/operator/v1/keys", "/operator/v1/members"):
            assert operator.client.get(service.root + path, headers=headers).status_code == 401
    good = realm.token(entity_id, now)
    assert reads_registry(service, good) == 200
    headers = {"Authorization": f"Bearer {good}"}
    assert operator.client.get(f"{service.root}/operator/v1/keys", headers=headers).is_error
    read = operator.client.post(
        "/v1/entity/secret/read", json={"entityId": entity_id}, headers=headers
    )
    assert read.status_code == 401


def test_an_imported_key_ends_by_its_date_and_by_command(service: Service, tmp_path: Path) -> None:
    entity_id = new_id()
    realm = Realm(clients=[client(entity_id)])
    migrate(service, realm, tmp_path, "--apply")
    listed = json.loads(service.cli("keys", "list", "--json").stdout)
    assert [one["state"] for one in listed if one["kid"] == realm.kid] == ["imported"]

    ended = json.loads(
        service.cli("migrate", "end-keys", "--issuer", realm.issuer, "--json").stdout
    )
    assert ended == {"ended": [realm.kid]}
    assert reads_registry(service, realm.token(entity_id, service.wall())) == 401
    assert realm.kid not in published(service)

    later = migrate(service, realm, tmp_path, "--apply")
    assert later[realm.kid] == ("unchanged", "it has ended here: give --until to publish it again")
    assert reads_registry(service, realm.token(entity_id, service.wall())) == 401

    end = (service.advance("PT0S") + timedelta(days=90)).strftime("%Y-%m-%d")
    again = migrate(service, realm, tmp_path, "--apply", "--until", end)
    assert again[realm.kid][0] == "changed"
    assert reads_registry(service, realm.token(entity_id, service.wall())) == 200
    service.advance("P20D")
    kept = migrate(service, realm, tmp_path, "--apply")
    assert kept[realm.kid][0] == "unchanged"
    assert f"published until {end}" in kept[realm.kid][1]
    service.advance("P71D")
    assert reads_registry(service, realm.token(entity_id, service.wall())) == 401
    assert token_of(service, entity_id, secret_of(entity_id)).status_code == 200


def test_a_key_that_has_the_id_of_another_is_refused(service: Service, tmp_path: Path) -> None:
    realm = Realm()
    migrate(service, realm, tmp_path, "--apply")
    elsewhere = Realm("https://other.example/realms/aa", [])
    elsewhere.__dict__["key"] = realm.key
    assert migrate(service, elsewhere, tmp_path, "--apply", check=False)[realm.kid][0] == "refused"
    kid = next(iter(published(service) - {realm.kid}))
    jwk = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": "AQAB", "e": "AQAB"}

    async def collide(dependencies: Dependencies) -> Line:
        async with dependencies.transaction() as tx:
            now = await People(tx).now()
            move = KeyMove(
                SigningKeys(tx),
                AuditLog(tx),
                realm.issuer,
                now + timedelta(days=9),
                now,
                Caller("operator:tests"),
                asked=True,
            )
            return await move.move(ExportedKey(kid, jwk), apply=True)

    assert service.in_store(collide).result == "refused"
    keys = service.client().get("/protocol/openid-connect/certs").json()["keys"]
    assert "AQAB" not in {key["n"] for key in keys}


def test_what_cannot_move_is_said_line_by_line(service: Service, tmp_path: Path) -> None:
    masked, vault, short, signed = new_id(), new_id(), new_id(), new_id()
    role = {
        "protocolMapper": "oidc-hardcoded-claim-mapper",
        "config": {"claim.name": "roles", "claim.value": "AA"},
    }
    twice, typed = new_id(), new_id("X").removesuffix("-X")
    realm = Realm(
        clients=[
            client(masked, secret="**********"),
            client(vault, secret="${vault.member}"),
            client(short, secret="short-secret"),
            client(signed, clientAuthenticatorType="client-jwt"),
            client(twice),
            client(twice, secret="z" * 40),
            client(typed, protocolMappers=[role]),
            client("no entity id", secret="q" * 40),
            client("\x1b[31mred[/bold]", secret="q" * 40),
            client(new_id("NOTYPE"), secret="t" * 40),
            client(new_id("AA"), publicClient=True),
        ]
    )
    report = migrate(service, realm, tmp_path, "--apply", check=False)

    assert "masked" in report[masked][1]
    assert "vault" in report[vault][1]
    assert "short" in report[short][1]
    assert "client-jwt" in report[signed][1]
    assert report[typed][0] == "new"
    assert report["no entity id"][0] == report["\\x1b[31mred[/bold]"][0] == "refused"
    file = tmp_path / "realm-export.json"
    shown = service.cli("migrate", "keycloak", str(file), "--issuer", "https://a.b", check=False)
    assert "red[/bold]" in shown.output
    assert "\x1b[31mred" not in shown.output
    refused = [detail for result, detail in report.values() if result == "refused"]
    for word in ("no entity ID", "type is unknown", "has it twice"):
        assert any(word in detail for detail in refused), word
    assert token_of(service, short, "short-secret").status_code == 200
    assert token_of(service, masked, "**********").status_code == 401


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\ufeff\r\nentityId;adminEmail\r\n\r\n{id};{id}@example.org\r\n", ""),
        (" entityId , adminEmail \n {id} , {id}@example.org\n", ""),
        (
            "entityId,adminEmail\n{id},a@example.org\n{id},b@example.org\n",
            "line 3, names {id} again",
        ),
        ('entityId,adminEmail\n{id},"a@example.org\n', "line 2, is not CSV: unexpected end"),
    ],
)
def test_the_file_of_admins_is_read_as_people_write_it(
    service: Service, tmp_path: Path, text: str, said: str
) -> None:
    one = new_id()
    file, admins = Realm(clients=[client(one)]).write(tmp_path)
    admins.write_text(text.replace("{id}", one))

    words = ("migrate", "keycloak", str(file), "--admins", str(admins), "--issuer", "https://a.b")
    done = service.cli(*words, check=False)

    assert (done.exit_code, said.replace("{id}", one) in done.output) == (2 if said else 0, True)
    assert said or "keeps its secret" in done.output


def test_the_dry_run_refuses_what_the_move_refuses(service: Service, tmp_path: Path) -> None:
    operator = new_operator(service)
    good, of_operator, nameless, no_address = (new_id() for _ in range(4))
    realm = Realm(
        clients=[client(good), client(of_operator), client(nameless, name=" "), client(no_address)]
    )
    file, admins = realm.write(tmp_path)
    own = {of_operator: operator.email.upper(), no_address: "no address"}
    rows = [f"{one},{own.get(one, f'{one}@example.org')}" for one in (*own, good, nameless)]
    admins.write_text("\n".join(["entityId,adminEmail", *rows]))
    words = ("migrate", "keycloak", str(file), "--admins", str(admins), "--issuer", realm.issuer)

    def report(*options: str) -> dict[str, tuple[str, str]]:
        lines = json.loads(service.cli(*words, "--json", *options, check=False).stdout)["lines"]
        return {one["name"]: (one["result"], one["detail"]) for one in lines}

    previewed, done = report(), report("--apply")

    assert previewed == done
    refused = {name for name, (result, _) in previewed.items() if result == "refused"}
    assert refused == {of_operator, nameless, no_address}
    assert "operator's" in previewed[of_operator][1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "not JSON",
        "[" * 100_000,
        '{"realm": "a", "clients": ' + "[" * 5000,
        '{"realm": "a", "clients": "do-not-show"}',
        '[{"realm": "a"}, {"realm": "b"}]',
        "\xff",
    ],
)
def test_what_is_no_export_is_refused_without_a_word_of_it(
    service: Service, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "odd.json"
    file.write_bytes(text.encode("latin-1"))
    done = service.cli(
        "migrate", "keycloak", str(file), "--issuer", "https://a.example", check=False
    )
    assert done.exit_code == 2, done.output
    assert "do-not-show" not in done.output
    assert "Traceback" not in done.output
