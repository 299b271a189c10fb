"""An authenticator app that belongs to a person of a running service."""

import re
from dataclasses import dataclass

import httpx2
import pyotp
from tests.support.people.console import Reader
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted, History

PAGE = "/console/account/second-factor"
CODE = "/console/sign-in/code"
_STEP_S = 30
_KEY = re.compile(r'id="factor-key"[^>]*>([A-Z2-7]+)<')
_WORD = re.compile(r'name="csrf_token" value="([^"]+)"')
_RECOVERY = re.compile(r"\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}\b")


@dataclass
class App:
    """An authenticator app that follows the clock of the service."""

    service: Service
    secret: str
    _last: int = -1
    """The latest step whose code was given."""

    def code(self, steps: int = 0) -> str:
        """The code of now, or of so many steps later."""
        return self._of(int(self.service.wall()) // _STEP_S + steps)

    def fresh_code(self) -> str:
        """A code that was not used before: the next one, which is accepted a step early.

        The clock is moved only where that one was given too: the jobs that follow it cost CPU.
        """
        now = int(self.service.wall()) // _STEP_S
        if self._last > now:
            now = int(self.service.advance("PT60S").timestamp()) // _STEP_S
        return self._of(max(now, self._last + 1))

    def _of(self, step: int) -> str:
        self._last = max(self._last, step)
        return pyotp.TOTP(self.secret).at(_STEP_S * step)


def csrf(page: httpx2.Response) -> str:
    """The CSRF token of a page that is at hand."""
    found = _WORD.search(page.text)
    assert found, page.text
    return found[1]


def recovery_codes(page: httpx2.Response) -> list[str]:
    """The codes that a page shows."""
    return _RECOVERY.findall(page.text)


def begin(browser: Reader, service: Service, **proof: str) -> tuple[App, httpx2.Response]:
    """Begin to set up an app on the account page."""
    page = browser.act(PAGE, f"{PAGE}/begin", **proof)
    found = _KEY.search(page.text)
    assert found, page.text
    return App(service, found[1]), page


def enroll(browser: Reader, service: Service, **proof: str) -> tuple[App, list[str]]:
    """Set up an app; gives it and the recovery codes."""
    app, page = begin(browser, service, **proof)
    shown = browser.post(f"{PAGE}/confirm", {"csrf_token": csrf(page), "new_code": app.code()})
    assert shown.status_code == 200, shown.text
    codes = recovery_codes(shown)
    assert len(codes) == 10
    return app, codes


def enter_code(browser: Reader, code: str) -> httpx2.Response:
    """Send the second step of a sign-in whose password was right."""
    return browser.post(CODE, {"csrf_token": browser.word(CODE), "code": code})


def sign_in(browser: Reader, email: str, code: str) -> None:
    """Sign in with password and code."""
    first = browser.sign_in(email)
    assert first.headers["location"].startswith(CODE), first.text
    done = enter_code(browser, code)
    assert done.status_code == 303, done.text


def wrong_codes(service: Service, person: str) -> int:
    """Returns how many wrong codes in a row are counted per user ID."""

    async def read(dependencies: Dependencies) -> int:
        async with dependencies.transaction() as tx:
            counted = await Attempts(tx).history(Counted.SECOND_FACTOR, person, lock=False)
            return counted.failures

    return service.in_store(read)


def set_wrong_codes(service: Service, person: str, failures: int) -> None:
    """Count so many wrong codes in a row of a person, the last one now."""

    async def write(dependencies: Dependencies) -> None:
        async with dependencies.transaction() as tx:
            history = History(failures, await People(tx).now())
            await Attempts(tx).save(Counted.SECOND_FACTOR, person, history)

    service.in_store(write)


def user_id(service: Service, email: str) -> str:
    """The user ID behind an address."""

    async def read(dependencies: Dependencies) -> str:
        async with dependencies.transaction() as tx:
            found = await People(tx).by_username(email)
        assert found is not None
        return found.user_id

    return service.in_store(read)
