"""Which email brings a link: it depends on the account."""

import pytest
from msgspec.structs import replace

from mudra.identity.accounts.acts.send_link import link_notice
from mudra.identity.accounts.email_link import LinkPurpose
from mudra.identity.accounts.user import User, UserState
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.secret_text import SecretText

ADMIN = User("u-1", "asha@bank.example", "Asha", UserState.INVITED, None, ("BANK-FIP",), ("Bank",))
OPERATOR = replace(ADMIN, administers=(), entity_names=())
URL = SecretText("https://mudra.example/iam/activate/1")


@pytest.mark.parametrize(
    ("user", "purpose", "kind"),
    [
        (ADMIN, LinkPurpose.INVITE, NoticeKind.INVITATION),
        (OPERATOR, LinkPurpose.INVITE, NoticeKind.ACCOUNT_INVITATION),
        (ADMIN, LinkPurpose.PASSWORD_RESET, NoticeKind.PASSWORD_RESET),
    ],
    ids=["admin", "operator", "active"],
)
def test_the_email_fits_the_account(user: User, purpose: LinkPurpose, kind: NoticeKind):
    notice = link_notice(user, purpose, URL)

    assert notice.kind is kind
    assert ("entity_name" in notice.facts) is (kind is NoticeKind.INVITATION)
    assert notice.facts["link"] == URL
