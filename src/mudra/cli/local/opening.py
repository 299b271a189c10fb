"""What keeps a store from opening, in sentences with the way out; loads nothing heavy."""

import contextlib
from collections.abc import Iterator

import psycopg

from mudra.cli.output.output import Exit
from mudra.storage.crypto.keyring import CiphertextInvalid, MasterVersionMissing
from mudra.storage.crypto.master_key import MasterKeyError
from mudra.storage.database.embedded.server import EmbeddedServerError
from mudra.storage.database.migrate import SchemaUnknown
from mudra.storage.database.unavailable import DatabaseUnavailable


class StoreClosed(Exception):
    """The store cannot be opened, or did not stay open: the text says why and the way out."""

    def __init__(self, sentence: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(sentence)
        self.code = code


@contextlib.contextmanager
def opening() -> Iterator[None]:
    """Raise StoreClosed for what may be wrong with data directory, database and master key."""
    try:
        yield
    except (EmbeddedServerError, MasterKeyError, SchemaUnknown) as error:
        raise StoreClosed(str(error)) from error
    except (CiphertextInvalid, MasterVersionMissing) as error:
        raise StoreClosed(f"{error}: is this the master key of this database?") from error
    except DatabaseUnavailable as error:
        raise StoreClosed(_NO_ANSWER, Exit.UNREACHABLE) from error
    except psycopg.OperationalError as error:
        raise StoreClosed(_told_by(error), Exit.UNREACHABLE) from error
    except psycopg.ProgrammingError as error:
        if error.sqlstate is not None:
            raise  # said by a server, so the address was right
        # Its text repeats what could not be read, and that holds a password.
        raise StoreClosed(
            "MUDRA_DATABASE_URL cannot be read: write postgresql://user:password@host/database"
        ) from error


_NO_ANSWER = (
    "the database did not answer: check MUDRA_DATABASE_URL, or MUDRA_DATA_DIR and the service"
)


def _told_by(error: psycopg.OperationalError) -> str:
    """Add what the driver or the server said, which names host, port and user but no password."""
    reason = " ".join(str(error).split())
    return f"{_NO_ANSWER} ({reason})" if reason else _NO_ANSWER
