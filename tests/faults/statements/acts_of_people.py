"""What people do in a year: accounts, secrets, tokens, the console, operators."""

import re

import httpx2
import pyotp
import sqlalchemy as sa
import structlog
from tests.faults.statements.world import AA, ADMINS, FIP, FIU, PASSWORD, World, new_id
from tests.support.people.console import Reader
from tests.support.people.second_factor import PAGE, csrf, recovery_codes

OWN = {"entityId": FIP}
RAVI = {**OWN, "email": "ravi@kaveribank.example", "name": "Ravi Iyer"}
NIA = "nia@new.example"


def members(w: World) -> None:
    """Onboard members, accept invitations, ask for links, change admins and contacts."""
    new = {"entityId": "NEW-FIP", "type": "FIP", "name": "New Bank", "adminEmail": NIA}
    w.act("POST /operator/v1/members", w.staff, new)
    w.act("POST /operator/v1/users/{user_id}/invite", w.staff, user_id=w.user_id(NIA))
    accept(w, NIA, PASSWORD)
    anyone = w.served.client()
    w.act("POST /iam/v1/user/password/forgot", anyone, {"username": NIA})
    csv = "entityId,type,name,adminEmail\nFILE-FIP,FIP,New Bank,file@fip.example\n"
    w.act("POST /operator/v1/members/import", w.staff, {"csv": csv})
    bulk = {"act": "invite", "entityIds": ["FILE-FIP"]}
    w.act("POST /operator/v1/members/bulk", w.staff, bulk)
    for status in ("suspended", "active", "retired"):
        to = {"status": status, "reason": "a test"}
        w.act("POST /operator/v1/members/{entity_id}/status", w.staff, to, entity_id="FILE-FIP")
    contact = {**OWN, "email": "it@kaveribank.example"}
    w.act("POST /iam/v1/entity/contact/set", w.admin, contact)
    w.act("POST /operator/v1/members/contact", w.staff, {**OWN, "email": "noc@kaveri.example"})
    w.act("POST /iam/v1/entity/admin/add", w.admin, RAVI)
    accept(w, RAVI["email"], PASSWORD)
    w.act("POST /iam/v1/entity/admin/remove", w.admin, RAVI)
    w.act("POST /operator/v1/members/admins/add", w.staff, RAVI)
    w.act("POST /operator/v1/members/admins/remove", w.staff, RAVI)
    w.act(
        "POST /iam/v1/entity/admin/handover",
        w.user(NIA),
        {"entityId": "NEW-FIP", "email": ADMINS[FIU]},
    )
    again = {"entityId": "NEW-FIP", "email": ADMINS[FIU]}
    w.act("POST /iam/v1/entity/admin/invite-again", w.user(NIA), again)
    declined = {"token": w.link(ADMINS[FIU])}
    w.act("POST /iam/v1/user/link/decline", w.served.client(), declined)
    w.act(
        "POST /iam/v1/entity/admin/handover",
        w.user(NIA),
        {"entityId": "NEW-FIP", "email": ADMINS[FIU]},
    )
    confirm(w, ADMINS[FIU])
    handed = {"entityId": "NEW-FIP", "email": ADMINS[AA], "leaving": ADMINS[FIU]}
    w.act("POST /operator/v1/members/admins/handover", w.staff, handed)


def accept(w: World, email: str, password: str) -> None:
    """Set a password by the link of the latest email."""
    body = {"token": w.link(email), "password": password}
    w.act("POST /iam/v1/user/password/set", w.served.client(), body)


def confirm(w: World, email: str) -> None:
    """Agree by the link of the latest email."""
    w.act("POST /iam/v1/user/link/confirm", w.served.client(), {"token": w.link(email)})


def accounts(w: World) -> None:
    """Sign in and out, end tokens, move addresses, disable and enable, operators."""
    login = {"username": NIA, "password": PASSWORD}
    anyone = w.served.client()
    w.act("POST /iam/v1/user/token/generate", anyone, login, form=True)
    jti = w.one("SELECT jti FROM user_token ORDER BY issued_at DESC LIMIT 1")
    nia = w.user(NIA)
    w.act("POST /iam/v1/user/token/revoke", nia, {"jti": jti})
    browser(w, NIA)
    session = nia.get("/iam/v1/user/session/list").json()["sessions"][0]["sessionId"]
    w.act("POST /iam/v1/user/session/end", nia, {"sessionId": session})
    who = w.user_id(NIA)
    w.act("POST /operator/v1/users/{user_id}/tokens/revoke", w.staff, user_id=who)
    w.act("POST /operator/v1/users/{user_id}/disable", w.staff, user_id=who)
    w.act("POST /operator/v1/users/{user_id}/enable", w.staff, user_id=who)
    moved = {"email": "nia2@new.example"}
    w.act("POST /operator/v1/users/{user_id}/email", w.staff, moved, user_id=who)
    made = {"email": "mina@network.example", "scopes": ["health"]}
    w.act("POST /operator/v1/operators", w.staff, made)
    accept(w, made["email"], PASSWORD)
    change = {**made, "scopes": ["health", "audit"]}
    w.act("POST /operator/v1/operators", w.staff, change)


def secrets(w: World) -> None:
    """Read, reset with grace, end the grace, issue tokens with the new secret."""
    w.advance("PT6M")
    w.act("POST /iam/v1/entity/secret/read", w.admin, OWN)
    reset = {**OWN, "secretExpiryDays": 90, "oldSecretValidity": 7}
    w.act("POST /iam/v1/entity/secret/reset", w.admin, reset)
    form = {"id": FIP, "secret": w.secret(FIP)}
    issued = w.act("POST /iam/v1/entity/token/generate", w.served.client(), form, form=True)
    w.drill("the audit of issued tokens", lambda: flushed(w))
    revoked = {"token": issued.json()["accessToken"]}
    own = (FIP, form["secret"])
    w.drill(
        "POST /iam/oauth2/revoke",
        lambda: w.served.client().post("/iam/oauth2/revoke", data=revoked, auth=own),
    )
    w.act("POST /iam/v1/entity/secret/retire", w.admin, OWN)


def flushed(w: World) -> httpx2.Response:
    """Write what was issued, as a worker does each half second; its loop logs an error."""
    txn_id = new_id()
    try:
        w.served.do(w.served.edge.issue_log.stop())
    except sa.exc.DBAPIError:
        structlog.get_logger().exception("collected events cannot be stored", txn_id=txn_id)
        return httpx2.Response(500, text=txn_id)
    waiting = len(w.served.edge.issue_log)
    return httpx2.Response(503 if waiting else 200, headers={"Retry-After": "1"})


def browser(w: World, email: str) -> Reader:
    """A browser in which someone signed in."""
    found = Reader(w.served.client(), "")
    act = "POST /console/sign-in"
    answer = (
        found.sign_in(email, PASSWORD)
        if act in w.drill.acts
        else w.drill(act, lambda: found.sign_in(email, PASSWORD))
    )
    assert answer.status_code == 303, answer.text
    return found


def enrolled(w: World, own: Reader) -> tuple[pyotp.TOTP, list[str]]:
    """Set up an app; gives it and the recovery codes."""
    begin = {"csrf_token": own.word(PAGE), "password": PASSWORD}
    page = w.drill(f"POST {PAGE}/begin", lambda: own.post(f"{PAGE}/begin", begin), proof=True)
    found = re.search(r'id="factor-key"[^>]*>([A-Z2-7]+)<', page.text)
    assert found, page.text
    app = pyotp.TOTP(found[1])
    code = {"csrf_token": csrf(page), "new_code": app.at(int(w.now().timestamp()))}
    shown = w.drill(f"POST {PAGE}/confirm", lambda: own.post(f"{PAGE}/confirm", code))
    return app, recovery_codes(shown)


def console(w: World) -> None:
    """Sign in to the console, with a second factor too, and lose it."""
    own = browser(w, ADMINS[AA])
    app, _ = enrolled(w, own)
    for act in ("recovery-codes", "remove"):
        # A code counts once, and is not used up by an act that failed.
        code = app.at(int(w.advance("PT60S").timestamp()))
        sent = {"csrf_token": own.word(PAGE), "code": code}
        w.drill(f"POST {PAGE}/{act}", lambda act=act, sent=sent: own.post(f"{PAGE}/{act}", sent))
    _, codes = enrolled(w, own)
    other = Reader(w.served.client(), "")
    assert other.sign_in(ADMINS[AA], PASSWORD).status_code == 303
    at = "/console/sign-in/code"
    word = other.word(at)
    w.drill(
        f"POST {at}, wrong",
        lambda: other.post(at, {"csrf_token": word, "code": "000000"}),
        refused=401,
    )
    w.drill(f"POST {at}", lambda: other.post(at, {"csrf_token": word, "code": codes[0]}))
    who = w.user_id(ADMINS[AA])
    w.act("POST /operator/v1/users/{user_id}/second-factor/reset", w.staff, user_id=who)
    out = browser(w, ADMINS[FIP])
    leave = {"csrf_token": out.word("/console/account")}
    w.drill("POST /console/sign-out", lambda: out.post("/console/sign-out", leave))
