"""What the overview of a member counts: issued and refused tokens, since the same moment."""

from datetime import UTC, datetime, timedelta

from tests.support.people.console import reader
from tests.support.service import Service, new_member


def test_issued_and_refused_tokens_are_counted_since_the_beginning_of_yesterday(
    service: Service,
) -> None:
    now = datetime.fromtimestamp(service.wall(), UTC)
    an_hour_after_midnight = now.replace(hour=1, minute=0, second=0) + timedelta(days=1)
    service.advance(f"PT{int((an_hour_after_midnight - now).total_seconds())}S")
    member = new_member(service)
    assert member.entity_token(member.secret()).status_code == 200
    assert member.entity_token("no-secret-of-this-member").status_code == 401
    service.advance("PT26H")  # on the next day, more than 24 hours later
    browser = reader(service)
    assert browser.sign_in(member.email).status_code == 303
    page = f"/console/entity/{member.entity_id}"

    service.wait_until(lambda: "Refused since then</dt><dd>1<" in browser.get(page).text)

    assert "Tokens since yesterday (UTC)</dt><dd>1<" in browser.get(page).text
