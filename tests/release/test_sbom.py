from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from release.sbom import describe_wheel, find_schema_fault, make_sbom

ROOT = Path(__file__).resolve().parents[2]
EPOCH = 1_750_000_000


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "headgate-0.1.0-py3-none-any.whl"
    path.write_bytes(b"a wheel")
    return path


@pytest.fixture
def bill(wheel: Path) -> dict[str, Any]:
    return make_sbom(describe_wheel(wheel), ["jinja2>=3", "psycopg[binary]>=3"], EPOCH)


def test_a_bill_is_valid(bill: dict[str, Any]) -> None:
    assert find_schema_fault(json.dumps(bill)) is None


def test_a_bill_that_is_not_valid_is_seen(bill: dict[str, Any]) -> None:
    assert find_schema_fault(json.dumps({**bill, "serialNumber": "7"})) is not None
    assert find_schema_fault(json.dumps({**bill, "surprise": 1})) is not None


def test_a_bill_names_the_wheel_by_its_sum(bill: dict[str, Any]) -> None:
    package = bill["metadata"]["component"]
    assert package["purl"] == "pkg:pypi/headgate@0.1.0"
    assert package["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"a wheel").hexdigest()}]


def test_a_bill_lists_what_is_needed_and_by_whom(bill: dict[str, Any]) -> None:
    licences = {each["name"]: each["licenses"][0]["expression"] for each in bill["components"]}
    assert licences["psycopg-binary"] == "LGPL-3.0-only"
    assert licences["markupsafe"] == "BSD-3-Clause"
    names = {each["bom-ref"]: each["name"] for each in [*bill["components"], bill["metadata"]["component"]]}
    needs = {names[each["ref"]]: [names[ref] for ref in each["dependsOn"]] for each in bill["dependencies"]}
    assert needs["headgate"] == ["jinja2", "psycopg"]
    assert needs["jinja2"] == ["markupsafe"]


def test_a_bill_changes_with_its_content_alone(wheel: Path, bill: dict[str, Any]) -> None:
    assert make_sbom(describe_wheel(wheel), ["jinja2>=3", "psycopg[binary]>=3"], EPOCH) == bill
    other = make_sbom(describe_wheel(wheel), ["jinja2>=3"], EPOCH)
    assert other["serialNumber"] != bill["serialNumber"]
    assert bill["metadata"]["timestamp"] == "2025-06-15T15:06:40+00:00"


def test_two_processes_write_the_same_bills(wheel: Path, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        variables = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": str(EPOCH), "TZ": f"XXX-{seed}"}
        command = [sys.executable, "-m", "release.sbom", str(wheel), str(folder)]
        subprocess.run(command, cwd=ROOT, env=variables, check=True)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]
    assert {"headgate-0.1.0.cdx.json", "headgate-0.1.0-spark.cdx.json"} <= written[0].keys()
