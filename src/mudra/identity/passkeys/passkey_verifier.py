"""Checks what browsers send for passkeys, by the library `webauthn` (py_webauthn).

It is loaded when the first challenge is given, in a thread: it takes 80 ms, and few processes
ever need it (decision 0012).
"""

import asyncio
from importlib import import_module
from typing import Final

import structlog

from mudra.identity.passkeys.challenge import ALGORITHMS
from mudra.identity.passkeys.passkey import Assertion, NewCredential
from mudra.identity.passkeys.relying_party import RelyingParty

_log = structlog.get_logger()
_LIBRARY: Final = "webauthn"


class PasskeyVerifier:
    """Implements `PasskeyVerifier` for one relying party; without one, nothing is accepted."""

    def __init__(self, party: RelyingParty | None) -> None:
        self._party = party

    @property
    def relying_party(self) -> RelyingParty | None:
        """For whom passkeys are made; None while they are off."""
        return self._party

    async def load(self) -> None:
        """Load what the check needs, before a transaction is opened for it."""
        await asyncio.to_thread(import_module, _LIBRARY)

    def registration(self, response: str, challenge: bytes) -> NewCredential | None:
        """Verify a new passkey: type, challenge, origin, RP ID, presence, verification, key."""
        from webauthn import verify_registration_response  # noqa: PLC0415  # see above
        from webauthn.helpers import parse_registration_credential_json  # noqa: PLC0415  # see above
        from webauthn.helpers.cose import COSEAlgorithmIdentifier  # noqa: PLC0415  # see above

        if self._party is None:
            return None
        try:
            credential = parse_registration_credential_json(response)
            if _is_foreign(credential.response.client_data_json):
                return None
            verified = verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._party.rp_id,
                expected_origin=self._party.origin,
                require_user_verification=True,
                supported_pub_key_algs=[COSEAlgorithmIdentifier(alg) for alg in ALGORITHMS],
            )
        # The library reads bytes of a stranger, and lets out what any of its parsers raises.
        except Exception as refused:  # noqa: BLE001  # the library raises many
            _log.info("passkey refused", step="add", cause=type(refused).__name__)
            return None
        return NewCredential(
            verified.credential_id, verified.credential_public_key, verified.sign_count
        )

    def assertion(self, response: str, challenge: bytes, public_key: bytes) -> Assertion | None:
        """Verify a signature. Its counter is judged by assertion_rule.py, not here."""
        from webauthn import verify_authentication_response  # noqa: PLC0415  # see above
        from webauthn.helpers import parse_authentication_credential_json  # noqa: PLC0415  # see above

        if self._party is None:
            return None
        try:
            credential = parse_authentication_credential_json(response)
            if _is_foreign(credential.response.client_data_json):
                return None
            verified = verify_authentication_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._party.rp_id,
                expected_origin=self._party.origin,
                credential_public_key=public_key,
                credential_current_sign_count=0,
                require_user_verification=True,
            )
        except Exception as refused:  # noqa: BLE001  # as above
            _log.info("passkey refused", step="use", cause=type(refused).__name__)
            return None
        return Assertion(verified.new_sign_count, credential.response.user_handle)


def _is_foreign(client_data: bytes) -> bool:
    """Return whether the page was inside of a frame of another site (WebAuthn 7.2 step 14)."""
    from webauthn.helpers import parse_client_data_json  # noqa: PLC0415  # see above

    return bool(parse_client_data_json(client_data).cross_origin)
