# /// script
# requires-python = "==3.11.*"
# dependencies = ["pyspark==4.1.4", "pandas>=2.2,<3", "pyarrow"]
# ///
"""Deequ 2.0.21 for Spark 4.1, from a jar that PEERS_DEEQU_JAR names, as the registry has none."""

from __future__ import annotations

import os

from deequ_gateway import serve_deequ

if __name__ == "__main__":
    serve_deequ("2.0.21", jar=os.environ["PEERS_DEEQU_JAR"])
