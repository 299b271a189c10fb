"""One file per page, which never reaches past a use case."""
