"""An address where a local path belongs: it made a folder `s3a:` here, and batches were "published" into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headgate as hg
from headgate.integrations.alerts import Alerts
from headgate.project.project import Project
from headgate.report.html import Report
from headgate.report.site import Site
from headgate.values.errors import ConfigError, MisuseError
from tests.cli.lake import document, write_lake

ADDRESS = "s3a://bucket/x"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("keys", [{}, {"staging": ADDRESS}, {"published": ADDRESS}, {"held": ADDRESS}])
def test_folders_refuse_an_address(keys: dict[str, Any], tmp_path: Path) -> None:
    root = tmp_path / "lake" if keys else ADDRESS
    with pytest.raises(MisuseError, match=r"is an address \(s3a:\).*renames.*Publisher"):
        hg.Folders(root, **keys)
    assert list(tmp_path.iterdir()) == []


def test_folders_take_an_address_of_this_machine(tmp_path: Path) -> None:
    folders = hg.Folders(f"file://{tmp_path}/lake", held=f"file://{tmp_path}/quarantine")
    assert folders.staging_path("p") == tmp_path / "lake" / "staging" / "p"
    assert (tmp_path / "quarantine").is_dir()


@pytest.mark.parametrize("key", ["reports", "datasets.orders.publish", "datasets.orders.index", "alerts.0.memory"])
def test_a_configuration_refuses_an_address_and_names_its_line(key: str, tmp_path: Path) -> None:
    text = (tmp_path / write_lake(tmp_path) / "headgate.yml").read_text(encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    if key.startswith("alerts"):
        text += f'alerts:\n  - {{webhook: "https://example.org/x", memory: "{ADDRESS}"}}\n'
        (tmp_path / "headgate.yml").write_text(text, encoding="utf-8")
    settings = {} if key.startswith("alerts") else {key: ADDRESS}
    with pytest.raises(ConfigError, match=r"is an address \(s3a:\)") as caught:
        Project.open(tmp_path / "headgate.yml", settings=settings)
    assert [mistake.key for mistake in caught.value.mistakes] == [key.replace(".0.", "[0].")]
    assert sorted(tmp_path.rglob("*")) == before


def test_reports_and_memories_refuse_an_address(tmp_path: Path) -> None:
    report = Report.fleet([])
    for make in (lambda: report.save(ADDRESS), lambda: Site(ADDRESS), lambda: Alerts([], memory=ADDRESS)):
        with pytest.raises(MisuseError, match=r"is an address \(s3a:\)"):
            make()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "call",
    [
        ("run", "--output-html", ADDRESS),
        ("report", "--output", ADDRESS),
        ("index", "build", ADDRESS, "lake"),
        ("init", "--demo", ADDRESS),
    ],
)
def test_a_command_refuses_an_address_before_it_works(call: tuple[str, ...], tmp_path: Path) -> None:
    write_lake(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    found = document(*call)
    assert found["exit_code"] == 2
    assert "is an address (s3a:)" in found["error"]["message"]
    assert sorted(tmp_path.rglob("*")) == before
