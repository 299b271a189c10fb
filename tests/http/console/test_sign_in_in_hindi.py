"""The pages before a sign-in in the reader's language: asked for, remembered, or the browser's."""

import httpx2
import pytest
from tests.support.english_left import english_in
from tests.support.mailbox import latest_link, mails
from tests.support.members import new_member, onboard
from tests.support.people.console import Reader, reader
from tests.support.people.operators import active_operator
from tests.support.service import Service

HINDI = {"Accept-Language": "hi-IN,hi;q=0.9,en;q=0.5"}


def link_page(
    service: Service, browser: Reader, email: str, query: str = "", **headers: str
) -> str:
    """The page of the latest link to an address."""
    path = httpx2.URL(latest_link(service, email)).path
    page = browser.get(f"{path}{query}", **headers)
    assert '<html lang="hi">' in page.text, page.text[:200]
    return page.text


@pytest.mark.parametrize("path", ["/console/sign-in", "/console/forgot-password"])
def test_a_language_that_was_asked_for_is_remembered(service: Service, path: str) -> None:
    browser = reader(service)
    assert '<html lang="en">' in browser.get(path).text
    assert '<html lang="hi">' in browser.get(path, **HINDI).text
    assert '<html lang="en">' in browser.get(path).text  # what a browser accepts is not kept

    asked = browser.get(f"{path}?lang=hi")
    cookie = asked.headers["set-cookie"]
    assert '<html lang="hi">' in asked.text
    assert "mudra-language=hi" in cookie
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    page = browser.get(path).text
    assert '<html lang="hi">' in page
    assert english_in(page) == set()
    assert '<html lang="en">' in browser.get(f"{path}?lang=en").text
    assert '<html lang="en">' in browser.get(path, **HINDI).text


def test_an_unknown_language_is_neither_shown_nor_kept(service: Service) -> None:
    for wrong in ("xx", "hi%0d%0aSet-Cookie:%20x=y", "%22%3E%3Cscript%3E", "../../hi"):
        page = reader(service).get(f"/console/sign-in?lang={wrong}")
        assert (page.status_code, "set-cookie" in page.headers) == (200, False)
        assert '<html lang="en">' in page.text
        assert "<script>" not in page.text


def test_a_refused_sign_in_says_why_in_the_readers_language(service: Service) -> None:
    member, browser = new_member(service), reader(service)
    wrong = {"username": member.email, "password": "not the password", "to": ""}
    refused = browser.post("/console/sign-in", wrong, **HINDI)

    assert refused.status_code == 401
    assert "यूज़र नेम या पासवर्ड ग़लत है, या अकाउंट सक्रिय नहीं है।" in refused.text
    assert english_in(refused.text, member.email) == set()
    foreign = browser.client.post(
        f"{browser.root}/console/sign-in",
        data=wrong,
        headers={"Sec-Fetch-Site": "cross-site"} | HINDI,
    )
    assert "कुछ नहीं बदला गया।" in foreign.text
    answer = service.client().post("/v1/user/token/generate", data=wrong, headers=HINDI)
    assert "username or password is wrong" in answer.text  # the API is in English


def test_the_pages_of_emailed_links_are_in_the_readers_language(service: Service) -> None:
    _, email = onboard(service, name="Kaveri Gramin")
    browser = reader(service)
    page = link_page(service, browser, email, **HINDI)
    assert "आप <strong>Kaveri Gramin</strong> के नामित एडमिन हैं।" in page
    assert english_in(page, "Kaveri Gramin", "Asha Rao", email) == set()
    path = httpx2.URL(latest_link(service, email)).path
    refused = browser.get(f"{path}x", **HINDI)
    assert refused.status_code == 410
    assert "यह लिंक मान्य नहीं है।" in refused.text
    assert english_in(refused.text) == set()


def test_who_chose_a_language_gets_it_with_a_link_in_any_browser(service: Service) -> None:
    member, browser = new_member(service), reader(service)
    browser.sign_in(member.email, member.password)
    browser.act("/console/account", "/console/account/language", language="hi")
    known = len(mails(service, member.email))
    member.client.post("/v1/user/password/forgot", json={"username": member.email})
    service.wait_until(lambda: len(mails(service, member.email)) > known)

    page = link_page(service, reader(service), member.email)
    assert "नया पासवर्ड" in page
    assert english_in(page, "Kaveri Bank", "Asha Rao", member.email) == set()


def test_who_signs_in_from_a_page_in_hindi_goes_on_in_hindi(service: Service) -> None:
    member, browser = new_member(service), reader(service)
    overview = f"/console/entity/{member.entity_id}"
    browser.get("/console/sign-in?lang=hi")

    assert browser.sign_in(member.email).status_code == 303
    assert '<html lang="hi">' in browser.get(overview).text
    assert 'value="hi" lang="hi" selected' in browser.get("/console/account").text

    browser.act("/console/account", "/console/account/language", language="en")
    browser.act("/console/account", "/console/sign-out")
    assert '<html lang="en">' in browser.get("/console/sign-in").text
    assert browser.sign_in(member.email).status_code == 303
    assert '<html lang="en">' in browser.get(overview).text


def test_an_operator_who_signs_in_from_a_page_in_hindi_goes_on_in_hindi(service: Service) -> None:
    browser = reader(service)
    browser.get("/console/sign-in?lang=hi")

    assert browser.sign_in(active_operator(service)).status_code == 303
    assert '<html lang="hi">' in browser.get("/console/operator/board").text


def test_the_language_of_the_network_is_that_of_its_sign_in_again(service: Service) -> None:
    member, browser = new_member(service), reader(service)
    browser.get("/console/sign-in?lang=hi")
    assert browser.sign_in(member.email).status_code == 303

    browser.act("/console/account", "/console/account/language", language="")
    browser.act("/console/account", "/console/sign-out")

    assert '<html lang="en">' in browser.get("/console/sign-in").text
    assert browser.sign_in(member.email).status_code == 303
    assert '<html lang="en">' in browser.get("/console/account").text
