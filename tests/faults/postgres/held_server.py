"""A program that holds the embedded server until a descriptor is at its end.

python tests/faults/postgres/held_server.py DATA_DIR KIND DESCRIPTOR
"""

import os
import sys
from pathlib import Path

from mudra.storage.database.embedded.programs import EmbeddedServerError
from mudra.storage.database.embedded.server import EmbeddedServer


def main() -> None:
    """Print the server's URL and wait; of the kind `forks` a child of this process waits too."""
    data_dir, kind, descriptor = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    server = EmbeddedServer(data_dir)
    try:
        url = server.hold()
    except EmbeddedServerError as error:
        print(f"refused: {error}", flush=True)
        return
    child = os.fork() if kind == "forks" else 0
    if kind == "forks" and not child:
        server.hold_in_child()
        print(url, os.getpid(), flush=True)
    elif not child:
        print(url, flush=True)
    os.read(descriptor, 1)
    server.leave()


if __name__ == "__main__":
    main()
