"""mudra logout: revoke the saved User Access Token, and delete it."""

from mudra.cli.client.sign_in import BaseUrl, signed_in
from mudra.cli.client.tokens_file import TokensFileError, forget
from mudra.cli.command import at_service
from mudra.cli.local.program import CommandFailed
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import fail
from mudra.cli.output.shown import facts
from mudra.cli.output.token_text import claims_of


def logout(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Sign out: revoke the saved User Access Token, and delete it.

    It is deleted even if the service does not answer.
    """
    entry = signed_in(base_url)
    problem, code = "", None
    try:
        body = {"jti": claims_of(entry.secret_token)["jti"]}
        at_service(
            entry.base_url, lambda api: api.post("v1/user/token/revoke", body), entry.secret_token
        )
    except CommandFailed as failed:
        problem, code = f"the token was deleted here, and not revoked: {failed}", failed.code
    try:
        forget(entry)
    except TokensFileError as error:
        fail(str(error))
    shown = facts(
        {"signed out": entry.email, "at": entry.base_url},
        {"user": entry.email, "baseUrl": entry.base_url, "revoked": not problem},
    )
    shown.write(as_json=as_json)
    if code is not None:
        fail(problem, code)
