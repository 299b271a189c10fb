"""What a translated page of the console refuses: in its language, whatever the API says."""

import re
from datetime import UTC, datetime, time, timedelta

import pytest
from msgspec.structs import replace
from tests.support.english_left import english_in

from mudra.console.framework.console_errors import (
    PROOF_TOO_OLD,
    CrossSiteForm,
    StaleForm,
    page_problem,
)
from mudra.disputes.dispute_service import NoSuchDispute, NoSuchEvidence
from mudra.disputes.evidence import TOO_MANY_FILES, TOO_MANY_FILES_TODAY
from mudra.disputes.raise_rule import TOO_MANY_OPEN, TOO_MANY_TODAY
from mudra.disputes.step_rule import TOO_MANY_STEPS, text_refused
from mudra.http.response.http_refusals import UNEXPECTED, Unavailable
from mudra.identity.accounts.password_rules import PasswordFault, PasswordRefusal
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.passkeys.check_passkey import PASSKEY_REFUSED
from mudra.identity.passkeys.manage_passkeys import PASSKEYS_OFF, TOO_MANY_PASSKEYS
from mudra.identity.second_factor.check_code import CODE_REFUSED
from mudra.identity.second_factor.enroll import FACTOR_REQUIRED, NO_SECOND_FACTOR, SET_UP_ENDED
from mudra.identity.sign_in.sign_in import SignInRefused, TooManyAttempts
from mudra.levels.level_service import NO_LEVELS, NO_SUCH_REPORT, TOO_MANY_REPORTS
from mudra.levels.printing.league import NO_LEAGUE
from mudra.levels.printing.pdf import NO_PDF, TOO_MANY_PRINTS
from mudra.localization.language import ENGLISH, written_in
from mudra.localization.languages import Languages
from mudra.metrics.notifications.preferences import NO_OWN_WEBHOOK, USUAL, checked
from mudra.metrics.notifications.webhook import MESSAGE_WAITS, NoSuchWebhook, too_many_tests
from mudra.shared.refusal import Refusal, ValueRefused
from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.tokens.secrets.secret_service import NOTHING_IN_GRACE

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LANGUAGES = Languages()
"""Which read the catalogue once."""
EVENING = time(22)
WRONG_PREFERENCES = [
    checked(replace(USUAL, time_zone="Nowhere")),
    checked(replace(USUAL, quiet_from=EVENING, quiet_until=None)),
    checked(replace(USUAL, quiet_from=None, quiet_until=EVENING)),
    checked(replace(USUAL, quiet_from=EVENING, quiet_until=EVENING)),
]
REFUSALS: list[Refusal] = [
    CrossSiteForm(), PROOF_TOO_OLD, StaleForm(), PASSKEY_REFUSED, ValueRefused("name", "must be 1 to 40 printable characters"),
    PASSKEYS_OFF, TOO_MANY_PASSKEYS, HashingBusy(2), CODE_REFUSED, FACTOR_REQUIRED,
    NO_SECOND_FACTOR, SignInRefused(), TooManyAttempts(NOW + timedelta(minutes=9), NOW),
    SET_UP_ENDED, NO_OWN_WEBHOOK, NOTHING_IN_GRACE, NoSuchWebhook(), MESSAGE_WAITS,
    too_many_tests(90), too_many_tests(1800),
    UNEXPECTED, NoSuchDispute(), NoSuchEvidence(), TOO_MANY_OPEN, TOO_MANY_TODAY, TOO_MANY_STEPS,
    TOO_MANY_FILES, TOO_MANY_FILES_TODAY, NO_SUCH_REPORT, NO_LEVELS, TOO_MANY_REPORTS, NO_LEAGUE,
    NO_PDF, TOO_MANY_PRINTS,
    *(one for one in [text_refused(" ")] if one is not None),
    *(PasswordRefusal(fault) for fault in PasswordFault),
    *(Unavailable(ServiceUnavailable(cause).sentence) for cause in Outage),
    *(one for one in WRONG_PREFERENCES if isinstance(one, ValueRefused)),
]  # fmt: skip


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: type(one).__name__)
def test_no_word_of_a_refusal_is_left_in_english(refusal: Refusal) -> None:
    with written_in(LANGUAGES.find("hi") or ENGLISH):
        text = page_problem(refusal).sentence
    assert english_in(text) == set()
    assert re.search("[\u0900-\u097f]", text), text


def test_every_wrong_preference_is_refused() -> None:
    assert all(isinstance(one, ValueRefused) for one in WRONG_PREFERENCES)
