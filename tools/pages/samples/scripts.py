"""Samples for a shell, Python and Node.js."""

import json
from collections.abc import Mapping

from tools.pages.samples.call import Call, pieces, variables


def curl(call: Call) -> str:
    """Returns a command of a shell."""
    method = {"GET": "", "POST": ""}.get(call.method, f"-X {call.method} ")
    lines = [f'curl -sS --fail-with-body --max-time 30 {method}"$ROOT{call.path}"']
    if call.bearer:
        lines.append(f'-H "Authorization: Bearer ${call.bearer}"')
    if call.basic:
        lines.append(f'-u "{call.basic[0]}:{call.basic[1]}"')
    for name, value in (call.form or {}).items():
        quoted = f'"{name}={value}"' if "$" in value else f"{name}={value}"
        lines.append(f"--data-urlencode {quoted}")
    if call.fields or call.file:
        lines.append("-H 'Content-Type: application/json'")
    if call.fields:
        body = json.dumps(dict(call.fields)).replace('"', '\\"')
        lines.append(f'-d "{body}"')
    if call.file:
        lines.append(f"--data-binary @{call.file}")
    return " \\\n  ".join(lines) + "\n"


def python(call: Call) -> str:
    """Returns a program with the library requests."""
    arguments = [f"    {_python_text('$ROOT' + call.path)},"]
    if call.bearer:
        token = _python_text(f"Bearer ${call.bearer}")
        arguments.append(f'    headers={{"Authorization": {token}}},')
    if call.basic:
        arguments.append(f"    auth=({', '.join(map(_python_text, call.basic))}),")
    if call.form:
        arguments.append(f"    data={_python_dict(call.form)},")
    if call.fields:
        arguments.append(f"    json={_python_dict(call.fields)},")
    if call.file:
        arguments.append(f'    json=json.load(open("{call.file}")),')
    imports = ["import json", "import os"] if call.file else ["import os"]
    lines = [
        *imports,
        "",
        "import requests",
        "",
        f"answer = requests.{call.method.lower()}(",
        *arguments,
        "    timeout=30,",
        ")",
        "if not answer.ok:",
        "    raise SystemExit(answer.text)",
        "print(answer.text)",
    ]
    return "\n".join(lines) + "\n"


def node(call: Call) -> str:
    """Returns a module with the `fetch` of Node.js."""
    used = variables(call)
    headers, body = _js_headers(call), _js_body(call)
    options = [f'  method: "{call.method}",'] if call.method != "GET" else []
    options += [f"  headers: {{ {', '.join(headers)} }},"] if headers else []
    options += [f"  body: {body},"] if body else []
    options.append("  signal: AbortSignal.timeout(30_000),")
    start = f"const answer = await fetch({_js_text('$ROOT' + call.path)}"
    lines = [
        *(['import { readFileSync } from "node:fs";', ""] if call.file else []),
        f"const {{ {', '.join(used)} }} = process.env;",
        f"{start}, {{",
        *options,
        "});",
        "const text = await answer.text();",
        "if (!answer.ok) throw new Error(text);",
        "console.log(text);",
    ]
    return "\n".join(lines) + "\n"


def _python_text(text: str) -> str:
    parts = pieces(text)
    if all(kind == "text" for kind, _ in parts):
        return json.dumps(text)
    if len(parts) == 1:
        return f'os.environ["{parts[0][1]}"]'
    inner = "".join(part if kind == "text" else f"{{os.environ['{part}']}}" for kind, part in parts)
    return f'f"{inner}"'


def _python_dict(members: Mapping[str, str | int]) -> str:
    shown = (
        f'"{name}": {_python_text(value) if isinstance(value, str) else value}'
        for name, value in members.items()
    )
    return f"{{{', '.join(shown)}}}"


def _js_text(text: str) -> str:
    parts = pieces(text)
    if all(kind == "text" for kind, _ in parts):
        return json.dumps(text)
    if len(parts) == 1:
        return parts[0][1]
    return "`" + "".join(part if k == "text" else f"${{{part}}}" for k, part in parts) + "`"


def _js_headers(call: Call) -> list[str]:
    headers = []
    if call.bearer:
        headers.append(f"Authorization: `Bearer ${{{call.bearer}}}`")
    if call.basic:
        user, password = (one.removeprefix("$") for one in call.basic)
        headers.append(f"Authorization: `Basic ${{btoa(`${{{user}}}:${{{password}}}`)}}`")
    if call.fields or call.file:
        headers.append('"Content-Type": "application/json"')
    return headers


def _js_body(call: Call) -> str:
    if call.form:
        return f"new URLSearchParams({_js_object(call.form)})"
    if call.fields:
        return f"JSON.stringify({_js_object(call.fields)})"
    return f'readFileSync("{call.file}")' if call.file else ""


def _js_object(members: Mapping[str, str | int]) -> str:
    shown = (
        f"{name}: {_js_text(value) if isinstance(value, str) else value}"
        for name, value in members.items()
    )
    return f"{{ {', '.join(shown)} }}"
