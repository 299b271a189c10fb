"""Samples in Java and Go."""

import json
from typing import Final

from tools.pages.samples.call import Call, pieces

_GO_FAILED: Final = ("if err != nil {", "\tlog.Fatal(err)", "}")
_JAVA: Final = """{imports}
public class Sample {{
  public static void main(String[] arguments) throws Exception {{
    var request = HttpRequest.newBuilder(URI.create({url}))
        {chain}
        .timeout(Duration.ofSeconds(30))
        .build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 300) throw new IllegalStateException(answer.body());
    System.out.println(answer.body());
  }}
{helpers}}}
"""
_JAVA_ENCODED: Final = """
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
"""
_JAVA_BASIC: Final = """
  static String basic(String user, String password) {
    var both = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(both);
  }
"""


def java(call: Call) -> str:
    """Returns a program for the JDK alone, from 17 on; it prints the whole body."""
    parts = [f'.header("Authorization", {value})' for value in _authorization(call)]
    body, of = "", ""
    if call.form:
        parts.append('.header("Content-Type", "application/x-www-form-urlencoded")')
        pairs = (f'"{name}=" + encoded({_java_text(value)})' for name, value in call.form.items())
        body = ' + "&" + '.join(pairs)
        of = f"HttpRequest.BodyPublishers.ofString({body})"
    elif call.fields:
        body = _java_text(json.dumps(dict(call.fields)))
        of = f"HttpRequest.BodyPublishers.ofString({body})"
    elif call.file:
        of = f'HttpRequest.BodyPublishers.ofFile(Path.of("{call.file}"))'
    if call.fields or call.file:
        parts.append('.header("Content-Type", "application/json")')
    parts.append(f'.method("{call.method}", {of or "HttpRequest.BodyPublishers.noBody()"})')
    chain = "\n        ".join(parts)
    helpers = _JAVA_ENCODED if call.form else ""
    basic = _JAVA_BASIC if call.basic else ""
    return _JAVA.format(
        imports=_java_imports(call),
        url=_java_text("$ROOT" + call.path),
        chain=chain,
        helpers=helpers + basic,
    )


def go(call: Call) -> str:
    """Returns a program with Go's standard library; it prints the whole body."""
    imports = {"fmt", "io", "log", "net/http", "os", "time"}
    before: list[str] = []
    body = "nil"
    if call.form:
        imports |= {"net/url", "strings"}
        pairs = ", ".join(f'"{name}": {{{_go_text(value)}}}' for name, value in call.form.items())
        before.append(f"form := url.Values{{{pairs}}}")
        body = "strings.NewReader(form.Encode())"
    elif call.fields:
        imports |= {"strings"}
        body = f"strings.NewReader({_go_text(json.dumps(dict(call.fields)))})"
    elif call.file:
        before += [f'body, err := os.Open("{call.file}")', *_GO_FAILED]
        body = "body"
    sets = []
    if call.bearer:
        sets.append(f'request.Header.Set("Authorization", {_go_text(f"Bearer ${call.bearer}")})')
    if call.basic:
        sets.append(f"request.SetBasicAuth({', '.join(map(_go_text, call.basic))})")
    if call.form:
        sets.append('request.Header.Set("Content-Type", "application/x-www-form-urlencoded")')
    elif call.fields or call.file:
        sets.append('request.Header.Set("Content-Type", "application/json")')
    url = _go_text("$ROOT" + call.path)
    lines = [
        *before,
        f'request, err := http.NewRequest("{call.method}", {url}, {body})',
        *_GO_FAILED,
        *sets,
        "client := http.Client{Timeout: 30 * time.Second}",
        "answer, err := client.Do(request)",
        *_GO_FAILED,
        "defer answer.Body.Close()",
        "text, _ := io.ReadAll(answer.Body)",
        "if answer.StatusCode >= 300 {",
        "\tlog.Fatal(string(text))",
        "}",
        "fmt.Println(string(text))",
    ]
    named = "\n".join(f'\t"{one}"' for one in sorted(imports))
    main = "\n".join(f"\t{line}" for line in lines)
    return f"package main\n\nimport (\n{named}\n)\n\nfunc main() {{\n{main}\n}}\n"


def _java_imports(call: Call) -> str:
    names = ["java.net.URI", "java.net.http.HttpClient", "java.net.http.HttpRequest"]
    names += ["java.time.Duration"]
    names += ["java.net.http.HttpResponse"]
    if call.form:
        names += ["java.net.URLEncoder", "java.nio.charset.StandardCharsets"]
    if call.basic:
        names += ["java.util.Base64"]
    if call.file:
        names += ["java.nio.file.Path"]
    return "".join(f"import {name};\n" for name in sorted(names))


def _authorization(call: Call) -> list[str]:
    """Returns the values of the header as expressions of Java."""
    if call.bearer:
        return [_java_text(f"Bearer ${call.bearer}")]
    return [f"basic({', '.join(map(_java_text, call.basic))})"] if call.basic else []


def _java_text(text: str) -> str:
    return " + ".join(
        json.dumps(part) if kind == "text" else f'System.getenv("{part}")'
        for kind, part in pieces(text)
    )


def _go_text(text: str) -> str:
    return "+".join(
        (f"`{part}`" if '"' in part else json.dumps(part))
        if kind == "text"
        else f'os.Getenv("{part}")'
        for kind, part in pieces(text)
    )
