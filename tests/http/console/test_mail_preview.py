"""The text of an email on the operators' page: all of it but what its recipient alone may use."""

from html import unescape
from uuid import uuid4

from tests.support.mailbox import latest_link, mails
from tests.support.members import new_member, onboard
from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

MAILS = "/console/operator/mails"


def test_an_operator_reads_an_email_without_its_link(service: Service) -> None:
    browser = reader(service)
    browser.sign_in(new_operator(service, "members").email)
    entity_id, email = onboard(service)
    link, sent = latest_link(service, email), mails(service, email)[-1]

    listed = browser.get(f"{MAILS}?mails.q={email}").text
    shown = browser.get(f"{MAILS}/{sent['id']}").text

    assert f'href="{MAILS}/{sent["id"]}"' in listed
    assert "[a link for the recipient alone]" in shown
    assert link.rpartition("/")[2] not in listed + shown
    assert "24 hours" in shown
    of_member = browser.get(f"/console/operator/members/{entity_id}").text
    table = of_member.partition('<section class="table" id="mails"')[2].partition("</section>")[0]
    assert "emails stay in the mailbox of this service" in listed, "no mail server took it"
    assert "kept here" not in listed, "the head of the page says it once"
    assert "Kept here, not sent: no mail server is configured." in of_member
    assert "not sent: no mail server is configured" in shown
    for page in (listed, table):
        assert ">sent<" not in page


def test_an_email_names_all_who_got_it(service: Service) -> None:
    member, backup = new_member(service), f"backup-{uuid4()}@bank.example"
    browser = reader(service)
    browser.sign_in(new_operator(service, "members").email)
    page = f"/console/operator/members/{member.entity_id}"
    assert browser.act(page, f"{page}/contact", email=backup, phone="").status_code == 303
    assert member.reset().status_code == 200
    service.wait_until(lambda: any("secret" in one["subject"] for one in mails(service, backup)))
    (sent,) = (one for one in mails(service, backup) if "secret" in one["subject"])

    shown = browser.get(f"{MAILS}/{sent['id']}").text.replace("<wbr>", "")

    assert "Recipients</dt>" in shown
    assert f"{backup}, {member.email}" in shown


def test_only_operators_for_members_read_emails(service: Service) -> None:
    browser = reader(service)
    browser.sign_in(new_operator(service, "health").email)
    _, email = onboard(service)

    refused = browser.get(f"{MAILS}/{mails(service, email)[-1]['id']}")

    assert refused.status_code == 403


def test_the_list_of_operators_shows_the_last_sign_in_and_the_second_factor(
    service: Service,
) -> None:
    browser, operator = reader(service), new_operator(service, "members")
    asleep = service.cli("operator", "create", "asleep@network.example", "--scope", "audit")
    assert asleep.exit_code == 0, asleep.stderr
    browser.sign_in(operator.email)

    page = browser.get("/console/operator/people").text
    (listed,) = operator.get("/users", words=operator.email).json()["users"]
    (other,) = operator.get("/users", words="asleep@network.example").json()["users"]

    own = page.partition(f"<strong>{operator.email}</strong>")[2].partition("</li>")[0]
    assert "Last sign-in" in own
    assert "no second factor" in own
    assert (
        "Never signed in"
        in page.partition("<strong>asleep@network.example</strong>")[2].partition("</li>")[0]
    )
    assert listed["signedInAt"] is not None
    assert listed["secondFactors"] == []
    assert other["signedInAt"] is None


def test_a_person_sees_what_was_sent_by_which_channel_and_whether_it_arrived(
    service: Service,
) -> None:
    member, other = new_member(service), new_member(service)
    browser = reader(service)
    browser.sign_in(member.email)
    page = "/console/account/notifications"
    with webhook_sink() as sink:
        hooks, headers = "/v1/user/alarm/webhooks", member.bearer()
        made = member.client.post(hooks, json={"url": sink.url}, headers=headers).json()
        hook = f"{hooks}/{made['webhook']['webhookId']}/test"
        sink.answers = [500]
        assert member.client.post(hook, json={}, headers=headers).status_code == 200
        service.wait_until(lambda: "answered 500" in browser.get(page).text)
        shown = browser.get(page).text
    own, foreign = mails(service, member.email)[0], mails(service, other.email)[0]
    text = browser.get(f"{page}/{own['id']}")
    refused = browser.get(f"{page}/{foreign['id']}")

    network, _, title = own["subject"].partition(": ")
    assert f"{title[:1].upper()}{title[1:]}" in unescape(shown)
    assert f"{network}: " not in unescape(shown)
    assert foreign["id"] not in shown
    assert "webhook.test" in shown
    assert "waiting" in shown
    assert "[a link for the recipient alone]" in text.text
    assert refused.status_code == 404
