"""The history in SQL: SQLite for one machine, PostgreSQL for many."""

from headgate.values.errors import MisuseError

try:
    import sqlalchemy as _sqlalchemy  # noqa: F401
except ModuleNotFoundError:
    raise MisuseError("a history in SQL needs SQLAlchemy.", hint="pip install 'headgate[sql]'") from None

from headgate.store.sql.store import SqlStore

__all__ = ["SqlStore"]
