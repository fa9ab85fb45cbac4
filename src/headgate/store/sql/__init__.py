"""The history in SQL: SQLite for one machine, PostgreSQL for many."""

from headgate.values.extras import import_extra

import_extra("sqlalchemy", "a history in SQL needs SQLAlchemy.", "sql")

from headgate.store.sql.store import SqlStore

__all__ = ["SqlStore"]
