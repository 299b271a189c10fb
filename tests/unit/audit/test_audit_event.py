import re
from datetime import timedelta, timezone

import pytest
from tests.support.audit.audit_rows import NOON, event

from mudra.audit.event import EventName
from mudra.shared.secret_text import SecretText


@pytest.mark.parametrize("name", list(EventName))
def test_every_name_is_subject_object_action(name):
    assert re.fullmatch(r"[a-z_]+:[a-z_]+:[a-z_]+", name)
    assert name.name == name.value.replace(":", "_").upper()


@pytest.mark.parametrize(
    "at", [NOON.replace(tzinfo=None), NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))]
)
def test_an_instant_outside_utc_is_refused(at):
    with pytest.raises(ValueError, match="in UTC"):
        event(at=at)


@pytest.mark.parametrize("name", ["secret", "old_secret", "password", "access_token", "link"])
def test_a_detail_that_names_a_secret_is_refused(name):
    with pytest.raises(ValueError, match="must not be recorded"):
        event(detail={name: "x"})


@pytest.mark.parametrize("value", [SecretText("x"), 1.5, None, True, ["x"]])
def test_a_detail_is_a_text_or_a_whole_number(value):
    with pytest.raises(TypeError, match="text or a whole number"):
        event(detail={"days": value})


def test_a_refused_detail_is_not_repeated_in_the_message():
    with pytest.raises(ValueError, match="detail") as refusal:
        event(detail={"password": "correct horse"})

    assert "horse" not in str(refusal.value)
