"""Database roles: the owner migrates, the service serves, the reader looks.

| role | may |
|---|---|
| owner | own schema and tables: migrations, and nothing else, run as it |
| service | read and write rows; of the sealed audit tables read and add only; no DDL |
| reader | read entities, registry, metrics and the public halves of signing keys |

None is a superuser, so none reads a file of the machine, and the master key is one. What the
service needs of the owner's rights are functions of the baseline schema: partitions of metrics,
and the list of open transactions.
"""

from typing import Final
from urllib.parse import quote, urlencode

import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Composed, Identifier, Literal

OWNER: Final = "mudra_owner"
SERVICE: Final = "mudra_service"
READER: Final = "mudra_reader"
APPEND_ONLY: Final = (
    *("audit_event", "audit_seal", "audit_checkpoint", "audit_epoch"),
    *("audit_token_block", "audit_token_drop", "audit_archive"),
)
"""Sealed by hashes. `audit_anonymous` and `audit_token_issue` are not among them: they hold what
is not sealed yet."""
FUNCTIONS: Final = (
    "metrics_partition_make(text, timestamptz)",
    "metrics_partition_drop(text, timestamptz)",
    "audit_open_writers()",
    "audit_token_blocks_drop(bigint)",
    "audit_archived_drop(bigint, integer)",
)
_REVISIONS: Final = ("alembic_version", "schema_version")
_LOCK: Final = 0x6D7564726F6C
_READABLE: Final = ("entity", "health_silence", "job_run", "node", "token_day")
_READABLE_COLUMNS: Final = "kid, kind, public_jwk, created_at, active_from, retires_at, revoked_at"
_TABLES: Final = (
    "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
    " AND c.relkind IN ('r', 'p')"
)
_GRANTED: Final = f"""
SELECT coalesce(bool_and(CASE
    WHEN c.relname = ANY(%(revisions)s::text[]) THEN
        has_table_privilege(%(role)s::name, c.oid, 'SELECT')
    WHEN c.relname = ANY(%(append_only)s::text[]) THEN
        has_table_privilege(%(role)s::name, c.oid, 'SELECT')
        AND has_table_privilege(%(role)s::name, c.oid, 'INSERT')
        AND NOT has_table_privilege(%(role)s::name, c.oid, 'UPDATE, DELETE, TRUNCATE')
    ELSE has_table_privilege(%(role)s::name, c.oid, 'SELECT')
        AND has_table_privilege(%(role)s::name, c.oid, 'INSERT')
        AND has_table_privilege(%(role)s::name, c.oid, 'UPDATE')
        AND has_table_privilege(%(role)s::name, c.oid, 'DELETE') END), false)
    AND (SELECT bool_and(has_function_privilege(%(role)s::name, f, 'EXECUTE')
                         AND NOT has_function_privilege(%(reader)s::name, f, 'EXECUTE'))
         FROM unnest(%(functions)s::text[]) f)
    AND has_sequence_privilege(%(role)s::name, 'audit_event_seq_seq', 'SELECT')
    AND has_sequence_privilege(%(role)s::name, 'audit_event_seq_seq', 'USAGE')
FROM ({_TABLES} AND NOT c.relispartition) named JOIN pg_class c ON c.relname = named.relname
WHERE c.relnamespace = current_schema()::regnamespace
"""  # noqa: S608 - of constants of this file alone
_EXCESS: Final = """
SELECT pg_has_role(current_user, 'pg_read_server_files', 'USAGE')
           OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       has_schema_privilege(current_schema(), 'CREATE'),
       has_table_privilege('audit_event', 'UPDATE, DELETE, TRUNCATE')
"""


class Role(Struct, frozen=True):
    """A role to make; the password is empty where the server asks for none."""

    name: str
    password: str = ""


class AdminTooWeak(Exception):
    """The address that should make the roles is not a superuser's."""


def as_role(conninfo: str, name: str) -> str:
    """The same address for another role, as a URL; a password is left out."""
    given = conninfo_to_dict(conninfo)
    database = quote(str(given.get("dbname") or ""), safe="")
    left_out = {"user", "password", "dbname"}
    kept = {key: value for key, value in given.items() if key not in left_out}
    # Host and port as parameters, which take several hosts and a directory of sockets alike.
    return f"postgresql://{quote(name, safe='')}@/{database}?{urlencode(kept, quote_via=quote)}"


def without(conninfo: str, *names: str, **others: str | int) -> str:
    """The same address without some of its parameters, and with others."""
    kept = {name: value for name, value in conninfo_to_dict(conninfo).items() if name not in names}
    return make_conninfo("", **{**kept, **others})


def role_of(conninfo: str) -> Role:
    """The role that an address names, with its password."""
    given = conninfo_to_dict(conninfo)
    return Role(str(given.get("user") or ""), str(given.get("password") or ""))


def make_roles(admin: str, owner: Role, service: Role, *, close_superuser: bool = False) -> None:
    """Make the three roles and give database, schema and all that is in it to the owner.

    `admin` is a superuser's address of the database; `close_superuser` ends its sign-ins, so that
    no role is left that can read files. A second run changes what differs.

    Raises AdminTooWeak.
    """
    with psycopg.connect(admin, connect_timeout=5, options="-c lock_timeout=30000") as connection:
        superuser = connection.execute(
            "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        if superuser is None or not superuser[0]:
            raise AdminTooWeak
        _do(connection, SQL("SELECT pg_advisory_xact_lock({})").format(Literal(_LOCK)))
        for role in (owner, service, Role(READER)):
            _make(connection, role)
        _give(connection, Identifier(owner.name), Identifier(service.name))
        if close_superuser:
            _do(connection, SQL("ALTER ROLE CURRENT_USER NOLOGIN"))


def grant(owner: str, service: str) -> None:
    """Give `service` and the reader their rights, unless they have exactly those."""
    with psycopg.connect(owner, connect_timeout=5, options="-c lock_timeout=30000") as connection:
        if is_granted(connection, service):
            return
        _do(connection, SQL("SELECT pg_advisory_xact_lock({})").format(Literal(_LOCK)))
        role, reader = Identifier(service), Identifier(READER)
        schema = connection.execute("SELECT current_schema()").fetchone()
        assert schema is not None
        named = Identifier(str(schema[0]))
        for one in (role, reader):
            _do(connection, SQL("GRANT USAGE ON SCHEMA {} TO {}").format(named, one))
            _do(connection, SQL("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {}").format(named, one))
        for (table,) in connection.execute(f"{_TABLES} AND NOT c.relispartition").fetchall():
            _do(connection, _of_service(str(table)).format(Identifier(str(table)), role))
            if table in _READABLE or str(table).startswith(("registry_", "metrics_")):
                _do(connection, SQL("GRANT SELECT ON {} TO {}").format(Identifier(table), reader))
        _do(
            connection,
            SQL(f"GRANT SELECT ({_READABLE_COLUMNS}) ON signing_key TO {{}}").format(reader),
        )
        # The numbers of audit rows: `mudra audit verify` asks for the last, token issues take some.
        _do(
            connection,
            SQL("GRANT SELECT, USAGE ON SEQUENCE audit_event_seq_seq TO {}").format(role),
        )
        for function in FUNCTIONS:
            _do(connection, SQL(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC"))
            _do(connection, SQL(f"GRANT EXECUTE ON FUNCTION {function} TO {{}}").format(role))


def excess_rights(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    """Return the rights of the connected role that the service does not need."""
    found = connection.execute(_EXCESS).fetchone()
    assert found is not None
    texts = ("read files of the database's machine", "change the schema", "change the audit")
    return [text for text, may in zip(texts, found, strict=True) if may]


def is_granted(connection: psycopg.Connection[tuple[object, ...]], service: str) -> bool:
    """Return whether `service` and the reader have exactly their rights."""
    row = connection.execute(
        _GRANTED.encode(),
        {
            "role": service,
            "reader": READER,
            "revisions": list(_REVISIONS),
            "append_only": list(APPEND_ONLY),
            "functions": list(FUNCTIONS),
        },
    ).fetchone()
    return row is not None and bool(row[0])


def _of_service(table: str) -> SQL:
    if table in _REVISIONS:
        return SQL("GRANT SELECT ON {} TO {}")
    if table in APPEND_ONLY:
        return SQL("GRANT SELECT, INSERT ON {} TO {}")
    return SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {}")


def _make(connection: psycopg.Connection[tuple[object, ...]], role: Role) -> None:
    found = connection.execute(
        "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR NOT rolcanlogin"
        " FROM pg_roles WHERE rolname = %s",
        [role.name],
    ).fetchone()
    name = Identifier(role.name)
    if found is None:
        _do(connection, SQL("CREATE ROLE {} LOGIN").format(name))
    elif found[0]:
        _do(
            connection,
            SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOBYPASSRLS").format(name),
        )
    if role.password:
        # Hashed here: a server that logs statements would log the password.
        hashed = connection.pgconn.encrypt_password(
            role.password.encode(), role.name.encode(), b"scram-sha-256"
        )
        _do(connection, SQL("ALTER ROLE {} PASSWORD {}").format(name, Literal(hashed.decode())))


def _give(
    connection: psycopg.Connection[tuple[object, ...]], owner: Identifier, service: Identifier
) -> None:
    """The owner is a member of the service's role: so it sees the service's transactions."""
    row = connection.execute("SELECT current_database(), current_schema()").fetchone()
    assert row is not None
    database, schema = Identifier(str(row[0])), Identifier(str(row[1]))
    reader = Identifier(READER)
    for statement in (
        SQL("GRANT {} TO {}").format(service, owner),
        SQL("ALTER DATABASE {} OWNER TO {}").format(database, owner),
        SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database),
        SQL("GRANT CONNECT ON DATABASE {} TO {}, {}").format(database, service, reader),
        SQL("ALTER SCHEMA {} OWNER TO {}").format(schema, owner),
        SQL("REVOKE ALL ON SCHEMA {} FROM PUBLIC").format(schema),
        SQL("GRANT USAGE ON SCHEMA {} TO {}, {}").format(schema, service, reader),
    ):
        _do(connection, statement)
    of_others = (
        " AND c.relowner <> (SELECT datdba FROM pg_database WHERE datname = current_database())"
    )
    for (table,) in connection.execute(f"{_TABLES}{of_others}").fetchall():
        _do(connection, SQL("ALTER TABLE {} OWNER TO {}").format(Identifier(str(table)), owner))
    for function in FUNCTIONS:
        found = connection.execute("SELECT to_regprocedure(%s)", [function]).fetchone()
        if found is not None and found[0] is not None:
            _do(connection, SQL(f"ALTER FUNCTION {function} OWNER TO {{}}").format(owner))


def _do(connection: psycopg.Connection[tuple[object, ...]], statement: SQL | Composed) -> None:
    connection.execute(statement)
