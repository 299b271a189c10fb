"""Valid registration payloads for tests, and many distinct public keys at no cost."""

import base64
import copy
import functools
import hashlib
import math
from typing import Any, Final

import gmpy2
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mudra.registry.payload.fields import certificate, weak_keys

weakness = functools.cache(weak_keys.weakness)
"""As tests ask it: their few keys are checked thousands of times, at some milliseconds each."""
certificate.weakness = weakness  # type: ignore[attr-defined]  # what the check imports

# Four real public keys; their private parts were never kept.
MODULI = (
    (
        "rmvBLvYtQV0CsgmX0s7A1GUhdDvfIg_YKPKcJHfrPoHHA4fCIIIwozAjpFacus2-xgZrkoHegaDMp1GNv_m2Mn"
        "Z5e7x31UORAl8l6P32s5zel4Djg_ORuBxQTdg3N5L9F6SdtSeqzrS5Y3_xqJtm6Q0-gzoKdLEq9qx62mWztul8"
        "zwTu_-UPx4GocoIZtszVP_JpQE7Dfctcz-6apx5niQT7taUC_mOAfmXbfuO_JkLDPN2MGSfhm_pkpk-gRgTCdC"
        "Hb3InvgIf26FjQs0sMUC4ykJ3z_Ul39_apwHAVD8TimJo7q5kSmkxonTCQfCH6ZYb0OvTQlAWZI9MFtd7XTw"
    ),
    (
        "9lQQtUUs5ylSf_Sn-dF7NY2trzM9VN3auFSeTBkLAoLzm91uaaF7DhkGVTdhgoOztfV2giQzwRyfXQU58HUh_Y"
        "OucetXiAVxNdZerFWsuUGG4N4cnRVtakcNj05dqhk2_tINFKyoEedkPxNSYTEN38FH23mf4g4rdqVAT6UhhC3R"
        "LdK04beVvIISTSk-Ledo0dRi_tk1tkQG1yPgsHPg3FUQPiwbpezOZv5r5hFZqmIEFfImrn8blbJNBD0EcQUmtf"
        "Bb9xhCuMxP78GF3OJyNkuUhaCXi5DZbYSnPZ1p9UTfFCk9w95WTDruxWVzDonm1L8Xv269b29BdyAUksdDNQ"
    ),
    (
        "se_UuPC9ptm44dZS2RbvupiQ2iy2RzmJSCB4tg5iLqFve-tR2rf2YM0ssTk2JX9i7Vfn0EneEOkh5wMlyblRPR"
        "TEh_4MdAKIQ5J72p0sQ5NEX2k1J8jI4W3xuIYfWR3TzqPNyUpVnja--TsQP6WZ9g-iKydSDx6yIDTgeZ8L_Fpv"
        "T3TLXuMNRoQ9dJlmP1JsreoniD7NojVsNFdhBxWrTrkdO-7tr5JWXGY46sqZNw848qu4nqMVOZ9M1lslo5o9a7"
        "cfLrZ7GKihfcnaSRDEPDQRzaTRQSrLY3o2wRc4JnjpvlNdQXS50yv6vmo-elx8lwDv3jzur7e2lAWbkcsn3Q"
    ),
    (
        "tTUDqi0btlKKe11I_SFgNIWo4-SH_-tXd6gC3h9Hsxgs1CghQkCJm1LzuoquVMVeTKH02Dop7JH47RnkuxseFZ"
        "varjyDZfVxAQHQTuqlmAiIcqQ1XwT_95SjMld3K3A-ikNj0vU981bBZ5tYmNoiKzggP34LTBrnBM6sMFAGTJAT"
        "IEZBIb3uOedEDsTxuGMA2BHhFcKI7SEhi9bH6uZAxPsI3i3CQw09UwWrA7uzLmW29DMgBX1A_MDOzcTsM3OEc7"
        "rbieGj2g4YiwJBQ1IcxunWCGz08TSFhxfLtzqsD3ENvK_lcTOtToQt_ND-FdBN-tlsCxRkOMp2q_z1TOh9sw"
    ),
)

_PRIMES: Final = 8
"""Of 256 bits, of which the first four are set: their product has all of 2,048."""


def jwk(number: int = 0) -> dict[str, str]:
    """Give a public JWK that the registry takes; another number gives another key.

    Beyond the real ones the moduli are products of primes that anyone can derive: the search of keys
    finds nothing in them. To find eight short primes takes a thirtieth of finding two long ones.
    """
    n = MODULI[number] if number < len(MODULI) else _made_up_modulus(number)
    return {"alg": "RS256", "kty": "RSA", "use": "sig", "kid": f"kid-{number}", "e": "AQAB", "n": n}


def public_pem(number: int = 0) -> bytes:
    """Give the key of `jwk(number)` as `openssl rsa -pubout` writes it."""
    n = int.from_bytes(base64.urlsafe_b64decode(jwk(number)["n"] + "=="))
    key = RSAPublicNumbers(65537, n).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@functools.cache
def _made_up_modulus(number: int) -> str:
    n = math.prod(_prime(f"{number}/{part}") for part in range(_PRIMES))
    return base64.urlsafe_b64encode(n.to_bytes(256)).rstrip(b"=").decode()


def _prime(seed: str) -> int:
    start = int.from_bytes(hashlib.shake_256(seed.encode()).digest(32)) | (15 << 252)
    return int(gmpy2.next_prime(start))


def fip(number: int = 0, **changes: Any) -> dict[str, Any]:
    """Give the payload of a FIP; keyword arguments replace members of `entityinfo`."""
    info = _info(f"FIP-{number}", number) | {
        "Identifiers": [
            {"category": "STRONG", "type": "MOBILE"},
            {"category": "WEAK", "type": "PAN"},
        ],
        "fitypes": ["DEPOSIT", "TERM_DEPOSIT"],
    }
    return _payload("FIP", number, info | changes)


def fiu(number: int = 0, **changes: Any) -> dict[str, Any]:
    """Give the payload of a FIU."""
    return _payload("FIU", number, _info(f"FIU-{number}", 10_000 + number) | changes)


def aa(number: int = 0, **changes: Any) -> dict[str, Any]:
    """Give the payload of an AA."""
    info = _info(f"AA-{number}", 20_000 + number) | {
        "entityhandle": f"@aa{number}",
        "webviewurl": f"https://aa{number}.example/web",
    }
    return _payload("AA", number, info | changes)


def older(payload: dict[str, Any]) -> dict[str, Any]:
    """Give the payload as today's directories publish it."""
    found = copy.deepcopy(payload)
    found["timestamp"] = "2024-02-06 10:11:29.192"
    found["entityinfo"] |= {"inboundports": None, "outboundports": None, "ips": None}
    found["entityinfo"] |= {"credentialsPk": "17", "oldEntityId": "old-id"}
    if found["type"] == "FIP":
        found["entityinfo"]["fitypes"] = ["TERM-DEPOSIT"]
    else:
        found["entityinfo"]["fitypes"] = [""]
    return found


def with_key(payload: dict[str, Any], number: int) -> dict[str, Any]:
    """Give the payload with another certificate."""
    return payload | {"entityinfo": payload["entityinfo"] | {"certificate": jwk(number)}}


def _info(entity_id: str, number: int) -> dict[str, Any]:
    host = entity_id.lower()
    return {
        "tags": "Sandbox",
        "name": f"Entity {entity_id}",
        "id": entity_id,
        "code": f"REG{number:06d}",
        "entityhandle": "",
        "Identifiers": [],
        "baseurl": f"v2:https://{host}.example/v2",
        "webviewurl": None,
        "fitypes": [],
        "inboundports": ["443"],
        "outboundports": ["443", "8000-8010"],
        "ips": [f"9.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"],
        "certificate": jwk(number),
        "gsp": None,
        "tokeninfo": {"url": "", "desc": "", "maxcalls": 0},
        "signature": {"signValue": ""},
    }


def _payload(kind: str, number: int, info: dict[str, Any]) -> dict[str, Any]:
    return {
        "ver": "1.0",
        "timestamp": "2026-01-15T09:30:00.000Z",
        "txnid": f"6f1c2a4e-0d6b-4c8e-9a53-{number:012x}",
        "type": kind,
        "requester": {"name": f"Entity {kind}-{number}", "id": info["id"]},
        "entityinfo": info,
    }
