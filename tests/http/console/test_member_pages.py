"""A member's pages over HTTP: rights on each, the secret behind a password, people, snippets that run."""

import html
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import httpx2
import pytest
from litestar import Router
from litestar.routes import HTTPRoute
from tests.support.depth import with_every_change
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.people.console import Reader, reader
from tests.support.programs import program
from tests.support.service import PASSWORD, Service

from mudra.client.verifier import TokenVerifier
from mudra.console.pages.member.try_it import snippets
from mudra.console.routes import console_pages
from mudra.http.server.given import Given

PAGES = sorted(
    (route.path, method)
    for route in Router("/", route_handlers=[console_pages(Given())]).routes
    if isinstance(route, HTTPRoute) and route.path.startswith("/console/entity/")
    for method in {*route.methods} & {"GET", "POST"}
)
_VERSION = re.compile(r'name="version" value="(\d+)"')
_SHOWN = re.compile(r'id="secret-text"[^>]*>([^<]+)<')


@pytest.fixture(scope="module")
def resident(service: Service) -> Member:
    """A member that tests share which leave its secret and its people alone."""
    return new_member(service)


@pytest.fixture(scope="module")
def stranger(service: Service) -> Member:
    """A member that asks for what is another's."""
    return new_member(service, "AA")


def signed_in(member: Member) -> Reader:
    browser = reader(member.service)
    assert browser.sign_in(member.email).status_code == 303
    return browser


def at(member: Member, word: str = "") -> str:
    return f"/console/entity/{member.entity_id}" + (f"/{word}" if word else "")


def shown_secret(page: httpx2.Response) -> str | None:
    found = _SHOWN.search(page.text)
    return found[1] if found else None


def version(browser: Reader, page: str, of: int = -1) -> str:
    """The version that a form of the page is about: the last is that of a reset."""
    return _VERSION.findall(browser.get(page).text)[of]


@pytest.fixture(scope="module")
def other(stranger: Member) -> Reader:
    """The stranger in a browser: no page that it is refused changes its session."""
    return signed_in(stranger)


@pytest.mark.parametrize(("path", "method"), PAGES)
def test_every_page_is_for_the_entity_s_admins_only(
    resident: Member, stranger: Member, other: Reader, path: str, method: str
) -> None:
    of_entity = path.replace("{entity_id:str}", resident.entity_id)
    address = re.sub(r"\{\w+:uuid\}", lambda _: str(uuid.uuid4()), of_entity)
    address = address.replace("{act:str}", "test")
    anonymous = reader(resident.service)
    word = other.word(at(stranger))

    def ask(browser: Reader) -> httpx2.Response:
        if method == "GET":
            return browser.get(address)
        return browser.post(address, {"csrf_token": word, "email": "x@y.example"})

    refused = ask(other)
    assert refused.status_code == 403
    assert "Not yours to see" in refused.text
    turned_away = ask(anonymous)
    if method == "GET":
        assert turned_away.headers["location"].startswith("/console/sign-in")
    else:
        assert turned_away.status_code == 403
        assert 'action="/console/sign-in"' in turned_away.text
        assert "nothing was changed" in turned_away.text
        assert "x@y.example" in turned_away.text, "what was typed is given back"


def test_the_secret_is_shown_after_the_password_only(resident: Member) -> None:
    browser = signed_in(resident)
    resident.service.advance("PT6M")
    page = at(resident, "secret")

    assert shown_secret(browser.get(page)) is None
    silent = browser.act(page, f"{page}/show")
    wrong = browser.act(page, f"{page}/show", password="not-the-password-at-all")
    right = browser.act(page, f"{page}/show", password=PASSWORD)

    assert shown_secret(silent) is shown_secret(wrong) is None
    assert "ou last confirmed that it is you some minutes ago" in silent.text
    assert wrong.status_code == 401
    assert "That is not your password" in wrong.text
    assert shown_secret(right) == resident.secret()
    assert right.headers["cache-control"] == "no-store"
    assert shown_secret(browser.get(page)) is None


def test_guessing_the_password_of_an_open_session_is_slowed_down(service: Service) -> None:
    member = new_member(service)
    browser = signed_in(member)
    page = at(member, "secret")
    answers = [
        browser.act(page, f"{page}/show", password=f"not-the-password-{n}") for n in range(5)
    ]

    assert [answer.status_code for answer in answers][-1] == 429
    assert re.search(r"Too many sign-in attempts .*; try again in \d+ seconds?\b", answers[-1].text)


def test_a_reset_keeps_the_old_secret_in_grace_and_says_when_the_next_is_permitted(
    service: Service,
) -> None:
    member = new_member(service)
    browser, page = signed_in(member), at(member, "secret")
    before = member.secret()
    member.entity_token(before)
    assert "After this reset the next one is permitted from" in browser.get(page).text
    sent = {
        "oldSecretValidity": "7",
        "secretExpiryDays": "90",
        "version": version(browser, page),
    }
    done = browser.act(page, f"{page}/reset", **sent)

    after = shown_secret(done)
    assert after
    assert after != before
    assert member.entity_token(before).json()["message"]
    assert "is permitted from" in done.text
    soon = browser.act(page, f"{page}/reset", **(sent | {"version": "2"}))
    assert soon.status_code == 429
    assert "Nothing was reset; see below when the next reset is permitted." in soon.text

    service.advance("PT6M")
    browser.sign_in(member.email)
    reloaded = browser.act(page, f"{page}/reset", **sent)  # a browser that sends it once more
    assert reloaded.status_code == 409
    assert "version 2 is the current one; nothing was changed now." in reloaded.text
    old = version(browser, page, of=0)
    assert old == "1"
    assert browser.act(page, f"{page}/retire", version="7").status_code == 409
    assert member.secret() == after
    assert member.entity_token(before).status_code == 200
    retired = browser.act(page, f"{page}/retire", version=old)
    assert retired.headers["location"].endswith("told=retired")
    assert member.entity_token(before).status_code == 401


def test_a_wrong_password_takes_nothing_from_the_dialog_of_a_reset(resident: Member) -> None:
    browser, page = signed_in(resident), at(resident, "secret")
    chosen = {"oldSecretValidity": "0", "secretExpiryDays": "30"}
    before, sent = resident.secret(), chosen | {"version": version(browser, page)}
    resident.service.advance("PT6M")
    late = browser.act(page, f"{page}/reset", **sent)
    wrong = browser.act(page, f"{page}/reset", **sent, password="not-the-password-at-all")

    assert (late.status_code, wrong.status_code) == (403, 401)
    assert "ou last confirmed that it is you some minutes ago" in late.text
    for refused in (late, wrong):
        dialog = refused.text.partition('<dialog id="reset"')[2]
        assert dialog.partition(">")[0].endswith("data-opens-itself")
        assert 'role="alert"' in dialog
        assert '<option value="0" selected>' in dialog
        assert '<option value="30" selected>' in dialog
    assert resident.secret() == before


@pytest.mark.parametrize("days", ["8", "-1", "seven", "", "1e1"])
def test_a_grace_that_is_not_permitted_is_refused_in_words(resident: Member, days: str) -> None:
    browser, page = signed_in(resident), at(resident, "secret")
    before = resident.secret()
    sent = {"oldSecretValidity": days, "version": version(browser, page)}
    refused = browser.act(page, f"{page}/reset", **sent, secretExpiryDays="90")

    assert refused.status_code == 400
    assert "OldSecretValidity must be a whole number from 0 to 7" in refused.text
    assert resident.secret() == before


def test_people_come_and_go_and_the_last_one_stays(service: Service) -> None:
    member = new_member(service)
    browser, page = signed_in(member), at(member, "people")
    second = f"second-{member.email}"
    added = browser.act(page, f"{page}/add", email=second, name="Ravi Das")
    assert added.headers["location"].endswith("told=added")
    assert second in browser.get(page).text

    again = browser.act(page, f"{page}/add", email=second, name="Ravi Das")
    assert again.headers["location"].endswith("told=known")

    last = browser.act(page, f"{page}/remove", email=member.email)
    assert last.status_code == 409
    assert "That is the last admin who can act for this entity" in last.text
    set_password(service.client(), latest_link(service, second))
    browser.act(page, f"{page}/contact", email="team@member.example")
    gone = browser.act(page, f"{page}/remove", email=member.email)

    assert gone.headers["location"] == "/console?told=left"
    assert "You no longer have rights on that entity" in browser.get("/console?told=left").text
    assert browser.get(page).status_code == 403


@pytest.mark.parametrize(
    ("form", "wrong"),
    [("add", "no address"), ("contact", "no address"), ("hand-over", "OWN")],
)
def test_a_refusal_is_at_its_form_with_what_was_typed(
    resident: Member, form: str, wrong: str
) -> None:
    browser, page = signed_in(resident), at(resident, "people")
    email = resident.email if wrong == "OWN" else wrong
    refused = browser.act(page, f"{page}/{form}", email=email, name="Ravi Das")

    assert refused.status_code == 400
    forms = refused.text.split("<form ")
    (mine,) = (one for one in forms if f'/people/{form}"' in one)
    assert f'value="{email}"' in mine
    assert form == "contact" or 'value="Ravi Das"' in mine
    assert refused.text.count("The email address must be ") == 1
    assert refused.text.count(f'value="{email}"') == (2 if wrong == "OWN" else 1)  # and to remove
    assert refused.text.count('role="alert"') == 1
    assert ("data-opens-itself" in refused.text) == (form == "hand-over")


def test_activity_shows_tokens_and_events_and_gives_them_as_csv(resident: Member) -> None:
    resident.entity_token(resident.secret())
    browser, page = signed_in(resident), at(resident, "activity")
    resident.service.wait_until(lambda: "entity:token:issue" in browser.get(page).text)
    file = browser.get(f"{page}?export=audit")

    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    assert "entity:token:issue,success" in file.text
    assert resident.email in file.text


SOON_OVER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java spends half a second of CPU less on a program that runs once."""
LANGUAGES = ("curl", "java", "node", "python")
_STEP_3 = re.compile(r'id="check">mudra ([^<]+) &lt; token\.jwt<')


def run_as_shown(
    member: Member, folder: Path, language: str, secret: str
) -> tuple[str, str, subprocess.CompletedProcess[str]]:
    """Save the page's program and run it as the page says; give its text and the token."""
    shown = next(
        one for one in snippets(member.service.issuer, member.entity_id) if one.key == language
    )
    (folder / shown.file).write_text(shown.text)
    here = Path(sys.executable).parent  # where this project keeps its Node.js
    done = subprocess.run(
        ["sh", "-c", shown.run],
        cwd=folder,
        env={
            "PATH": f"{here}:{os.environ['PATH']}",
            "ENTITY_SECRET": secret,
            "JDK_JAVA_OPTIONS": SOON_OVER,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return shown.text, (folder / "token.jwt").read_text(), done


@pytest.mark.parametrize("language", with_every_change(set(LANGUAGES) - {"java"}, LANGUAGES))
def test_the_programs_of_the_page_give_a_token_that_verifies(
    resident: Member, tmp_path: Path, language: str
) -> None:
    if language in {"curl", "java"}:
        program(language)  # Java with its compiler: the program is run from its source
    service = resident.service

    text, token, done = run_as_shown(resident, tmp_path, language, resident.secret())

    assert done.returncode == 0, done.stderr
    verified = TokenVerifier(service.issuer, wall=service.wall).verify(token.strip())
    assert verified.entity_id == resident.entity_id
    page = signed_in(resident).get(at(resident, "try")).text
    assert text in html.unescape(page)
    if language == "java":  # its start costs a second; the others see a refusal
        return
    command = _STEP_3.search(page)
    assert command
    reported = service.cli(*command[1].split(), stdin=token, check=False).output
    # The service's clock may be moved; the signature is looked at before the times.
    assert "signature, issuer and times are valid" in reported or "becomes valid in" in reported, (
        reported
    )
    _, nothing, refused = run_as_shown(resident, tmp_path, language, "a-wrong-secret")
    assert (nothing, refused.returncode) == ("", 1)
    assert "id or secret" in refused.stderr
