"""The console as a browser sees it, without one: cookies kept, forms sent back with their word."""

import re
from dataclasses import dataclass

import httpx2
from tests.support.service import PASSWORD, Service

_WORD = re.compile(r'name="csrf_token" value="([^"]+)"')
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Reader:
    """One browser."""

    client: httpx2.Client
    root: str

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Open a page."""
        return self.client.get(self.root + path, headers=headers)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
        """Send a form as our own page would; `headers` come on top."""
        return self.client.post(self.root + path, data=fields, headers={**SAME_ORIGIN, **headers})

    def sign_in(self, username: str, password: str = PASSWORD, to: str = "") -> httpx2.Response:
        """Send the sign-in form."""
        return self.post("/console/sign-in", {"username": username, "password": password, "to": to})

    def word(self, path: str) -> str:
        """The word that a page puts into its forms."""
        page = self.get(path)
        found = _WORD.search(page.text)
        assert found, page.text
        return found[1]

    def act(self, page: str, path: str, **fields: str) -> httpx2.Response:
        """Send a form of `page` with its word."""
        return self.post(path, {**fields, "csrf_token": self.word(page)})


def reader(service: Service) -> Reader:
    """A browser from an address of its own."""
    return Reader(service.client(), service.root)
