"""Ships the code of this package to executors that lack it. Compiled dependencies must be installed there."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

from headgate.engine.spark_workers import is_connect


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
