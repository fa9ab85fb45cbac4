"""Checks the release that the last commit would make: `make release-check`. Its files are left in build/release."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from release import ReleaseError
from release.build import (
    ELSEWHERE,
    HERE,
    Surroundings,
    build_archives,
    export_commit,
    find_differences,
    read_commit_time,
    rebuild_wheel,
    run_git,
    run_python,
    sum_files,
)
from release.licences import PAGE, find_refused, make_page, resolve_all
from release.sbom import find_schema_fault
from release.wheel import find_faults

ROOT = Path(__file__).resolve().parents[1]
RELEASE = ROOT / "build" / "release"


def build_release(folder: Path, surroundings: Surroundings, epoch: int) -> Path:
    """The folder with the wheel, the sdist and the bills of materials of the last commit."""
    source, out = folder / "source", folder / "out"
    source.mkdir(parents=True)
    export_commit(ROOT, source, surroundings)
    build_archives(source, out, surroundings, epoch)
    run_python(source, ["-m", "release.sbom", next(out.glob("*.whl")), out], surroundings, epoch)
    return out


def check_builds(scratch: Path, epoch: int) -> Iterator[str]:
    """Builds twice, and the wheel once more from the sdist; keeps the files of the first build."""
    first = build_release(scratch / "here", HERE, epoch)
    second = build_release(scratch / "elsewhere" / "deeper", ELSEWHERE, epoch)
    for name, out in (("first", first), ("second", second)):
        for file, digest in sum_files(out).items():
            if not file.endswith(".json"):
                print(f"{name:6} build  {digest}  {file}")
    yield from find_differences(sum_files(first), sum_files(second))

    wheel = rebuild_wheel(next(first.glob("*.tar.gz")), scratch / "rebuilt", ELSEWHERE, epoch)
    if wheel.read_bytes() != (first / wheel.name).read_bytes():
        yield f"{wheel.name} differs when it is built from the sdist; see `include` in pyproject.toml"
    keep_files(first)


def keep_files(out: Path) -> None:
    shutil.rmtree(RELEASE, ignore_errors=True)
    shutil.copytree(out, RELEASE)
    lines = [f"{digest}  {name}\n" for name, digest in sum_files(RELEASE).items()]
    (RELEASE / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def check_contents(source: Path) -> Iterator[str]:
    """Looks into what was built, and at the licences of what it depends on."""
    yield from find_faults(next(RELEASE.glob("*.whl")), source)
    for bill in sorted(RELEASE.glob("*.cdx.json")):
        if fault := find_schema_fault(bill.read_text(encoding="utf-8")):
            yield f"{bill.name} is not valid CycloneDX: {fault}"
    resolved = resolve_all(source / "pyproject.toml")
    yield from find_refused(resolved)
    if (source / PAGE).read_text(encoding="utf-8") != make_page(resolved):
        # no fault: another project's release changes what is installed, without a commit here
        print(f"note: {PAGE} is not what is installed. Run `make licences`, read what changed, and commit it.")


def main() -> int:
    began = time.monotonic()
    try:
        epoch = read_commit_time(ROOT)
        if run_git(ROOT, "status", "--porcelain", "--untracked-files=no"):
            print("There are changes that are not committed; they are not part of what is checked.")
        with tempfile.TemporaryDirectory() as scratch:
            faults = list(check_builds(Path(scratch), epoch))
            faults += check_contents(Path(scratch) / "here" / "source")
    except ReleaseError as error:
        faults = [str(error)]
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    if not faults:
        print(f"The release holds, in {time.monotonic() - began:.0f} s. Its files are in {RELEASE.relative_to(ROOT)}.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
