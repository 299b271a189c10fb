"""Texts arrive up to the length that they may have, in any script."""

from uuid import UUID

from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

MAX_TEXT = 600
MAX_TITLE = 120
MAX_POST_MORTEM = 20_000

NO_INCIDENT = f"/incidents/{UUID(int=7)}/acts"
POST_MORTEM = {"act": "post-mortem", "text": "अ" * MAX_POST_MORTEM}
LANGUAGES = ("hi", "mr", "ta", "te", "bn", "gu", "kn", "ml", "pa", "ur")


def test_a_post_mortem_is_read_before_its_incident_is_missed(service: Service) -> None:
    noc, browser = new_operator(service, "health"), reader(service)
    assert browser.sign_in(noc.email).status_code == 303
    page = "/console/operator/incidents"

    by_api = noc.post(NO_INCIDENT, **POST_MORTEM)
    by_form = browser.act(page, f"/console/operator{NO_INCIDENT}", **POST_MORTEM)

    assert (by_api.status_code, by_form.status_code) == (404, 404)


def test_an_announcement_may_have_all_its_languages(service: Service) -> None:
    noc, text = new_operator(service, "health"), {"title": "अ" * MAX_TITLE, "text": "अ" * MAX_TEXT}
    translations = [{"language": one, **text} for one in LANGUAGES]

    made = noc.post("/announcements", **text, translations=translations)

    assert made.status_code == 200, made.text
    end = f"/announcements/{made.json()['announcement']['announcementId']}/end"
    assert noc.post(end).status_code == 200
