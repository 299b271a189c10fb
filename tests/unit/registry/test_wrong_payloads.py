"""A table of wrong payloads: each with the path and the words of the finding it must bring."""

import base64
import copy
from typing import Any

import pytest

from mudra.finding import Finding, Severity
from mudra.registry.address import AddressPolicy
from mudra.registry.check import check_payload
from mudra.registry.vocabulary import shipped_vocabulary
from tests.support.registry_payloads import aa, fip, fiu, jwk

GONE = object()
INFO = "$.entityinfo"
CERT = f"{INFO}.certificate"


def b64(number: int) -> str:
    octets = number.to_bytes(max(1, (number.bit_length() + 7) // 8))
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


CLOSE = (2**1024 + 643) * (2**1024 + 1185)

# base payload, member to replace, its new value, path of the finding, words in its sentence
WRONG: list[tuple[Any, str, object, str, str]] = [
    # the root
    (fip, "ver", GONE, "$.ver", "missing or empty"),
    (fip, "ver", "", "$.ver", "missing or empty"),
    (fip, "ver", 1, "$.ver", "must be a string, not a number"),
    (fip, "ver", "1.0 beta", "$.ver", "a schema version such as 1.0"),
    (fip, "ver", "1" * 17, "$.ver", "at most 16 characters"),
    (fip, "timestamp", GONE, "$.timestamp", "missing or empty"),
    (fip, "timestamp", 1705312200, "$.timestamp", "must be a string"),
    (fip, "timestamp", "yesterday", "$.timestamp", "ISO 8601 in UTC"),
    (
        fip,
        "timestamp",
        "2024-02-06 10:11:29.192",
        "$.timestamp",
        "did you mean 2024-02-06T10:11:29.192Z",
    ),
    (
        fip,
        "timestamp",
        "2024-02-06T10:11:29+05:30",
        "$.timestamp",
        "did you mean 2024-02-06T04:41:29.000Z",
    ),
    (fip, "timestamp", "2024-02-30T10:11:29Z", "$.timestamp", "must not be"),
    (fip, "timestamp", "2024-02-06T25:11:29Z", "$.timestamp", "must not be"),
    (fip, "timestamp", "0001-01-01T00:00:00+05:30", "$.timestamp", "must not be"),
    (fip, "txnid", GONE, "$.txnid", "missing or empty"),
    (fip, "txnid", "not-a-uuid", "$.txnid", "a UUID such as"),
    (fip, "txnid", "{6f1c2a4e-0d6b-4c8e-9a53-2b7d1e4f8a90}", "$.txnid", "did you mean 6f1c2a4e"),
    (fip, "type", GONE, "$.type", "FIP, FIU, AA"),
    (fip, "type", "fip", "$.type", "did you mean FIP"),
    (fip, "type", "BANK", "$.type", 'must not be "BANK"'),
    (fip, "type", ["FIP"], "$.type", "must be a string, not an array"),
    (fip, "requester", GONE, "$.requester", "is missing"),
    (fip, "requester", "HDFC", "$.requester", "must be an object"),
    (fip, "requester.name", GONE, "$.requester.name", "missing or empty"),
    (fip, "requester.id", "", "$.requester.id", "missing or empty"),
    (fip, "requester.id", "bad id", "$.requester.id", "did you mean bad-id"),
    (fip, "requester.Id", "x", "$.requester.Id", "did you mean id"),
    (fip, "entityinfo", GONE, "$.entityinfo", "is missing"),
    (fip, "entityinfo", [], "$.entityinfo", "must be an object, not an array"),
    (fip, "txnId", "x", "$.txnId", "did you mean txnid"),
    (fip, "timeStamp", "x", "$.timeStamp", "did you mean timestamp"),
    (fip, "entityInfo", {}, "$.entityInfo", "did you mean entityinfo"),
    (fip, "signature", {}, "$.signature", "did you mean entityinfo.signature"),
    (fip, "ips", [], "$.ips", "did you mean entityinfo.ips"),
    (fip, "a b", 1, '$["a b"]', "is not a member of this object"),
    (fip, "\ud800", 1, r"$['\ud800']", "is not a member"),
    # names and IDs
    (fip, "entityinfo.name", GONE, f"{INFO}.name", "missing or empty"),
    (fip, "entityinfo.name", None, f"{INFO}.name", "missing or empty"),
    (fip, "entityinfo.name", [""], f"{INFO}.name", "missing or empty"),
    (fip, "entityinfo.name", " Bank", f"{INFO}.name", "did you mean Bank"),
    (fip, "entityinfo.name", "x" * 201, f"{INFO}.name", "at most 200 characters"),
    (fip, "entityinfo.name", "a\nBcc: b", f"{INFO}.name", "U+000A"),
    (fip, "entityinfo.name", "a\u0000", f"{INFO}.name", "U+0000"),
    (fip, "entityinfo.name", "a\u202eb", f"{INFO}.name", "U+202E"),
    (fip, "entityinfo.name", "=?utf-8?q?hi=0ABcc?=", f"{INFO}.name", "mail programs decode"),
    (fip, "entityinfo.name", "\ud800", f"{INFO}.name", "U+D800"),
    (fip, "entityinfo.id", GONE, f"{INFO}.id", "missing or empty"),
    (fip, "entityinfo.id", "HDFC FIP", f"{INFO}.id", "did you mean HDFC-FIP"),
    (fip, "entityinfo.id", "x" * 65, f"{INFO}.id", "at most 64"),
    (fip, "entityinfo.id", "a/../b", f"{INFO}.id", "letters, digits"),
    (fip, "entityinfo.code", GONE, f"{INFO}.code", "missing or empty"),
    (fip, "entityinfo.code", 17, f"{INFO}.code", "must be a string, not a number"),
    (fip, "entityinfo.tags", "x" * 65, f"{INFO}.tags", "at most 64"),
    (fip, "entityinfo.tags", ["Sandbox"], f"{INFO}.tags", "must be a string, not an array"),
    (fip, "entityinfo.identifiers", [], f"{INFO}.identifiers", "did you mean Identifiers"),
    (fip, "entityinfo.baseUrl", "", f"{INFO}.baseUrl", "did you mean baseurl"),
    (fip, "entityinfo.credentialsPk", "1", f"{INFO}.credentialsPk", "not a member"),
    # what belongs to one type only
    (fip, "entityinfo.entityhandle", "@bank", f"{INFO}.entityhandle", "must be empty for type FIP"),
    (fiu, "entityinfo.entityhandle", "@fiu", f"{INFO}.entityhandle", "for type AA only"),
    (fip, "entityinfo.webviewurl", "https://a.example", f"{INFO}.webviewurl", "did you mean null"),
    (
        fiu,
        "entityinfo.webviewurl",
        "https://a.example",
        f"{INFO}.webviewurl",
        "must be empty for type FIU",
    ),
    (fiu, "entityinfo.fitypes", ["DEPOSIT"], f"{INFO}.fitypes", "did you mean []"),
    (aa, "entityinfo.fitypes", ["DEPOSIT"], f"{INFO}.fitypes", "must be empty for type AA"),
    (
        fiu,
        "entityinfo.Identifiers",
        [{"category": "STRONG", "type": "PAN"}],
        f"{INFO}.Identifiers",
        "must be empty for type FIU",
    ),
    (
        aa,
        "entityinfo.Identifiers",
        [{"category": "STRONG", "type": "PAN"}],
        f"{INFO}.Identifiers",
        "for type FIP only",
    ),
    (fiu, "entityinfo.gsp", {"id": "g"}, f"{INFO}.gsp", "must be empty for type FIU"),
    (aa, "entityinfo.gsp", {"id": "g"}, f"{INFO}.gsp", "must be empty for type AA"),
    (aa, "entityinfo.entityhandle", "", f"{INFO}.entityhandle", "missing or empty"),
    (aa, "entityinfo.entityhandle", "onemoney", f"{INFO}.entityhandle", "did you mean @onemoney"),
    (aa, "entityinfo.entityhandle", "@one money", f"{INFO}.entityhandle", "did you mean @onemoney"),
    (aa, "entityinfo.entityhandle", "@", f"{INFO}.entityhandle", "followed by 1 to 63"),
    (aa, "entityinfo.webviewurl", None, f"{INFO}.webviewurl", "missing or empty"),
    (aa, "entityinfo.webviewurl", "aa.example/web", f"{INFO}.webviewurl", "not an absolute URL"),
    (aa, "entityinfo.webviewurl", "https://a.example/#/x", f"{INFO}.webviewurl", "has a fragment"),
    (
        aa,
        "entityinfo.webviewurl",
        "javascript:alert(1)",
        f"{INFO}.webviewurl",
        "has the scheme javascript",
    ),
    # identifiers and FI types
    (fip, "entityinfo.Identifiers", [], f"{INFO}.Identifiers", "missing or empty"),
    (fip, "entityinfo.Identifiers", "MOBILE", f"{INFO}.Identifiers", "must be an array"),
    (fip, "entityinfo.Identifiers", ["MOBILE"], f"{INFO}.Identifiers[0]", "must be an object"),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "WEAK", "type": "PAN"}],
        f"{INFO}.Identifiers",
        "no identifier of category STRONG",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"type": "PAN"}],
        f"{INFO}.Identifiers[0].category",
        "STRONG, WEAK, ANCILLARY",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "strong", "type": "PAN"}],
        f"{INFO}.Identifiers[0].category",
        "did you mean STRONG",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "STRONG"}],
        f"{INFO}.Identifiers[0].type",
        "MOBILE, AADHAR",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "STRONG", "type": "MOBIL"}],
        f"{INFO}.Identifiers[0].type",
        "did you mean MOBILE",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "STRONG", "type": 7}],
        f"{INFO}.Identifiers[0].type",
        "must be a string",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "STRONG", "type": "PAN", "typ": 1}],
        f"{INFO}.Identifiers[0].typ",
        "did you mean type",
    ),
    (
        fip,
        "entityinfo.Identifiers",
        [{"category": "STRONG", "type": "PAN"}] * 65,
        f"{INFO}.Identifiers",
        "at most 64 items",
    ),
    (fip, "entityinfo.fitypes", None, f"{INFO}.fitypes", "missing or empty"),
    (fip, "entityinfo.fitypes", [""], f"{INFO}.fitypes", "missing or empty"),
    (fip, "entityinfo.fitypes", "DEPOSIT", f"{INFO}.fitypes", "must be an array"),
    (fip, "entityinfo.fitypes", ["DEPOSITS"], f"{INFO}.fitypes[0]", "did you mean DEPOSIT"),
    (fip, "entityinfo.fitypes", ["DEPOSIT", "GOLD"], f"{INFO}.fitypes[1]", 'must not be "GOLD"'),
    (fip, "entityinfo.fitypes", ["DEPOSIT", ""], f"{INFO}.fitypes[1]", "must not be empty"),
    (
        fip,
        "entityinfo.fitypes",
        ["DEPOSIT", 3],
        f"{INFO}.fitypes[1]",
        "must be a string, not a number",
    ),
    # baseurl
    (fip, "entityinfo.baseurl", GONE, f"{INFO}.baseurl", "missing or empty"),
    (fip, "entityinfo.baseurl", {"v2": "x"}, f"{INFO}.baseurl", "must be a string, not an object"),
    (
        fip,
        "entityinfo.baseurl",
        "http://a.example",
        f"{INFO}.baseurl",
        "did you mean https://a.example",
    ),
    (fip, "entityinfo.baseurl", "v2:http://a.example", f"{INFO}.baseurl", "has the scheme http"),
    (
        fip,
        "entityinfo.baseurl",
        "V2:https://a.example",
        f"{INFO}.baseurl",
        "did you mean v2:https://a.example",
    ),
    (
        fip,
        "entityinfo.baseurl",
        "v1:https://a.example, v2:https://a.example",
        f"{INFO}.baseurl",
        "did you mean v2:https://a.example",
    ),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://a.example,https://b.example",
        f"{INFO}.baseurl",
        "does not begin with a version",
    ),
    (fip, "entityinfo.baseurl", "v2:https://a.example,", f"{INFO}.baseurl", "an empty part"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://a.example,v2:https://b.example",
        f"{INFO}.baseurl",
        "version v2 more than once",
    ),
    (fip, "entityinfo.baseurl", "v2:", f"{INFO}.baseurl", "not an absolute URL"),
    (fip, "entityinfo.baseurl", "v2:a.example/v2", f"{INFO}.baseurl", "not an absolute URL"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://user:pass@a.example",
        f"{INFO}.baseurl",
        "user name or password",
    ),
    (fip, "entityinfo.baseurl", "v2:https://a.example/#x", f"{INFO}.baseurl", "has a fragment"),
    (fip, "entityinfo.baseurl", "v2:https://a.example/?x=1", f"{INFO}.baseurl", "has a query"),
    (fip, "entityinfo.baseurl", "v2:https://a.example/a/../b", f"{INFO}.baseurl", ". or .."),
    (fip, "entityinfo.baseurl", "v2:https://a.example/%2E%2e/b", f"{INFO}.baseurl", ". or .."),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://a.example/a b",
        f"{INFO}.baseurl",
        "character that a URL must not hold",
    ),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https:\\\\a.example",
        f"{INFO}.baseurl",
        "character that a URL must not hold",
    ),
    (fip, "entityinfo.baseurl", "v2:https://bäñk.example", f"{INFO}.baseurl", "xn--"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://a_b.example",
        f"{INFO}.baseurl",
        "letters, digits and hyphens",
    ),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://-a.example",
        f"{INFO}.baseurl",
        "letters, digits and hyphens",
    ),
    (
        fip,
        "entityinfo.baseurl",
        f"v2:https://{'a' * 64}.example",
        f"{INFO}.baseurl",
        "labels of 1 to 63",
    ),
    (fip, "entityinfo.baseurl", "v2:https://a..example", f"{INFO}.baseurl", "labels of 1 to 63"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://a.example.",
        f"{INFO}.baseurl",
        "did you mean a.example",
    ),
    (fip, "entityinfo.baseurl", "v2:https://ab--c.example", f"{INFO}.baseurl", "xn--"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://xn--zzzzzzzzzz99999999.example",
        f"{INFO}.baseurl",
        "xn--",
    ),
    (fip, "entityinfo.baseurl", "v2:https://localhost/v2", f"{INFO}.baseurl", "local host"),
    (fip, "entityinfo.baseurl", "v2:https://fip/v2", f"{INFO}.baseurl", "local host"),
    (fip, "entityinfo.baseurl", "v2:https://fip.internal", f"{INFO}.baseurl", "local host"),
    (fip, "entityinfo.baseurl", "v2:https://127.0.0.1", f"{INFO}.baseurl", "private or reserved"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://169.254.169.254",
        f"{INFO}.baseurl",
        "private or reserved",
    ),
    (fip, "entityinfo.baseurl", "v2:https://2130706433", f"{INFO}.baseurl", "four numbers"),
    (fip, "entityinfo.baseurl", "v2:https://0x7f.0.0.0x1", f"{INFO}.baseurl", "four numbers"),
    (fip, "entityinfo.baseurl", "v2:https://010.1.1.1", f"{INFO}.baseurl", "four numbers"),
    (fip, "entityinfo.baseurl", "v2:https://[::1]", f"{INFO}.baseurl", "private or reserved"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://[::ffff:10.0.0.1]",
        f"{INFO}.baseurl",
        "private or reserved",
    ),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://[64:ff9b::a00:1]",
        f"{INFO}.baseurl",
        "private or reserved",
    ),
    (fip, "entityinfo.baseurl", "v2:https://[fe80::1%25eth0]", f"{INFO}.baseurl", "IPv6"),
    (fip, "entityinfo.baseurl", "v2:https://[zz]", f"{INFO}.baseurl", "URL"),
    (fip, "entityinfo.baseurl", "v2:https://a.example:0", f"{INFO}.baseurl", "1 to 65535"),
    (fip, "entityinfo.baseurl", "v2:https://a.example:65536", f"{INFO}.baseurl", "1 to 65535"),
    (fip, "entityinfo.baseurl", "v2:https://a.example:", f"{INFO}.baseurl", "1 to 65535"),
    (fip, "entityinfo.baseurl", "v2:https://a.example:0443", f"{INFO}.baseurl", "1 to 65535"),
    (
        fip,
        "entityinfo.baseurl",
        "v2:https://a.example/" + "x" * 2048,
        f"{INFO}.baseurl",
        "at most 2048",
    ),
    (
        fip,
        "entityinfo.baseurl",
        ",".join(f"v{n}:https://a.example" for n in range(1, 10)),
        f"{INFO}.baseurl",
        "at most 8 versions",
    ),
    # ports and IP addresses
    (fip, "entityinfo.inboundports", None, f"{INFO}.inboundports", "missing or empty"),
    (fip, "entityinfo.inboundports", "443", f"{INFO}.inboundports", "must be an array"),
    (fip, "entityinfo.inboundports", [443], f"{INFO}.inboundports[0]", "did you mean 443"),
    (
        fip,
        "entityinfo.inboundports",
        [True],
        f"{INFO}.inboundports[0]",
        "must be a string, not true",
    ),
    (fip, "entityinfo.inboundports", ["0"], f"{INFO}.inboundports[0]", "1 to 65535"),
    (fip, "entityinfo.inboundports", ["65536"], f"{INFO}.inboundports[0]", "1 to 65535"),
    (fip, "entityinfo.inboundports", ["0443"], f"{INFO}.inboundports[0]", "did you mean 443"),
    (fip, "entityinfo.inboundports", ["443 "], f"{INFO}.inboundports[0]", "did you mean 443"),
    (
        fip,
        "entityinfo.outboundports",
        ["9000-8000"],
        f"{INFO}.outboundports[0]",
        "did you mean 8000-9000",
    ),
    (fip, "entityinfo.outboundports", ["80-80"], f"{INFO}.outboundports[0]", "did you mean 80"),
    (
        fip,
        "entityinfo.outboundports",
        ["8000 - 8010"],
        f"{INFO}.outboundports[0]",
        "did you mean 8000-8010",
    ),
    (fip, "entityinfo.outboundports", ["1-65536"], f"{INFO}.outboundports[0]", "1 to 65535"),
    (fip, "entityinfo.outboundports", ["any"], f"{INFO}.outboundports[0]", 'must not be "any"'),
    (fip, "entityinfo.outboundports", ["443"] * 65, f"{INFO}.outboundports", "at most 64 items"),
    (fip, "entityinfo.ips", GONE, f"{INFO}.ips", "missing or empty"),
    (fip, "entityinfo.ips", [12], f"{INFO}.ips[0]", "must be a string"),
    (fip, "entityinfo.ips", ["fip.example"], f"{INFO}.ips[0]", "an IPv4 or IPv6 address"),
    (fip, "entityinfo.ips", ["9.9.9.256"], f"{INFO}.ips[0]", "an IPv4 or IPv6 address"),
    (fip, "entityinfo.ips", ["09.9.9.9"], f"{INFO}.ips[0]", "did you mean 9.9.9.9"),
    (fip, "entityinfo.ips", ["9.9.9.9:443"], f"{INFO}.ips[0]", "did you mean 9.9.9.9"),
    (fip, "entityinfo.ips", ["9.9.9.9/24"], f"{INFO}.ips[0]", "did you mean 9.9.9.0/24"),
    (fip, "entityinfo.ips", ["0.0.0.0/0"], f"{INFO}.ips[0]", "too wide"),
    (fip, "entityinfo.ips", ["::/0"], f"{INFO}.ips[0]", "too wide"),
    (fip, "entityinfo.ips", ["10.1.2.3"], f"{INFO}.ips[0]", "private or reserved"),
    (fip, "entityinfo.ips", ["192.168.0.0/24"], f"{INFO}.ips[0]", "private or reserved"),
    (fip, "entityinfo.ips", ["224.0.0.1"], f"{INFO}.ips[0]", "which no machine has"),
    (fip, "entityinfo.ips", ["fe80::1%eth0"], f"{INFO}.ips[0]", "address"),
    (fip, "entityinfo.ips", [f"9.9.{n}.1" for n in range(101)], f"{INFO}.ips", "at most 100 items"),
    # certificate
    (fip, "entityinfo.certificate", GONE, CERT, "is missing"),
    (fip, "entityinfo.certificate", [], CERT, "must be an object, not an array"),
    (fip, "entityinfo.certificate", "-----BEGIN PUBLIC KEY-----", CERT, "mudra jwk new"),
    (fip, "entityinfo.certificate", "-----BEGIN RSA PRIVATE KEY-----", CERT, "this key has leaked"),
    (fip, "entityinfo.certificate.d", "c2VjcmV0", f"{CERT}.d", "this key has leaked"),
    (fip, "entityinfo.certificate.p", "c2VjcmV0", f"{CERT}.p", "this key has leaked"),
    (fip, "entityinfo.certificate.oth", [], f"{CERT}.oth", "this key has leaked"),
    (fip, "entityinfo.certificate.k", "c2VjcmV0", f"{CERT}.k", "this key has leaked"),
    (fip, "entityinfo.certificate.x5c", ["MII"], f"{CERT}.x5c", "leave it out"),
    (fip, "entityinfo.certificate.x5t#S256", "x", f"{CERT}.x5t#S256", "leave it out"),
    (fip, "entityinfo.certificate.KID", "x", f"{CERT}.KID", "did you mean kid"),
    (fip, "entityinfo.certificate.alg", "HS256", f"{CERT}.alg", "RS256, RS384"),
    (fip, "entityinfo.certificate.alg", "none", f"{CERT}.alg", 'must not be "none"'),
    (fip, "entityinfo.certificate.alg", "rs256", f"{CERT}.alg", "did you mean RS256"),
    (fip, "entityinfo.certificate.kty", "EC", f"{CERT}.kty", "allowed: RSA"),
    (fip, "entityinfo.certificate.kty", GONE, f"{CERT}.kty", "missing or empty"),
    (fip, "entityinfo.certificate.use", "enc", f"{CERT}.use", "allowed: sig"),
    (fip, "entityinfo.certificate.use", "SIG", f"{CERT}.use", "did you mean sig"),
    (fip, "entityinfo.certificate.kid", "", f"{CERT}.kid", "missing or empty"),
    (fip, "entityinfo.certificate.kid", "k" * 257, f"{CERT}.kid", "at most 256"),
    (fip, "entityinfo.certificate.e", GONE, f"{CERT}.e", "missing or empty"),
    (fip, "entityinfo.certificate.e", 65537, f"{CERT}.e", "must be a string, not a number"),
    (fip, "entityinfo.certificate.e", "AQAB==", f"{CERT}.e", "did you mean AQAB"),
    (fip, "entityinfo.certificate.e", "AAEAAQ", f"{CERT}.e", "did you mean AQAB"),
    (fip, "entityinfo.certificate.e", "Aw", f"{CERT}.e", "too small"),
    (fip, "entityinfo.certificate.e", "AQAA", f"{CERT}.e", "even number"),
    (fip, "entityinfo.certificate.e", b64(2**31 + 1), f"{CERT}.e", "too large"),
    (fip, "entityinfo.certificate.e", "AQA*", f"{CERT}.e", "not canonical Base64url"),
    (fip, "entityinfo.certificate.n", GONE, f"{CERT}.n", "missing or empty"),
    (fip, "entityinfo.certificate.n", jwk()["n"] + "==", f"{CERT}.n", "padded with ="),
    (fip, "entityinfo.certificate.n", "AA" + jwk()["n"], f"{CERT}.n", "Base64url"),
    (fip, "entityinfo.certificate.n", "+/" + jwk()["n"][2:], f"{CERT}.n", "+ is written -"),
    (fip, "entityinfo.certificate.n", jwk()["n"] + "\n", f"{CERT}.n", "not canonical Base64url"),
    (
        fip,
        "entityinfo.certificate.n",
        jwk()["n"][:-1] + "x",
        f"{CERT}.n",
        "not canonical Base64url",
    ),
    (fip, "entityinfo.certificate.n", b64(2**1023 + 1), f"{CERT}.n", "has 1024 bits"),
    (fip, "entityinfo.certificate.n", b64(2**2047 - 1), f"{CERT}.n", "has 2047 bits"),
    (fip, "entityinfo.certificate.n", b64(2**8192 + 1), f"{CERT}.n", "2048 to 8192 bits"),
    (fip, "entityinfo.certificate.n", b64(2**2047), f"{CERT}.n", "even number"),
    (fip, "entityinfo.certificate.n", b64(2**2048 - 1), f"{CERT}.n", "easily factored"),
    (fip, "entityinfo.certificate.n", b64((2**1024 + 643) ** 2), f"{CERT}.n", "easily factored"),
    (fip, "entityinfo.certificate.n", b64(CLOSE), f"{CERT}.n", "easily factored"),
    (fip, "entityinfo.certificate.n", "A" * 20_000, f"{CERT}.n", "has 20000 characters"),
    (fip, "entityinfo.baseurl", "V2:https://user:pass@a.example", f"{INFO}.baseurl", "credentials"),
    # the gateway
    (fip, "entityinfo.gsp", "gateway", f"{INFO}.gsp", "must be an object"),
    (
        fip,
        "entityinfo.gsp",
        {"id": "g", "name": "G", "ip": "9.9.9.9"},
        f"{INFO}.gsp.url",
        "missing or empty",
    ),
    (
        fip,
        "entityinfo.gsp",
        {"id": "g", "name": "G", "url": "https://g.example"},
        f"{INFO}.gsp.ip",
        "must be a string, not null",
    ),
    (
        fip,
        "entityinfo.gsp",
        {"id": "g", "name": "G", "ip": "9.9.9.9", "url": "http://g.example"},
        f"{INFO}.gsp.url",
        "has the scheme http",
    ),
    (
        fip,
        "entityinfo.gsp",
        {"id": "g", "name": "G", "ip": "9.9.9.9", "url": "https://g.example", "uri": "x"},
        f"{INFO}.gsp.uri",
        "did you mean url",
    ),
]


def changed(payload: dict[str, Any], member: str, value: object) -> dict[str, Any]:
    whole = copy.deepcopy(payload)
    *parents, name = member.split(".", 2)
    target = whole
    for parent in parents:
        target = target[parent]
    if value is GONE:
        del target[name]
    else:
        target[name] = value
    return whole


def findings(raw: object) -> list[Finding]:
    result = check_payload(raw, AddressPolicy(), shipped_vocabulary())
    assert isinstance(result, list), "the payload was taken"
    return result


@pytest.mark.parametrize(("base", "member", "value", "path", "words"), WRONG)
def test_a_wrong_payload_brings_its_finding(base, member, value, path, words):
    found = findings(changed(base(), member, value))

    sentences = [
        one.sentence() for one in found if one.path == path and one.severity is Severity.ERROR
    ]
    assert any(words in sentence for sentence in sentences), [one.sentence() for one in found]


@pytest.mark.parametrize(("base", "member", "value", "path", "words"), WRONG)
def test_one_wrong_thing_brings_findings_of_that_thing_only(base, member, value, path, words):
    found = findings(changed(base(), member, value))

    errors = [one.path for one in found if one.severity is Severity.ERROR]
    assert all(one.startswith(path) or path.startswith(one) for one in errors), errors
    assert len(errors) <= 3


def test_the_table_holds_at_least_120_wrong_payloads():
    assert len(WRONG) >= 120


def test_all_findings_come_at_once():
    payload = fip(
        name="",
        ips=["10.0.0.1", "x"],
        fitypes=["GOLD"],
        webviewurl="x",
        baseurl="http://u:p@localhost/#x",
    )
    payload["timestamp"] = "now"
    payload["entityinfo"]["certificate"] |= {"d": "x", "kty": "EC", "e": "Aw"}

    paths = [one.path for one in findings(payload)]

    assert set(paths) == {
        "$.timestamp",
        "$.entityinfo.name",
        "$.entityinfo.ips[0]",
        "$.entityinfo.ips[1]",
        "$.entityinfo.fitypes[0]",
        "$.entityinfo.webviewurl",
        "$.entityinfo.baseurl",
        "$.entityinfo.certificate.d",
        "$.entityinfo.certificate.kty",
        "$.entityinfo.certificate.e",
    }
    assert paths.count("$.entityinfo.baseurl") == 4


@pytest.mark.parametrize("raw", [None, [], "x", 1, True, 1.5, [{}]])
def test_what_is_no_object_has_one_finding(raw):
    assert len(findings(raw)) == 1


def test_an_empty_object_names_every_member_that_is_missing():
    assert [one.path for one in findings({})] == [
        "$.type",
        "$.ver",
        "$.timestamp",
        "$.txnid",
        "$.requester",
        "$.entityinfo",
    ]


def test_a_private_key_is_never_repeated():
    payload = changed(fip(), "entityinfo.certificate.d", "c2VjcmV0LXZhbHVl")
    payload["entityinfo"]["name"] = "-----BEGIN PRIVATE KEY-----c2VjcmV0"
    payload["entityinfo"]["id"] = "-----BEGIN PRIVATE KEY-----c2VjcmV0"
    payload["entityinfo"]["baseurl"] = (
        "v2:https://admin:c2VjcmV0@a.example,V3:https://admin:c2VjcmV0@a.example"
    )

    told = "".join(one.sentence() for one in findings(payload))

    assert "c2VjcmV0" not in told


def test_thousands_of_unknown_members_cost_little_and_are_counted():
    payload = fip() | {f"member{number}": 1 for number in range(5000)}

    found = findings(payload)

    assert len(found) == 21
    assert "has 4980 more unknown members" in found[20].sentence()
