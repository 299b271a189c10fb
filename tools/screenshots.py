"""Take the pictures of the README and the docs from a real sandbox: `make screenshots`.

Needs a Chromium (tools/install_chromium.sh). Data and service are of the run's own.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path("docs/images")
MUDRA = str(Path(sys.executable).with_name("mudra"))
NEWCOMER = (
    "GODAVARI-FIP", "--type", "FIP", "--name", "Godavari Bank",
    "--admin", "nila@godavaribank.example", "--admin-name", "Nila Menon",
)  # fmt: skip
ADDRESS = re.compile(r"Mudra answers at (?P<root>http://\S+)/iam")


def main() -> int:
    """Start a sandbox, photograph it, stop it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium on this machine: run tools/install_chromium.sh", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        where = ["--data-dir", str(Path(folder) / "data")]
        served = subprocess.Popen(
            [MUDRA, "serve", "--sandbox", "--demo", "--port", "0", *where],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            root = address_of(served)
            subprocess.run([MUDRA, "member", "onboard", *NEWCOMER, *where], check=True)
            listed = subprocess.run(
                [MUDRA, "mail", "list", "--json", *where], check=True, capture_output=True
            )
            link = json.loads(listed.stdout)[-1]["links"][0]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox"]
                )
                photograph(browser, f"{root}/", "sandbox.png", 860)
                photograph(browser, link, "activation.png", 620)
                browser.close()
        finally:
            served.terminate()
            served.wait(60)
    return 0


def address_of(served: "subprocess.Popen[str]") -> str:
    """Read the service's address from what it prints."""
    assert served.stdout is not None
    for line in served.stdout:
        found = ADDRESS.search(line)
        if found:
            return found["root"]
    raise SystemExit("the service did not start")


def photograph(browser: Browser, url: str, name: str, height: int) -> None:
    """Save one page at 1280 pixels."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(
        viewport={"width": 1280, "height": height}, color_scheme="light", device_scale_factor=2
    )
    page.goto(url, wait_until="networkidle")
    page.screenshot(path=IMAGES / name)
    page.close()
    print(IMAGES / name)


if __name__ == "__main__":
    sys.exit(main())
