"""A member's pages in the language that the person chose: whole pages, and what answers a form."""

import html
import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from tests.http.token.bound_member import member_with_entry
from tests.support.english_left import english_in
from tests.support.http_clients import new_address
from tests.support.mailbox import latest_link
from tests.support.members import Member, new_member, set_password
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.people.console import Reader, reader
from tests.support.people.second_factor import PAGE as FACTOR
from tests.support.people.second_factor import begin, csrf
from tests.support.process import running_service
from tests.support.registry.registry_members import Registry
from tests.support.registry.registry_payloads import jwk
from tests.support.service import PASSWORD, Service

from mudra.console.framework.navigation import MEMBER_ITEMS

ACCOUNT = "/console/account"


_PRODUCTS = ("Microsoft Teams", "Standard Webhooks")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of their own: members of other tests have names in English, which pages list."""
    data_dir = tmp_path_factory.mktemp("hindi") / "data"
    with running_service(data_dir, keeps_store=True) as running:
        yield running


def hindi(member: Member) -> Reader:
    """A browser in which the member's admin has chosen Hindi."""
    return hindi_of(member.service, member.email)


def hindi_of(service: Service, email: str) -> Reader:
    browser = reader(service)
    assert browser.sign_in(email).status_code == 303
    chosen = browser.act(ACCOUNT, f"{ACCOUNT}/language", language="hi")
    assert chosen.status_code == 303, chosen.text
    return browser


def at(member: Member, word: str = "") -> str:
    return f"/console/entity/{member.entity_id}" + (f"/{word}" if word else "")


def whole(page: httpx2.Response, *data: str, part: bool = False) -> str:
    """The page, or a part that htmx loads, which has no sentence in English."""
    assert part or '<html lang="hi">' in page.text, page.text[:200]
    assert english_in(page.text, "Kaveri Bank", "Asha Rao", *_PRODUCTS, *data) == set()
    return page.text


def test_the_menu_and_the_overview_are_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser = hindi(member)
    page = whole(browser.get(at(member)))
    for words in ("सारांश", "साइन आउट करें", "आपका अकाउंट", "अभी तक पंजीकरण नहीं है"):
        assert words in page
    left = whole(browser.get(f"{at(member)}?told=left"))
    assert "दूसरी एंटिटी पर अब आपके अधिकार नहीं हैं।" in left


@pytest.mark.slow
def test_every_page_of_the_menu_is_in_hindi(service: Service) -> None:
    member = new_member(service, "FIU")
    browser, programs = hindi(member), ("sh get_", "node get_", "java GetToken")
    for item in (one for one in MEMBER_ITEMS if not one.types):
        whole(browser.get(at(member, item.word)), member.entity_id, *programs)


@pytest.mark.slow
def test_the_pages_that_a_fip_has_alone_are_in_hindi(service: Service) -> None:
    member = new_member(service, "FIP")
    browser = hindi(member)
    for item in (one for one in MEMBER_ITEMS if one.types):
        whole(browser.get(at(member, item.word)), member.entity_id)


@pytest.mark.slow
def test_the_health_of_an_aa_is_in_hindi_and_its_file_is_not(service: Service) -> None:
    aa = pushing_aa(service)
    assert aa.push(aa.requests(fips=2)).status_code == 200
    assert aa.push(b"{}").status_code == 400
    service.advance("PT16M")  # the window's other payload is missing from now on
    browser, page = hindi_of(service, aa.admin), f"/console/entity/{aa.aa_id}/health"
    shown = whole(browser.get(f"{page}?over-time=shown"), aa.aa_id)
    for words in ("खाता खोज", "पेलोड नहीं मिल", "आपकी कॉल और रिपोर्टें", "नहीं आई"):
        assert words in shown
    assert re.search('<span lang="en">[^<]+</span></td>', shown)  # what the API found in a payload
    whole(browser.get(f"{page}?over-time=part"), part=True)
    file = browser.get(f"{page}?export=health&health.q=खाता खोज").text.splitlines()
    assert file[0] == '\ufeffFIP,ID,API,Status,Calls,"Success, %","p50, ms","p95, ms","Longest, ms"'
    assert {line.split(",")[2] for line in file[1:]} == {"account discovery"}
    wrong = browser.get(f"{page}?range=year")
    assert (wrong.status_code, '<p role="alert"><span lang="en">' in whole(wrong)) == (400, True)


@pytest.mark.slow
def test_a_fiu_chooses_its_fips_in_hindi_and_a_fip_has_no_reports(service: Service) -> None:
    fiu, fip = new_member(service, "FIU"), new_member(service, "FIP")
    browser, page = hindi(fiu), at(fiu, "health")
    assert "आप किसी FIP को फ़ॉलो नहीं करते" in whole(browser.get(page))
    browser.act(page, f"{page}/follow", follow=fip.entity_id)
    assert "आपके फ़ॉलो किए हुए FIP" in whole(browser.get(page))
    empty = whole(hindi(fip).get(f"{at(fip, 'health')}?range=yesterday"))
    assert "इस समय में किसी AA ने कोई ट्रैफ़िक रिपोर्ट नहीं किया।" in empty


def test_the_page_of_the_secret_answers_every_act_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "secret")
    member.entity_token(member.secret())
    service.wait_until(lambda: 'id="use"' in browser.get(page).text)  # uses are stored in batches
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
    assert file.startswith("\ufeffAddress,Tokens,Last used")  # files are the same for all


@pytest.mark.slow
def test_a_refusal_is_in_the_language_of_its_page(service: Service) -> None:
    member, other = new_member(service), new_member(service)
    browser = hindi(member)
    foreign = browser.get(at(other, "secret"))
    assert (foreign.status_code, "यह पेज आपके लिए नहीं है" in whole(foreign)) == (403, True)
    stale = browser.post(f"{at(member, 'secret')}/retire", {"csrf_token": "of another session"})
    assert (stale.status_code, "पेज फिर से खोलें" in whole(stale)) == (403, True)


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
    alarms = {"language": "hi", "channel": "email", "ofMembers": "major"}
    for path, fields, words in (
        ("session", {"session": session}, "उस ब्राउज़र को साइन आउट कर दिया गया है।"),
        ("token", {"jti": token}, "टोकन समाप्त कर दिया गया है।"),
        ("token", {"jti": token}, "वह पहले ही समाप्त हो चुका था।"),
        ("alarms", alarms, "आपकी पसंद सहेज ली गई है।"),
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_page_of_people_answers_every_act_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "people")
    assert "केवल एक एडमिन सक्रिय है।" in whole(browser.get(page))
    second = f"second-{member.email}"
    for form, fields, words in (
        ("add", {"email": second, "name": "Ravi Das"}, "आमंत्रण भेज दिया गया।"),
        ("add", {"email": second, "name": "Ravi Das"}, "वह व्यक्ति पहले से एडमिन है"),
        ("contact", {"email": "", "phone": "+91 80 4000 1234"}, "बैकअप संपर्क सहेज लिया गया है।"),
        ("invite-again", {"email": second}, "पहले का लिंक अब काम नहीं करता।"),
        ("remove", {"email": second}, "आमंत्रण वापस ले लिया गया।"),
        ("hand-over", {"email": second, "name": "Ravi Das"}, "आमंत्रण स्वीकार होने तक आप एडमिन हैं।"),
        ("hand-over", {"email": second, "name": "Ravi Das"}, "इसके स्वीकार होने तक आप एडमिन हैं।"),
        ("remove", {"email": second}, "उसका लिंक अब काम नहीं करता।"),
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
        ("invite-again", {"email": second}, "वह आमंत्रण अब लंबित नहीं है"),
    ):
        refused = browser.act(page, f"{page}/{form}", **fields)
        assert words in whole(refused)
    service.advance("PT6M")
    asked = browser.act(page, f"{page}/remove", email=member.email)
    assert "अभी तक कुछ नहीं बदला गया है।" in whole(asked)
    wrong = browser.act(page, f"{page}/remove", email=member.email, password="not mine at all")
    assert "यह आपका पासवर्ड नहीं है; कुछ नहीं बदला गया।" in whole(wrong)


def test_the_registration_is_checked_and_submitted_in_hindi(service: Service) -> None:
    member = new_member(service, "FIU")
    browser, page = hindi(member), at(member, "registration")
    empty = whole(browser.get(page), member.entity_id)
    assert "फ़ील्ड भरनी हैं।" in empty
    assert "यह भरें: नियामक की दी ID, 1 से 64 अक्षर।" in empty
    draft = json.loads(
        html.unescape(re.findall(r'id="payload"[^>]*>(.*?)</textarea>', empty, re.DOTALL)[0])
    )
    draft["entityinfo"] |= {
        "code": "REG-1",
        "baseurl": "v2:https://api.member.example/v2",
        "ips": ["198.51.100.7"],
        "certificate": jwk(7703),
    }
    wrong = json.loads(json.dumps(draft))
    wrong["entityinfo"] |= {"baseurl": "https://a:b@api.member.example?x", "ips": ["224.0.0.1", 7]}
    found = whole(browser.act(page, f"{page}/check", payload=json.dumps(wrong)))
    for words in (
        "में क्वेरी है",
        "में उपयोगकर्ता नाम या पासवर्ड है",
        "पता 224.0.0.1 है, जो किसी मशीन का नहीं होता",
        "संख्या नहीं",
    ):
        assert words in found
    assert 'lang="en"' not in found.partition('class="findings"')[2].partition("</ul>")[0]
    lint = Registry(member).lint(wrong, "FIU").json()["findings"]
    assert "holds a user name or password" in [one["problem"] for one in lint], "the API is English"
    fields = {"csrf_token": browser.word(page), "payload": json.dumps(draft)}
    fragment = browser.post(f"{page}/check", fields, **{"HX-Request": "true"}).text
    assert "यह पहला पंजीकरण है" in fragment
    assert english_in(fragment) == set()
    sent = browser.act(page, f"{page}/submit", payload=json.dumps(draft))
    waiting = whole(browser.get(sent.headers["location"]))
    for words in ("जमा हो गया है।", "से स्वीकृति की प्रतीक्षा में है।", "जमा किया गया"):
        assert words in waiting
    draft["entityinfo"] |= {"ips": ["198.51.100.8"]}
    changed = whole(browser.act(page, f"{page}/check", payload=json.dumps(draft)))
    for words in ("प्रतीक्षारत संस्करण में बदलाव", "स्वीकृति आवश्यक", "सदस्यों को नए IP पतों को अनुमति"):
        assert words in changed
    assert browser.get(f"{page}?export=versions").text.startswith("\ufeffVersion,Status,Submitted")


@pytest.mark.slow
def test_the_activity_is_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "activity")
    member.entity_token(member.secret())
    shown = whole(browser.get(page))
    for words in ("ऑडिट लॉग", "सफल", "<dt>ट्रांज़ैक्शन</dt>"):
        assert words in shown


@pytest.mark.slow
def test_the_page_of_addresses_answers_every_act_in_hindi(service: Service) -> None:
    bare = new_member(service)
    assert "पंजीकरण में अपने पते जोड़ें" in whole(hindi(bare).get(at(bare, "addresses")))
    one, elsewhere = member_with_entry(service), new_address()
    member = one.registry.member
    assert one.generate(service.client(elsewhere)).status_code == 200
    service.wait_until(lambda: one.is_seen(elsewhere))
    browser, page = hindi(member), at(member, "addresses")
    assert "1 पते को टोकन मिले और वह सूची में नहीं है।" in whole(browser.get(page))
    warned = browser.act(page, page, binding="enforce")
    assert (warned.status_code, "या पुष्टि करें कि उसे अस्वीकार करना है।" in whole(warned)) == (409, True)
    for fields, words in (
        ({"binding": "enforce", "evenSo": "yes"}, "अब केवल सूची में दिए गए पतों को टोकन मिलते हैं।"),
        ({"binding": "network"}, "अब हर पते को टोकन मिलते हैं।"),
    ):
        done = browser.act(page, page, **fields)
        assert words in whole(browser.get(done.headers["location"]))


@pytest.mark.slow
def test_programs_are_explained_in_hindi(service: Service) -> None:
    member = new_member(service)
    page = hindi(member).get(at(member, "try"))
    assert "2. टोकन पाएँ" in whole(page, "sh get_", "node get_", "java GetToken")


@pytest.mark.slow
def test_who_has_no_entity_any_more_is_informed_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "people")
    second = f"next-{member.email}"
    browser.act(page, f"{page}/add", email=second, name="Ravi Das")
    set_password(service.client(), latest_link(service, second))
    left = browser.act(page, f"{page}/remove", email=member.email)
    assert left.headers["location"].endswith("?told=left"), left.text
    shown = whole(browser.get(left.headers["location"]))
    assert "उस एंटिटी पर अब आपके अधिकार नहीं हैं।" in shown
    assert "अभी तक कोई एंटिटी नहीं" in shown


def test_the_pages_of_webhooks_answer_every_act_in_hindi(service: Service) -> None:
    member = new_member(service, "FIU")
    browser = hindi(member)
    for page in (at(member, "webhooks"), f"{ACCOUNT}/webhooks"):
        whole(browser.get(page))
        refused = whole(browser.act(page, page, url="ftp://x.example"))
        assert "वेबहुक नहीं जोड़ा गया।" in refused
        added = browser.act(page, page, url="https://192.0.2.7/hook", format="standard")
        assert "इसे अभी कॉपी करें" in whole(added)
        one = re.findall(r'id="test-([0-9a-f-]+)"', added.text)[0]
        sent = browser.act(page, f"{page}/{one}/test")
        shown = whole(browser.get(sent.headers["location"].partition("#")[0]))
        assert "टेस्ट संदेश भेजा जा रहा है।" in shown
        rotated = whole(browser.act(page, f"{page}/{one}/rotate"))
        assert "तक यह भी हस्ताक्षर करता है" in rotated
        removed = browser.act(page, f"{page}/{one}/remove")
        assert "न पहुँचे संदेश हटा दिए गए" in whole(browser.get(removed.headers["location"]))


@pytest.mark.slow
def test_the_page_of_faults_answers_every_act_in_hindi(service: Service) -> None:
    member = new_member(service)
    browser, page = hindi(member), at(member, "faults")
    assert "कोई ख़राबी चालू नहीं है।" in whole(browser.get(page))
    assert "कुछ नहीं बदला गया।" in whole(
        browser.act(page, page, **{"kind": "slow", "amount-slow": "121"})
    )
    for form, fields, words in (
        ("", {"kind": "slow", "amount-slow": "5", "lasts": "PT10M"}, "उत्तर से पहले का समय: 5 से."),
        ("/end", {"kind": "slow"}, "ख़राबी समाप्त कर दी गई है।"),
    ):
        done = browser.act(page, page + form, **fields)
        assert words in whole(browser.get(done.headers["location"]))
