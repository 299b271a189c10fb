"""Calls the base URL of an entry: by which certificate it answers, and whether it holds the key.

The rules of webhooks apply: only checked addresses are called, no redirect is
followed, no proxy of the environment is used; size and time of the answer are bounded.
"""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Final

import httpx2
from cryptography import x509
from cryptography.x509.oid import ExtensionOID

from mudra.client.errors import SignatureRefused
from mudra.client.signing.body_signature import SIGNATURE_HEADER, RegisteredKey
from mudra.registry.payload.fields.url_rules import AnyIp
from mudra.registry.probe.challenge import MAX_ANSWER, Challenge, answer_problem
from mudra.registry.probe.probe import ProbeResult, ServerCertificate, WaitingProbe
from mudra.webhook.failure import why_failed
from mudra.webhook.reach import Reach
from mudra.webhook.send import resolved, trusted_authorities

_WHOLE_S: Final = 10.0
_CONNECT_S: Final = 3.0
_MAX_TEXT: Final = 200
_MAX_NAMES: Final = 10
_MAX_SIGNATURE: Final = 4096
_HTTPS: Final = 443
_NAMES: Final = ThreadPoolExecutor(2, thread_name_prefix="probe-names")
_NOT_ASKED: Final = "the server was not asked"


class _NoHandshake(Exception):
    """The server did not get to its certificate, or has one that cannot be read."""


async def probe(
    waiting: WaitingProbe,
    challenge: Challenge,
    signature: str,
    reach: Reach,
    authorities: ssl.SSLContext | None = None,
    within_s: float = _WHOLE_S,
) -> ProbeResult:
    """Ask the server of a version for the proof, within 10 seconds in all.

    `authorities` are those trusted, the usual ones when not given. What is returned contains
    nothing of the answer's body.
    """
    fault = reach.url_fault(waiting.base_url)
    if fault is not None:
        return ProbeResult(0, f"the address {fault}", _NOT_ASKED)
    seen: list[ServerCertificate] = []
    try:
        async with asyncio.timeout(within_s):
            url = httpx2.URL(challenge.url)
            addresses = await resolved(url, _NAMES)
            for one in addresses:
                fault = reach.ip_fault(one)
                if fault is not None:
                    return ProbeResult(0, f"the host {fault}", _NOT_ASKED)
            context = authorities or trusted_authorities()
            if url.scheme == "https":
                seen.append(await _certificate(url, addresses[0], context))
                if seen[0].problem:
                    problem = f"the certificate is not trusted: {seen[0].problem}"
                    return ProbeResult(0, problem, _NOT_ASKED, seen[0])
            status, key_problem = await _asked(
                url, addresses[0], challenge, signature, waiting, context
            )
            return ProbeResult(status, "", key_problem, seen[0] if seen else None)
    except _NoHandshake as error:
        problem = str(error)
    except TimeoutError:
        problem = f"no answer within {within_s:g} seconds"
    except socket.gaierror:
        problem = "the host has no address"
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        problem = why_failed(error)
    return ProbeResult(0, problem, _NOT_ASKED, seen[0] if seen else None)


async def _certificate(
    url: httpx2.URL, address: AnyIp, context: ssl.SSLContext
) -> ServerCertificate:
    """Read the server's certificate; one that is not trusted is read without trusting it."""
    try:
        der, problem = await _handshake(url, address, context), ""
    except ssl.SSLCertVerificationError as error:
        # For looking at it alone: nothing is sent over this connection.
        anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anyone.check_hostname = False
        anyone.verify_mode = ssl.CERT_NONE
        der, problem = await _handshake(url, address, anyone), _plain(error.verify_message)
    return _read(der, problem)


async def _handshake(url: httpx2.URL, address: AnyIp, context: ssl.SSLContext) -> bytes:
    try:
        async with asyncio.timeout(_CONNECT_S):
            _, writer = await asyncio.open_connection(
                str(address),
                url.port or _HTTPS,
                ssl=context,
                server_hostname=url.raw_host.decode("ascii"),
            )
    except TimeoutError as error:
        raise _NoHandshake(f"no TLS handshake within {_CONNECT_S:g} seconds") from error
    try:
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    finally:
        writer.transport.abort()
    if not isinstance(der, bytes):
        raise ValueError("no certificate")  # noqa: TRY004  # not of a caller, but of the server
    return der


def _read(der: bytes, problem: str) -> ServerCertificate:
    try:
        found = x509.load_der_x509_certificate(der)
    except (ValueError, x509.InvalidVersion) as error:
        raise _NoHandshake("the certificate cannot be read") from error
    try:
        alternative = found.extensions.get_extension_for_oid(
            ExtensionOID.SUBJECT_ALTERNATIVE_NAME
        ).value
        assert isinstance(alternative, x509.SubjectAlternativeName)
        names: Sequence[str] = alternative.get_values_for_type(x509.DNSName)
    except (
        x509.ExtensionNotFound,
        x509.DuplicateExtension,
        x509.UnsupportedGeneralNameType,
        ValueError,
    ):
        names = ()
    return ServerCertificate(
        subject=_plain(found.subject.rfc4514_string()),
        issuer=_plain(found.issuer.rfc4514_string()),
        names=tuple(_plain(name) for name in names[:_MAX_NAMES]),
        valid_until=found.not_valid_after_utc,
        sha256=sha256(der).hexdigest(),
        problem=problem,
    )


async def _asked(  # what one question needs
    url: httpx2.URL,
    address: AnyIp,
    challenge: Challenge,
    signature: str,
    waiting: WaitingProbe,
    context: ssl.SSLContext,
) -> tuple[int, str]:
    """Return the status of the answer, and why the key is not proven."""
    headers = {
        "Host": url.netloc.decode("ascii"),
        "Content-Type": "application/json",
        SIGNATURE_HEADER: signature,
    }
    async with (
        httpx2.AsyncClient(
            timeout=httpx2.Timeout(_WHOLE_S, connect=_CONNECT_S),
            follow_redirects=False,
            trust_env=False,
            verify=context,
        ) as client,
        client.stream(
            "POST",
            url.copy_with(host=str(address)),
            content=challenge.body,
            headers=headers,
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        ) as response,
    ):
        if response.status_code != httpx2.codes.OK:
            return response.status_code, "the server does not answer the challenge"
        body = b""
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_ANSWER:
                return response.status_code, f"the answer is longer than {MAX_ANSWER} bytes"
        answered = response.headers.get(SIGNATURE_HEADER, "")[:_MAX_SIGNATURE]
        try:
            RegisteredKey.from_certificate(waiting.key).check(body, answered)
        except SignatureRefused as refused:
            return response.status_code, refused.diagnosis
        return response.status_code, answer_problem(body, waiting, challenge)


def _plain(text: str) -> str:
    """Return a text of a stranger's certificate as one short line."""
    return "".join(one if one.isprintable() else "?" for one in text[:_MAX_TEXT])
