"""Executors that lack this package get its code with the job; what is compiled they must have."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.engine.spark_session import is_connect
from headgate.values.errors import EngineError

_MISSING = re.compile(r"No module named '([\w.]+)'")


def missing_module(trouble: Exception) -> str:
    """The module that a worker could not import, if that is what went wrong."""
    found = _MISSING.search(str(trouble))
    return found.group(1) if found else ""


def ship_code(spark: SparkSession) -> None:
    """Send this package's own Python files to the executors of the session."""
    archive = Path(tempfile.mkdtemp(prefix="headgate-")) / "headgate.zip"
    home = Path(__file__).parents[1]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(home.rglob("*.py")):
            packed.write(file, file.relative_to(home.parent))
    if is_connect(spark):
        spark.addArtifacts(str(archive), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(archive))


def explain_failure(trouble: Exception, first_line: str) -> EngineError:
    """An error that says what to do about a scan of which nothing could be computed."""
    lacking = missing_module(trouble)
    if lacking:
        return EngineError(
            f"the Python of Spark's workers has no module {lacking!r}.",
            hint="Install headgate there (pip install headgate), or point PYSPARK_PYTHON at a Python that has it.",
        )
    return EngineError(f"the batch could not be read: {first_line}")
