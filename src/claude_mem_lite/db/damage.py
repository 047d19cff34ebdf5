"""The error for a database that SQLite can read, and that nobody can have written so."""

import sqlite3


def damaged(what: str) -> sqlite3.DatabaseError:
    """An error that counts as damage of the file, as SQLite's own do."""
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error
