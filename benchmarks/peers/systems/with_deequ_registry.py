# /// script
# requires-python = "==3.11.*"
# dependencies = ["pyspark==3.5.9", "pandas>=2.0,<2.3", "numpy<2", "pyarrow", "setuptools"]
# ///
"""The newest Deequ of the registry, 2.0.7 for Spark 3.5, which Spark fetches itself."""

from __future__ import annotations

from deequ_gateway import serve_deequ

if __name__ == "__main__":
    serve_deequ("2.0.7-spark-3.5", coordinates="com.amazon.deequ:deequ:2.0.7-spark-3.5")
