"""A member whose admin signs in once, for tests that are about something else."""

import functools
from dataclasses import dataclass

from tests.support.members import Member


@dataclass(frozen=True)
class SignedIn(Member):
    """Its header has the same User Access Token each time; `user_token` gives a fresh one."""

    def bearer(self) -> dict[str, str]:
        """An Authorization header."""
        return {"Authorization": f"Bearer {self._token}"}

    @functools.cached_property
    def _token(self) -> str:
        return self.user_token()


def signed_in(member: Member) -> SignedIn:
    """The same member, whose admin signs in at its first use and not again."""
    return SignedIn(member.service, member.entity_id, member.email, member.password, member.client)
