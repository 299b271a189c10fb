"""Prepares the database, and invites the first operator."""

import re
from dataclasses import replace
from typing import Final

from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_api import api_of_owner
from mudra.bootstrap.local_store import in_store, opening
from mudra.bootstrap.node.serve import open_store, prepare_database
from mudra.cli.local.program import CommandFailed
from mudra.identity.operators.operator import Scope
from mudra.settings.settings import Settings
from mudra.shared.secret_text import SecretText
from mudra.storage.mail.outbox import Outbox

_LINK: Final = re.compile(r"https://\S+/activate/\S+")
_OWNER: Final = "operator:setup"


def first_operator(settings: Settings, admin: str | None, email: str) -> str:
    """Make roles, schema and keys, and invite an operator; returns the link of the invitation.

    The link is empty where that person is an operator already. Raises CommandFailed.
    """
    if admin is not None:
        settings = replace(settings, database_admin_url=SecretText(admin))
    with opening():
        prepare_database(settings)
        with open_store(settings, create=True):
            pass  # it makes what encrypts the data, under the master key
    return in_store(settings, lambda dependencies: _invite(dependencies, email))


async def _invite(dependencies: Dependencies, email: str) -> str:
    body = {"email": email, "scopes": sorted(Scope), "name": ""}
    url = f"{dependencies.settings.issuer.removesuffix('/iam')}/operator/v1/operators"
    async with api_of_owner(dependencies, _OWNER) as client:
        response = await client.post(url, json=body)
        answer = response.json()
        if not response.is_success:
            raise CommandFailed(f"operator: {answer.get('errorMsg', 'no operator was made')}")
    if not answer["invited"]:
        return ""
    async with dependencies.transaction() as tx:
        mails = await tx.service(Outbox).mails(to=answer["email"], limit=1)
    found = _LINK.search(mails[-1].email.text) if mails else None
    return found[0] if found else ""
