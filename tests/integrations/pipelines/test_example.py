"""The pipeline of the guide is the one that runs."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "pipelines"


def test_the_guide_shows_the_pipeline_of_the_example() -> None:
    guide = (ROOT / "docs" / "guides" / "pipelines.md").read_text(encoding="utf-8")
    code = (EXAMPLE / "transformations" / "clicks.py").read_text(encoding="utf-8")
    assert code[code.index("from pathlib") :] in guide


@pytest.mark.spark
@pytest.mark.timeout(1500)  # spark-pipelines starts three times
def test_the_example_runs_and_prints_what_the_guide_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    run = runpy.run_path(str(EXAMPLE / "run.py"))
    run["main"](tmp_path)
    guide = (ROOT / "docs" / "guides" / "pipelines.md").read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    assert printed.strip() in guide
    assert Path(sys.executable).with_name("spark-pipelines").exists()
