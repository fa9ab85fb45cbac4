"""Ships the code of this package to executors that lack it. Compiled dependencies must be installed there."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.engine.spark_session import is_connect
from headgate.values.errors import EngineError

_MISSING = re.compile(r"No module named '([\w.]+)'")


def missing_module(error: Exception) -> str:
    """The module that a worker could not import; empty if the error is another one."""
    match = _MISSING.search(str(error))
    return match.group(1) if match else ""


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


def explain_failure(error: Exception, first_line: str) -> EngineError:
    """The error of a scan that computed nothing, with a hint."""
    module = missing_module(error)
    if module:
        return EngineError(
            f"the Python of Spark's workers has no module {module!r}.",
            hint="Install headgate there (pip install headgate), or point PYSPARK_PYTHON at a Python that has it.",
        )
    return EngineError(f"the batch could not be read: {first_line}")
