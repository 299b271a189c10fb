"""The change of one's own password on the account page."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2
import pytest
from tests.support.cheap_hashes import cheap_hashes
from tests.support.mailbox import mails
from tests.support.members import Member, new_member
from tests.support.people.console import Reader, reader
from tests.support.people.second_factor import enroll
from tests.support.service import PASSWORD, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.acts.manage_accounts import AccountChanged, disable_account
from mudra.identity.accounts.acts.set_password import change_password
from mudra.identity.accounts.password_hash import Argon2Passwords
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.accounts.user import User, UserState
from mudra.identity.operators.person_rule import owner
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

PAGE, FORM = "/console/account", "/console/account/password"
NEW = "copper lantern 17 quiet rivers"


@pytest.fixture
def resident(service: Service) -> Member:
    return new_member(service)


def signed_in(member: Member) -> Reader:
    browser = reader(member.service)
    assert browser.sign_in(member.email).status_code == 303
    return browser


def change(browser: Reader, new: str = NEW, **proof: str) -> httpx2.Response:
    return browser.act(PAGE, FORM, new_password=new, **proof)


def test_a_new_password_ends_every_session_and_token(resident: Member) -> None:
    token, elsewhere, browser = resident.bearer(), signed_in(resident), signed_in(resident)

    done = change(browser, password=PASSWORD)

    assert done.headers["location"] == "/console/sign-in?told=password"
    assert "Sign in with the new one." in browser.get(done.headers["location"]).text
    assert elsewhere.get(PAGE).status_code == browser.get(PAGE).status_code == 303
    assert resident.read(token).status_code == 401
    assert reader(resident.service).sign_in(resident.email).status_code == 401
    assert browser.sign_in(resident.email, NEW).status_code == 303
    assert "password" in mails(resident.service, resident.email)[-1]["subject"]


def test_an_open_session_alone_changes_no_password(resident: Member) -> None:
    browser = signed_in(resident)  # a moment ago, which is enough for other acts

    unasked, wrong = change(browser), change(browser, password="not-the-password-at-all")

    assert unasked.status_code == 403
    assert wrong.status_code == 401
    assert "That is not your password; nothing was changed." in wrong.text
    assert "not-the-password" not in wrong.text + unasked.text
    assert NEW not in wrong.text + unasked.text
    assert browser.get(PAGE).status_code == 200
    assert reader(resident.service).sign_in(resident.email).status_code == 303


def test_a_password_that_breaks_a_rule_is_refused_at_its_form(resident: Member) -> None:
    browser = signed_in(resident)

    short = change(browser, "too short", password=PASSWORD)

    assert short.status_code == 400
    assert 'id="password-problem"' in short.text
    assert "Password must be at least 15 characters" in short.text
    assert "too short" not in short.text
    assert '<details class="act" open>' in short.text
    assert browser.get(PAGE).status_code == 200


def test_the_present_password_is_no_new_one(resident: Member) -> None:
    browser = signed_in(resident)

    same = change(browser, PASSWORD, password=PASSWORD)
    guessed = change(browser, PASSWORD, password="not-the-password-at-all")

    assert same.status_code == 400
    assert "Password is the one that you have now; choose another one" in same.text
    assert "the one that you have now" not in guessed.text
    assert browser.get(PAGE).status_code == 200


def test_who_has_a_second_factor_shows_it(resident: Member) -> None:
    browser = signed_in(resident)
    app, _ = enroll(browser, resident.service)

    by_password, code = change(browser, password=PASSWORD), app.fresh_code()
    weak = change(browser, "too short", code=code)
    done = change(browser, code=code)  # a form that was refused has not used it up

    assert by_password.status_code == 403
    assert weak.status_code == 400
    assert done.headers["location"] == "/console/sign-in?told=password"
    assert reader(resident.service).sign_in(resident.email, NEW).status_code == 303


def test_a_form_without_the_word_of_the_page_changes_nothing(resident: Member) -> None:
    browser = signed_in(resident)

    refused = browser.post(FORM, {"new_password": NEW, "password": PASSWORD})

    assert refused.status_code == 403
    assert reader(resident.service).sign_in(resident.email).status_code == 303


@dataclass
class SlowPasswords:
    """The real hasher, so slow that something else happens while it hashes."""

    real: Argon2Passwords
    meanwhile: Callable[[], Awaitable[None]]

    async def hash(
        self, password: SecretText, *, account: str = "", origin: str = ""
    ) -> str | HashingBusy:
        """Let it happen, then hash."""
        await self.meanwhile()
        return await self.real.hash(password, account=account, origin=origin)

    async def verify(
        self, stored: str | None, password: SecretText, *, account: str = "", origin: str = ""
    ) -> bool | HashingBusy:
        """Check a password."""
        return await self.real.verify(stored, password, account=account, origin=origin)

    def needs_rehash(self, stored: str) -> bool:
        """Return whether a hash has other parameters."""
        return self.real.needs_rehash(stored)


Meanwhile = Callable[[Transaction, User], Awaitable[object]]


def person(resident: Member) -> User:
    """The member's admin as stored."""

    async def read(dependencies: Dependencies) -> User:
        async with dependencies.transaction() as tx:
            found = await People(tx).by_username(resident.email)
        assert found is not None
        return found

    return resident.service.in_store(read)


def changed_while(resident: Member, meanwhile: Meanwhile) -> object:
    """Change the password; something else happens while it is hashed."""
    user = person(resident)

    async def change_it(dependencies: Dependencies) -> object:
        async def happens() -> None:
            async with dependencies.transaction() as tx:
                await meanwhile(tx, user)

        with cheap_hashes():
            real = Argon2Passwords(dependencies.encryption.password_pepper, 19)
            outcome = await change_password(
                user,
                SecretText(NEW),
                Caller(f"user:{user.user_id}"),
                hasher=SlowPasswords(real, happens),
                open_transaction=dependencies.transaction,
            )
            real.close()
        return outcome

    return resident.service.in_store(change_it)


def test_an_account_that_is_disabled_during_the_change_stays_disabled(resident: Member) -> None:
    """The change had begun as the operator disabled the account, and ends after it."""

    async def disable(tx: Transaction, user: User) -> None:
        done = await disable_account(tx, owner(Caller("operator:tests")), user.user_id)
        assert isinstance(done, AccountChanged)

    outcome = changed_while(resident, disable)

    assert outcome == SignInRefused()
    assert person(resident).state is UserState.DISABLED
    for password in (PASSWORD, NEW):
        assert reader(resident.service).sign_in(resident.email, password).status_code == 401


def test_a_password_that_is_hashed_again_during_the_change_is_still_the_same(
    resident: Member,
) -> None:
    """As the sign-in that proves who changes it does, after a change of the parameters."""

    async def hash_again(tx: Transaction, user: User) -> None:
        stored = user.password_hash or ""
        assert await People(tx).replace_hash(user.user_id, stored, f"{stored} ")

    assert changed_while(resident, hash_again) is None
    assert reader(resident.service).sign_in(resident.email, NEW).status_code == 303
