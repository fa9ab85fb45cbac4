"""The bills of materials of a wheel, in CycloneDX: `python -m release.sbom WHEEL FOLDER` writes one for each extra.

The same wheel and the same environment give the same bytes: the time is SOURCE_DATE_EPOCH, and the serial number comes
from the content.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import uuid
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name, parse_wheel_filename

from release.dependencies import (
    CORE,
    Dependency,
    find_installed,
    read_requirements,
    resolve_dependencies,
    select_needed,
)

ROOT = Path(__file__).resolve().parents[1]


def write_sboms(wheel: Path, folder: Path, epoch: int) -> None:
    """One file for the core, and one for the core with each extra."""
    requirements = read_requirements(ROOT / "pyproject.toml")
    package = describe_wheel(wheel)
    for part, needs in requirements.items():
        with_core = needs if part == CORE else [*requirements[CORE], *needs]
        name = f"headgate-{package['version']}{'' if part == CORE else '-' + part}.cdx.json"
        text = json.dumps(make_sbom(package, with_core, epoch), indent=2) + "\n"
        (folder / name).write_text(text, encoding="utf-8")


def describe_wheel(wheel: Path) -> dict[str, Any]:
    name, version, *_ = parse_wheel_filename(wheel.name)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    package = describe_package(Dependency(name, str(version), "Apache-2.0", ()))
    return {**package, "hashes": [{"alg": "SHA-256", "content": digest}]}


def describe_package(package: Dependency) -> dict[str, Any]:
    reference = f"pkg:pypi/{package.name}@{package.version}"
    return {
        "type": "library",
        "bom-ref": reference,
        "name": package.name,
        "version": package.version,
        "licenses": [{"expression": package.licence}],
        "purl": reference,
    }


def make_sbom(package: dict[str, Any], requirements: Sequence[str], epoch: int) -> dict[str, Any]:
    """The bill of a package and of all that its requirements bring."""
    dependencies = resolve_dependencies(requirements)
    components = {dependency.name: describe_package(dependency) for dependency in dependencies}
    direct = sorted({canonicalize_name(need.name) for need in select_needed(requirements)})
    edges = [(package, direct), *((components[each.name], each.requires) for each in dependencies)]
    content = {
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": list_tools()},
            "component": package,
        },
        "components": list(components.values()),
        "dependencies": [
            {"ref": component["bom-ref"], "dependsOn": [components[name]["bom-ref"] for name in needs]}
            for component, needs in edges
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(content))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        **content,
    }


def list_tools() -> list[dict[str, str]]:
    """What wrote the archives: other versions of these can compress or name things otherwise."""
    versions = {
        platform.python_implementation(): platform.python_version(),
        "hatchling": find_installed("hatchling").version,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
    }
    return [{"type": "application", "name": name, "version": version} for name, version in versions.items()]


def find_schema_fault(text: str) -> str | None:
    """What the schema of CycloneDX says against a bill, if anything."""
    # Loading them takes longer than writing all bills, which does not need them.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return None if fault is None else str(fault)


if __name__ == "__main__":
    write_sboms(Path(sys.argv[1]), Path(sys.argv[2]), int(os.environ["SOURCE_DATE_EPOCH"]))
