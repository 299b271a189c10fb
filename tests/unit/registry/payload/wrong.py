"""Wrong payloads of the registry: what the members and their types may be."""

import base64
import copy
from typing import Any

from tests.support.registry.registry_payloads import aa, fip, fiu

GONE = object()
INFO = "$.entityinfo"
CERT = f"{INFO}.certificate"


def b64(number: int) -> str:
    octets = number.to_bytes(max(1, (number.bit_length() + 7) // 8))
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


CLOSE = (2**1024 + 643) * (2**1024 + 1081)


def changed(payload: dict[str, Any], member: str, value: object) -> dict[str, Any]:
    """A payload with one member replaced, or left out."""
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


# base payload, member to replace, its new value, path of the finding, words in its sentence
WRONG_MEMBERS: list[tuple[Any, str, object, str, str]] = [
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
    (fip, "a b", 1, '$["a b"]', "is not a field of this object"),
    (fip, "\ud800", 1, r"$['\ud800']", "is not a field"),
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
    (fip, "entityinfo.credentialsPk", "1", f"{INFO}.credentialsPk", "not a field"),
    # what belongs to one type only
    (fip, "entityinfo.entityhandle", {}, f"{INFO}.entityhandle", "must be empty for type FIP"),
    (fip, "entityinfo.webviewurl", {}, f"{INFO}.webviewurl", "must be empty for type FIP"),
    (fiu, "entityinfo.fitypes", {"": ""}, f"{INFO}.fitypes", "must be empty for type FIU"),
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
]
