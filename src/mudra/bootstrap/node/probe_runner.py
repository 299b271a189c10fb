"""Runs a probe with what a node has: signing keys, and the addresses that may be called."""

import secrets

from mudra.bootstrap.dependencies import Dependencies
from mudra.registry.probe.challenge import new_challenge
from mudra.registry.probe.probe import ProbeResult, WaitingProbe
from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.node_keys import NodeKeys

_NONCE_BYTES = 32


class ProbeRunner:
    """Signs challenges as the issuer of entity tokens does, whose keys members know."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._keys: NodeKeys | None = None

    async def run(self, waiting: WaitingProbe) -> ProbeResult:
        """Run one probe."""
        # Imported with the first probe: most services never run one.
        from mudra.webhook.probe import probe  # noqa: PLC0415

        found = self._dependencies
        if self._keys is None:
            self._keys = NodeKeys(
                *(found.database, found.invalidation, found.clock),
                found.settings.token_type_header,
            )
        await self._keys.ready()
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        challenge = new_challenge(waiting, found.settings.issuer, nonce, found.clock())
        signature = self._keys.sign_detached(TokenKind.ENTITY, challenge.body)
        return await probe(waiting, challenge, signature, found.reach)
