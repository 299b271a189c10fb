"""Attacks on single sign-on: forged ID tokens, replayed answers, other people's rights."""

import time
from collections.abc import Callable

import pytest
from joserfc.jwk import OctKey
from tests.security.identity_provider import (
    BACK,
    BEGIN,
    CLIENT_ID,
    CLIENT_SECRET,
    Provider,
    begin,
    come_back,
    sign_in,
)
from tests.security.people.accounts import leave_alone
from tests.support.cheap_keys import rsa_key
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, active_operator, with_token
from tests.support.people.second_factor import CODE, enroll, user_id
from tests.support.service import PASSWORD, Service

from mudra.bootstrap.config import ConfigError, load_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.operators.operator_store import Operators

PEOPLE = "/console/operator/people"
OTHER_KEY, OTHER_KID = rsa_key(kid="one"), rsa_key(kid="two")


@pytest.fixture
def chief(served: Service, idp: Provider) -> str:
    """The address of an operator whom the provider knows."""
    idp.right()
    email = active_operator(served)
    idp.claims = {"email": email, "realm_access": {"roles": ["chiefs"]}}
    return email


def with_password(served: Service) -> Operator:
    """An operator whom the command let in."""
    email = active_operator(served)
    served.cli("operator", "allow-password", email)
    return with_token(served, email)


def is_open(browser: Reader, page: str = "/console/account") -> bool:
    return browser.get(page).status_code == 200


def test_an_operator_signs_in_and_goes_on_where_it_was(
    served: Service, idp: Provider, chief: str
) -> None:
    browser = reader(served)
    assert "sign in with Network ID" in browser.get(f"/console/sign-in?to={PEOPLE}").text

    asked = begin(browser, idp, PEOPLE)
    done = come_back(browser, state=asked["state"], iss=idp.issuer)

    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert (asked["client_id"], asked["tenant"]) == (CLIENT_ID, "1")
    assert asked["redirect_uri"] == f"{served.root}{BACK}"
    assert idp.redeemed[-1]["redirect_uri"] == asked["redirect_uri"]
    assert done.headers["location"] == PEOPLE
    assert is_open(browser, PEOPLE)
    assert CLIENT_SECRET not in str(asked)


Forge = Callable[[Provider], None]


def _claims(**claims: object) -> Forge:
    return lambda idp: idp.claims.update(claims)


def _set(**facts: object) -> Forge:
    return lambda idp: [setattr(idp, name, value) for name, value in facts.items()] and None  # type: ignore[func-returns-value]


NOW = int(time.time())
FORGED: dict[str, Forge] = {
    "another nonce": _claims(nonce="other"),
    "no nonce": _set(without=("nonce",)),
    "another audience": _claims(aud="another-client"),
    "two audiences and no azp": _claims(aud=[CLIENT_ID, "another-client"]),
    "another azp": _claims(azp="another-client"),
    "another issuer": _claims(iss="https://evil.example"),
    "no issuer": _set(without=("iss",)),
    "ended": _claims(exp=NOW - 3600, iat=NOW - 7200),
    "no end": _set(without=("exp",)),
    "of tomorrow": _claims(iat=NOW + 86400, exp=NOW + 90000),
    "of yesterday": _claims(iat=NOW - 86400),
    "not yet": _claims(nbf=NOW + 86400),
    "no subject": _set(without=("sub",)),
    "a subject that is a number": _claims(sub=7),
    "no algorithm": _set(header={"alg": "none"}),
    "a MAC with the client's secret": _set(
        header={"alg": "HS256", "kid": "one"}, signed_with=OctKey.import_key(CLIENT_SECRET)
    ),
    "a foreign key of the same name": _set(signed_with=OTHER_KEY),
    "a foreign key": _set(header={"alg": "RS256", "kid": "two"}, signed_with=OTHER_KID),
    "no JWT": _set(token="a.b.c"),
    "no JWT at all": _set(token="rubbish"),
    "a JWT of 20,000 letters": _set(token="A" * 20_000),
    "an answer of 300,000 letters": _set(token="A" * 300_000),
    "an answer that is nested too deeply": _set(raw=b'{"id_token":' + b"[" * 50_000),
    "an error of the provider": _set(token_status=400),
    "a redirect of the provider": _set(token_status=302),
    "an address that is not verified": _claims(email_verified=False),
    "an address that is verified in words": _claims(email_verified="true"),
    "no word on the address": _set(without=("email_verified",)),
    "no address": _set(without=("email",)),
    "two addresses": _claims(email=["a@network.example", "b@network.example"]),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_answer_signs_no_one_in(
    served: Service, idp: Provider, chief: str, name: str
) -> None:
    browser = reader(served)
    asked = begin(browser, idp)
    FORGED[name](idp)

    refused = come_back(browser, state=asked["state"])

    assert refused.status_code in {401, 503}, refused.text
    assert not is_open(browser)


def test_an_answer_comes_back_once_and_to_its_own_browser(
    served: Service, idp: Provider, chief: str
) -> None:
    browser, thief = reader(served), reader(served)
    asked = begin(browser, idp)
    cookies = dict(browser.client.cookies)

    assert come_back(thief, state=asked["state"]).status_code == 401, "no cookie"
    other = begin(thief, idp)
    assert come_back(thief, state=asked["state"]).status_code == 401, "another's state"
    assert come_back(thief, state=other["state"]).status_code == 401, "used up by it"
    idp.challenge, idp.nonce = asked["code_challenge"], asked["nonce"]
    before = len(idp.redeemed)
    assert come_back(browser, state=asked["state"], iss="https://evil.example").status_code == 503
    assert len(idp.redeemed) == before, "no code goes to another provider"
    browser.client.cookies.update(cookies)
    assert come_back(browser, state=asked["state"]).status_code == 401, "replayed"
    assert not is_open(thief)
    assert not is_open(browser)
    late = begin(browser, idp)
    served.advance("PT10M")
    assert come_back(browser, state=late["state"]).status_code == 401, "too late"


def test_what_the_person_cancelled_at_the_provider_is_explained(
    served: Service, idp: Provider, chief: str
) -> None:
    browser = reader(served)
    asked = begin(browser, idp)

    refused = browser.get(f"{BACK}?error=access_denied&state={asked['state']}")

    assert refused.status_code == 503
    assert "try again" in refused.text
    assert "sign in with Network ID" in refused.text


def test_another_site_begins_no_sign_in(served: Service, idp: Provider) -> None:
    browser = reader(served)
    assert browser.get(BEGIN, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert not browser.client.cookies


def test_attempts_of_an_address_are_limited(served: Service, idp: Provider) -> None:
    flood = reader(served)
    for _ in range(50):
        flood.client.cookies.clear()
        begin(flood, idp)
    assert flood.get(BEGIN).status_code == 429


def test_claims_set_the_scopes_and_none_end_them(
    served: Service, idp: Provider, chief: str
) -> None:
    keeper = with_password(served)
    who = user_id(served, chief)
    idp.claims["realm_access"] = {"roles": ["noc", "cooks"]}
    browser = reader(served)
    assert sign_in(browser, idp).status_code == 303

    (seen,) = keeper.get("/users", words=chief).json()["users"]
    assert seen["scopes"] == ["health"]
    assert browser.get(PEOPLE).status_code == 403
    events = keeper.get("/audit", userId=who).json()["events"]
    assert "health" in [one["detail"].get("scopes") for one in events]

    idp.claims["realm_access"] = {"roles": []}
    refused = sign_in(browser, idp)
    assert refused.status_code == 401
    assert "no group that gives rights" in refused.text
    (seen,) = keeper.get("/users", words=chief).json()["users"]
    assert seen["scopes"] == []


def scopes_of(served: Service, who: str) -> set[str]:
    """What a person holds."""

    async def read(dependencies: Dependencies) -> set[str]:
        async with dependencies.transaction() as tx:
            return {scope.value for scope in await Operators(tx).scopes(who)}

    return served.in_store(read)


def test_the_last_who_manages_operators_keeps_that_right(
    served: Service, idp: Provider, chief: str
) -> None:
    who = user_id(served, chief)
    leave_alone(served, chief)
    for groups, scopes in ((["noc"], {"health", "members"}), ([], {"members"})):
        idp.claims["realm_access"] = {"roles": groups}
        browser = reader(served)

        assert sign_in(browser, idp).status_code == 303
        assert is_open(browser, PEOPLE)
        assert scopes_of(served, who) == scopes


def test_an_answer_without_the_claim_signs_no_one_in_and_takes_no_scope(
    served: Service, idp: Provider, chief: str
) -> None:
    who, browser = user_id(served, chief), reader(served)
    sign_in(browser, idp)
    idp.without = ("realm_access",)

    refused = sign_in(reader(served), idp)

    assert (refused.status_code, is_open(browser)) == (401, False)
    assert "did not send the groups" in refused.text
    assert "members" in scopes_of(served, who)


def test_an_operator_is_made_at_its_first_sign_in_and_has_no_password(
    served: Service, idp: Provider, chief: str
) -> None:
    browser, email = reader(served), f"new-{int(time.time() * 1000)}@network.example"
    idp.claims = {"email": email, "realm_access": {"roles": ["noc"]}, "amr": ["pwd", "mfa"]}

    assert sign_in(browser, idp).status_code == 303

    assert "Chief Operator" in browser.get("/console/account").text
    served.advance("PT6M")
    asked = browser.act("/console/account/second-factor", "/console/account/second-factor/begin")
    assert asked.status_code == 403
    assert "Sign in again with Network ID" in asked.text
    again = begin(browser, idp, "/console/account", fresh=True)
    assert (again["prompt"], again["max_age"]) == ("login", "0")
    assert come_back(browser, state=again["state"]).status_code == 303
    begun = browser.act("/console/account/second-factor", "/console/account/second-factor/begin")
    assert "factor-key" in begun.text


@pytest.mark.parametrize("kind", ["a stranger", "a member's admin", "disabled"])
def test_who_is_no_operator_is_not_signed_in(
    served: Service, idp: Provider, chief: str, kind: str
) -> None:
    browser = reader(served)
    if kind == "a stranger":
        idp.claims = {"email": "stranger@network.example", "realm_access": {"roles": ["cooks"]}}
    elif kind == "disabled":
        other = with_password(served)
        other.post(f"/users/{user_id(served, chief)}/disable")
    else:
        idp.claims["email"] = new_member(served).email

    refused = sign_in(browser, idp)

    assert refused.status_code == 401
    assert not is_open(browser)


def test_a_second_factor_is_asked_for_unless_the_provider_had_one(
    served: Service, idp: Provider, chief: str
) -> None:
    browser = reader(served)
    sign_in(browser, idp)
    enroll(browser, served)
    idp.claims["amr"] = ["pwd"]

    weak, strong = reader(served), reader(served)

    assert sign_in(weak, idp).headers["location"].startswith(CODE)
    assert not is_open(weak)
    idp.claims["amr"] = ["pwd", "mfa"]
    assert sign_in(strong, idp).status_code == 303
    assert is_open(strong)


def test_an_invitation_ends_with_a_sign_in_by_the_provider(
    served: Service, idp: Provider, chief: str
) -> None:
    email = f"invited-{int(time.time() * 1000)}@network.example"
    served.cli("operator", "create", email, "--scope", "health")
    idp.claims["email"] = email
    browser = reader(served)

    assert sign_in(browser, idp).status_code == 303
    taken = set_password(served.client(), latest_link(served, email))

    assert taken.status_code == 401
    assert is_open(browser)


def test_an_old_session_at_the_provider_proves_nothing_for_serious_acts(
    served: Service, idp: Provider, chief: str
) -> None:
    sent = {"email": "asked@network.example", "health": "on"}
    for claims in ({"auth_time": int(time.time()) - 3600}, {"auth_time": None}):
        idp.claims.update(claims)
        browser = reader(served)
        sign_in(browser, idp)
        refused = browser.act(PEOPLE, PEOPLE, **sent)
        assert refused.status_code == 403
        assert "Confirm that it is you" in refused.text


def test_where_local_sign_in_is_off_a_command_lets_one_operator_in(
    served: Service, idp: Provider, chief: str
) -> None:
    browser, member = reader(served), new_member(served)
    form = {"username": chief, "password": PASSWORD}

    refused = browser.sign_in(chief)

    assert refused.status_code == 401
    assert "Operators sign in by single sign-on" in refused.text
    assert (
        browser.client.post(f"{served.issuer}/v1/user/token/generate", data=form).status_code == 401
    )
    assert browser.sign_in(member.email).status_code == 303, "members' admins use passwords"
    assert "30 minutes" in served.cli("operator", "allow-password", chief).stdout
    assert reader(served).sign_in(chief).status_code == 303
    served.advance("PT30M")
    assert reader(served).sign_in(chief).status_code == 401


def test_without_a_provider_the_page_offers_none(service: Service, member: Member) -> None:
    browser = reader(service)
    assert "sso" not in browser.get("/console/sign-in").text
    for path in (BEGIN, f"{BACK}?code=a&state=b"):
        assert browser.get(path).headers["location"] == "/console/sign-in"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"SSO_ISSUER": "https://id.example"}, "MUDRA_SSO_CLIENT_ID"),
        ({"SSO_ISSUER": "https://id.example", "SSO_CLIENT_ID": "c"}, "MUDRA_SSO_CLIENT_SECRET"),
        ({"OPERATOR_LOCAL_SIGN_IN": "0"}, "MUDRA_SSO_ISSUER"),
        ({"SSO_SCOPE_MAP": "noc=everything"}, "MUDRA_SSO_SCOPE_MAP"),
        ({"SSO_SECOND_FACTOR": "mfa"}, "MUDRA_SSO_SECOND_FACTOR"),
    ],
)
def test_settings_that_do_not_fit_are_named(wrong: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_settings({f"MUDRA_{name}": value for name, value in wrong.items()})
