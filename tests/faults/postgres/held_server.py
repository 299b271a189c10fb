"""A program that holds the embedded server until a descriptor is at its end.

python tests/faults/postgres/held_server.py DATA_DIR KIND DESCRIPTOR
"""

import os
import sys
from pathlib import Path

from mudra.storage.database.embedded.programs import EmbeddedServerError
from mudra.storage.database.embedded.server import embedded_server


def main() -> None:
    """Print the server's URL and wait; of the kind `forks` a child of this process waits too."""
    data_dir, kind, descriptor = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    try:
        with embedded_server(data_dir) as url:
            child = os.fork() if kind == "forks" else 0
            if child:
                print(url, child, flush=True)
            elif kind != "forks":
                print(url, flush=True)
            os.read(descriptor, 1)
            if kind == "forks" and not child:
                os._exit(0)
    except EmbeddedServerError as error:
        print(f"refused: {error}", flush=True)


if __name__ == "__main__":
    main()
