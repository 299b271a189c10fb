"""Each person's emails come in the language that they chose, others' in that of the network."""

from tests.support.mailbox import mails
from tests.support.members import new_member
from tests.support.people.console import reader
from tests.support.service import Service

PAGE = "/console/account"


def test_a_person_chooses_the_language_of_their_emails(service: Service) -> None:
    hindi, english = new_member(service), new_member(service)
    browser = reader(service)
    assert browser.sign_in(hindi.email, hindi.password).status_code == 303
    assert 'value="hi" lang="hi">हिन्दी' in browser.get(PAGE).text

    chosen = browser.act(PAGE, f"{PAGE}/language", language="hi")
    assert chosen.status_code == 303, chosen.text
    assert 'value="hi" lang="hi" selected>हिन्दी' in browser.get(PAGE).text
    for one in (hindi, english):
        one.client.post("/v1/user/password/forgot", json={"username": one.email})
    for one, word in ((hindi, "पासवर्ड रीसेट करें"), (english, "reset your password")):
        service.wait_until(
            lambda one=one, word=word: word in mails(service, one.email)[-1]["subject"]
        )
    assert mails(service, hindi.email)[-1]["text"].startswith("नमस्ते ")

    back = browser.act(PAGE, f"{PAGE}/language", language="")
    assert back.status_code == 303
    assert "selected" not in browser.get(PAGE).text.partition('name="language"')[2][:400]


def test_a_language_that_there_is_not_is_refused(service: Service) -> None:
    member = new_member(service)
    browser = reader(service)
    browser.sign_in(member.email, member.password)
    for wrong in ("xx", "hi'; --", "<b>", "../hi"):
        refused = browser.act(PAGE, f"{PAGE}/language", language=wrong)
        assert (refused.status_code, "must be one of en, hi" in refused.text) == (400, True)
        assert "<b>" not in refused.text
