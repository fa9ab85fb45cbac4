"""All that children of the fault tests import. They are forked from a process that has done so already."""

from __future__ import annotations

import importlib

MODULES = (
    "alembic.command",
    "headgate.cli.app",
    "headgate.cli.judge_batches",
    "headgate.cli.recorded_runs",
    "headgate.cli.report_files",
    "headgate.cli.commands.run_summary",
    "headgate.gate.publish.folders",
    "headgate.project.files",
    "headgate.project.project",
    "headgate.project.store",
    "headgate.store.files.objects",
    "headgate.store.sql",
    "psycopg",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "rich.console",
    "rich.progress",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "tests.faults.__main__",
)

for each in MODULES:
    importlib.import_module(each)
