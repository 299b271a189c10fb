"""A member's pages in the language that the person chose: whole pages, and what answers a form."""

import re

import httpx
from tests.support.english_left import english_in
from tests.support.people.console import Reader, reader
from tests.support.people.operators import active_operator
from tests.support.people.second_factor import PAGE as FACTOR
from tests.support.people.second_factor import begin, csrf
from tests.support.service import PASSWORD, Member, Service, new_member

ACCOUNT = "/console/account"
_DEVANAGARI = re.compile("[\u0900-\u097f]")


def hindi(member: Member) -> Reader:
    """A browser in which the member's admin has chosen Hindi."""
    browser = reader(member.service)
    assert browser.sign_in(member.email).status_code == 303
    chosen = browser.act(ACCOUNT, f"{ACCOUNT}/language", language="hi")
    assert chosen.status_code == 303, chosen.text
    return browser


def at(member: Member, word: str = "") -> str:
    return f"/console/entity/{member.entity_id}" + (f"/{word}" if word else "")


def whole(page: httpx.Response, *data: str) -> str:
    """The page, which has no sentence in English."""
    assert '<html lang="hi">' in page.text, page.text[:200]
    assert english_in(page.text, "Kaveri Bank", "Asha Rao", *data) == set()
    return page.text


def test_the_menu_and_the_overview_are_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser = hindi(member)
    page = whole(browser.get(at(member)))
    for words in ("सारांश", "साइन आउट करें", "आपका अकाउंट", "अभी तक पंजीकरण नहीं है"):
        assert words in page
    left = whole(browser.get(f"{at(member)}?told=left"))
    assert "दूसरी एंटिटी पर अब आपके अधिकार नहीं हैं।" in left


def test_a_page_without_translation_is_in_english_with_its_menu(service: Service) -> None:
    member = new_member(service)
    page = hindi(member).get(at(member, "activity")).text
    assert '<html lang="en">' in page
    assert "Sign out" in page
    assert _DEVANAGARI.search(page) is None


def test_the_page_of_the_secret_answers_every_act_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "secret")
    member.entity_token(member.secret())
    service.wait_until(lambda: "पते से।" in browser.get(page).text)  # uses are stored in batches
    whole(browser.get(page))
    service.advance("PT6M")
    silent = browser.act(page, f"{page}/show")
    assert "न कुछ दिखाया गया और न बदला गया; फिर से पुष्टि करें।" in whole(silent)
    wrong = browser.act(page, f"{page}/show", password="not-the-password-at-all")
    assert "यह आपका पासवर्ड नहीं है; न कुछ दिखाया गया और न बदला गया।" in whole(wrong)
    shown = browser.act(page, f"{page}/show", password=PASSWORD)
    assert "ऑडिट लॉग में दर्ज होता है" in whole(shown)

    sent = {"oldSecretValidity": "7", "secretExpiryDays": "90", "version": "1"}
    done = browser.act(page, f"{page}/reset", **sent)
    assert "सीक्रेट रीसेट हो गया है। सभी एडमिन को ईमेल से सूचित कर दिया गया है।" in whole(done)
    assert "पुराना सीक्रेट बंद करें?" in done.text
    soon = browser.act(page, f"{page}/reset", **(sent | {"version": "2"}))
    assert (soon.status_code, "कुछ रीसेट नहीं किया गया" in whole(soon)) == (429, True)

    service.advance("PT6M")
    browser.sign_in(member.email)
    late = browser.act(page, f"{page}/reset", **sent)
    assert (late.status_code, "वर्तमान संस्करण 2 है" in whole(late)) == (409, True)
    retired = browser.act(page, f"{page}/retire", version="1")
    after = whole(browser.get(retired.headers["location"]))
    assert "पुराना सीक्रेट अब काम नहीं करता।" in after
    again = browser.act(page, f"{page}/retire", version="1")
    assert (again.status_code, "छूट अवधि में नहीं है।" in whole(again)) == (409, True)
    file = browser.get(f"{page}?export=use").text
    assert file.startswith("Address,Tokens,Last used")  # files are the same for all


def test_a_refusal_is_in_the_language_of_its_page(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    browser = hindi(member)
    foreign = browser.get(at(other, "secret"))
    assert (foreign.status_code, "यह पेज आपके लिए नहीं है" in whole(foreign)) == (403, True)
    stale = browser.post(f"{at(member, 'secret')}/retire", {"csrf_token": "of another session"})
    assert (stale.status_code, "पेज फिर से खोलें" in whole(stale)) == (403, True)


def test_operators_pages_are_in_english_whatever_they_chose(service: Service) -> None:
    browser = reader(service)
    assert browser.sign_in(active_operator(service)).status_code == 303
    browser.act(ACCOUNT, f"{ACCOUNT}/language", language="hi")
    for path in ("/console/operator/board", ACCOUNT):
        page = browser.get(path).text
        assert '<html lang="en">' in page
        assert "Sign out" in page
        assert _DEVANAGARI.search(page.replace("हिन्दी", "")) is None


def test_the_account_page_answers_every_act_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, other = hindi(member), reader(service)
    other.sign_in(member.email)
    sent = {"username": member.email, "password": PASSWORD}
    assert member.client.post("/v1/user/token/generate", data=sent).status_code == 200
    page = whole(browser.get(ACCOUNT))
    session, token = (
        re.findall(f'name="{name}" value="([^"]+)"', page)[0] for name in ("session", "jti")
    )
    alarms = {"timeZone": "Asia/Kolkata", "channel": "email", "ofMembers": "major"}
    for path, fields, words in (
        ("session", {"session": session}, "उस ब्राउज़र को साइन आउट कर दिया गया है।"),
        ("token", {"jti": token}, "टोकन समाप्त कर दिया गया है।"),
        ("token", {"jti": token}, "वह पहले ही समाप्त हो चुका था।"),
        ("language", {"language": "hi"}, "आपकी भाषा सहेज ली गई है।"),
        ("alarms", alarms, "अलर्ट की आपकी पसंद सहेज ली गई है।"),
    ):
        answer = browser.act(ACCOUNT, f"{ACCOUNT}/{path}", **fields)
        assert words in whole(browser.get(answer.headers["location"]), "mudra login")
    for wrong, words in (
        ({"timeZone": "Nowhere"}, "समय क्षेत्र Asia/Kolkata या UTC जैसा होना चाहिए।"),
        ({"quietFrom": "22:00"}, "अंत नहीं दिया गया है।"),
        ({"channel": "webhook"}, "आपका अपना वेबहुक चाहिए"),
    ):
        refused = browser.act(ACCOUNT, f"{ACCOUNT}/alarms", **(alarms | wrong))
        assert words in whole(refused)


def test_a_second_factor_is_set_up_and_removed_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser = hindi(member)
    assert "पासकी बंद हैं" in whole(browser.get(FACTOR))
    app, setup = begin(browser, service)
    assert "ऐप जो कोड दिखाता है उसे डालें" in whole(setup)
    code = {"csrf_token": csrf(setup), "new_code": "not a code"}
    wrong = browser.post(f"{FACTOR}/confirm", code)
    assert "कोड ग़लत है" in whole(wrong)
    shown = browser.post(f"{FACTOR}/confirm", code | {"new_code": app.code()})
    assert "ये केवल अभी दिखाए जा रहे हैं।" in whole(shown)
    whole(browser.get(FACTOR))
    whole(browser.get(ACCOUNT), "mudra login")
    asked = browser.act(FACTOR, f"{FACTOR}/remove")
    assert "पुष्टि करें कि यह आप ही हैं" in whole(asked)
    removed = browser.act(FACTOR, f"{FACTOR}/remove", code=app.fresh_code())
    after = whole(browser.get(removed.headers["location"]))
    assert "ऑथेंटिकेटर ऐप हटा दिया गया।" in after


def test_the_page_of_people_answers_every_act_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "people")
    assert "केवल एक एडमिन सक्रिय है।" in whole(browser.get(page))
    second = f"second-{member.email}"
    for form, fields, words in (
        ("add", {"email": second, "name": "Ravi Das"}, "आमंत्रण भेज दिया गया।"),
        ("add", {"email": second, "name": "Ravi Das"}, "वह व्यक्ति पहले से एडमिन है"),
        ("contact", {"email": "", "phone": "+91 80 4000 1234"}, "वैकल्पिक संपर्क सहेज लिया गया है।"),
        ("remove", {"email": second}, "एडमिन हटा दिया गया।"),
    ):
        done = browser.act(page, f"{page}/{form}", **fields)
        assert words in whole(browser.get(done.headers["location"]), "Ravi Das")
    for form, fields, words in (
        ("add", {"email": "no address"}, "@ से पहले सामान्य अक्षर हों"),
        ("add", {"email": "a@b@c"}, "ईमेल पता"),
        ("add", {"email": "x"}, "यह ईमेल पता होना चाहिए, &#34;x&#34; नहीं।"),
        ("add", {"email": second, "name": "see://there"}, "हाइफ़न और आद्याक्षर"),
        ("contact", {"email": "", "phone": "call me"}, "टेलीफ़ोन नंबर +91 80 4000 1234 जैसा"),
        ("hand-over", {"email": member.email}, "किसी अन्य व्यक्ति का होना चाहिए।"),
        ("remove", {"email": member.email}, "अंतिम सक्रिय एडमिन है"),
        ("remove", {"email": second}, "अब इस एंटिटी का एडमिन नहीं है।"),
    ):
        refused = browser.act(page, f"{page}/{form}", **fields)
        assert words in whole(refused)
    service.advance("PT6M")
    asked = browser.act(page, f"{page}/remove", email=member.email)
    assert "अभी तक कुछ नहीं बदला गया है।" in whole(asked)
    wrong = browser.act(page, f"{page}/remove", email=member.email, password="not mine at all")
    assert "यह आपका पासवर्ड नहीं है; कुछ नहीं बदला गया।" in whole(wrong)
