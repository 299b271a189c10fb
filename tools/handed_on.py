"""Give a bare machine what this one reaches registries by: certificates, proxies, mirrors.

Behind a company's proxy a machine without them reaches no registry. No cache is handed on.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

_VARIABLES: Final = re.compile(
    r"SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO"
    r"|(PIP|UV)_\w*(CERT|INDEX|LINKS|TRUSTED|INSECURE|CONSTRAINT|CONFIG|TIMEOUT|RETRIES|TLS)\w*"
    r"|npm_config_(registry|ca|cafile|strict_ssl|userconfig|globalconfig|fetch_\w+)"
    r"|\w*_proxy|pip_proxy",
    re.IGNORECASE,
)
_OF_THE_SYSTEM: Final = (
    "/etc/apt/auth.conf.d", "/etc/hosts", "/etc/npmrc", "/etc/pip.conf", "/etc/resolv.conf",
    "/etc/uv", "/etc/xdg/pip", "/usr/local/share/ca-certificates",
)  # fmt: skip
_OF_THE_PERSON: Final = (".config/pip", ".config/uv", ".npmrc", ".pip")


def handed_variables() -> dict[str, str]:
    """Returns the variables of the environment by which registries are reached."""
    return {name: value for name, value in os.environ.items() if _VARIABLES.fullmatch(name)}


def acquire_options() -> str:
    """Returns how apt fetches here, as lines of its configuration: proxies, certificates, times."""
    lines = _apt_configuration()
    return "".join(f"{line}\n" for line in lines if line.startswith("Acquire::"))


def sources_of(suite: str) -> list[str]:
    """Returns this machine's lists of sources for a suite; none where it has another Debian."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    found = [one for one in places if one.suffix in {".list", ".sources"} and one.is_file()]
    return [str(one) for one in found if suite in one.read_text()]


def hand_on(root: Path, home: Path) -> None:
    """Copy settings, and what variables and apt name, into the machine below `root`."""
    for place in _OF_THE_SYSTEM:
        _copy(Path(place), root / place[1:])
    for place in _OF_THE_PERSON:
        _copy(Path.home() / place, root / home.relative_to("/") / place)
    subprocess.run(["chroot", root, "update-ca-certificates"], capture_output=True, check=True)
    named = [*handed_variables().values(), *re.findall(r'"(/[^"]+)"', acquire_options())]
    for value in named:
        if value.startswith("/"):
            _copy(Path(value), root / value[1:])


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a directory that the machine has not; links are followed."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(source, target)
    elif source.is_dir() and (not target.exists() or not any(target.iterdir())):
        shutil.copytree(source, target, dirs_exist_ok=True)


def _apt_configuration() -> list[str]:
    done = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()
