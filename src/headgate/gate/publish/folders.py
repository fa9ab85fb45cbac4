"""Batches in plain folders: staged by the job, then moved by rename to where readers look, or into quarantine."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from headgate.gate.publish.batch_moves import (
    as_publish_error,
    delete_batch,
    delete_file,
    find_free,
    give_back,
    identify_files,
    make_folder,
    move_folder,
    remove_if_empty,
    require_same_files,
    sync_names,
    take_batch,
    write_file,
)
from headgate.gate.publish.manifest import FORMAT, Manifest, read_manifest
from headgate.gate.publish.publisher import BatchLocation, Delivery, Part, folder_name
from headgate.store.fault_points import fault_point
from headgate.values.errors import MisuseError, PublishError
from headgate.values.local_path import to_local_path

if sys.platform != "win32":
    import fcntl

_WEEK = 7 * 86_400.0
_COPY = "~copy"  # the end of the name of a batch that was staged twice
_ONLY_LOCAL = (
    "Folders moves batches by renames in a local or mounted file system. For other storage write a Publisher: "
    "docs/quarantine.md says how."
)


class Folders:
    """The batches of one dataset in three local folders of one file system: staging, published and held.

    The job writes a batch, a folder or a single file, to `staging_path(partition)`. Readers find it at
    `path(partition)`, which is `published/<partition>`, so that Spark can read the published folder as a table. To
    replace a batch there takes two renames, and between them the partition is not there. With `manifest=True` every
    revision lies in a folder of its own and one file says which is current: readers who ask `path` never meet that gap.

    Files are renamed, not synced: what the job wrote must be durable before the gate is asked. A batch is known by the
    names, sizes, times and inodes of its files; if they change after they were judged, it is not moved.

    Args:
        root: The folder that the other three are relative to.
        staging: Where the job writes batches; `staging` under the root by default.
        published: Where readers find them; `published` by default.
        held: The quarantine; `held` by default.
        manifest: Whether each revision gets a folder of its own, and a file says which one is current.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        staging: str | os.PathLike[str] | None = None,
        published: str | os.PathLike[str] | None = None,
        held: str | os.PathLike[str] | None = None,
        manifest: bool = False,
    ) -> None:
        given = {"staging": staging, "published": published, "held": held}
        base = to_local_path(root, "the root of the folders", _ONLY_LOCAL)
        places = {
            word: base / to_local_path(word if path is None else path, f"the folder {word}", _ONLY_LOCAL)
            for word, path in given.items()
        }
        _refuse_nested(places)
        self.manifest = manifest
        self._staging, self._published, self._held = (path.absolute() for path in places.values())
        self._data, self._manifests = self._published / "_data", self._published / "_manifests"
        self._discarded = self._held / "_discarded"
        for place in (self._staging, self._published, self._held, self._data, self._manifests):
            with as_publish_error(place):
                make_folder(place)
        _refuse_other_file_systems(places)

    def staging_path(self, partition: str, part: Part = "whole") -> Path:
        """Where the job writes a batch, or one part of it."""
        return self._staging / (folder_name(partition) + _part_suffix(part))

    def identify_staged(self, partition: str, part: Part = "whole") -> str:
        place = self.staging_path(partition, part)
        with as_publish_error(place):
            return identify_files(place) if os.path.lexists(place) else ""

    def find_last_number(self, dataset: str, partition: str) -> int:
        published, name = self.find_published(dataset, partition), folder_name(partition)
        numbers = [0 if published is None else published.number]
        for folder in (self._data / name, self._held / name):
            with as_publish_error(folder), contextlib.suppress(FileNotFoundError):
                numbers += [_version_number(Path(each)) for each in os.listdir(folder)]
        return max(number for number in numbers if number < sys.maxsize)

    def find_published(self, dataset: str, partition: str) -> Delivery | None:
        manifest = self._read_manifest(partition)
        if manifest is None:
            return None
        current = manifest.delivery
        if (current.dataset, current.partition) != (dataset, partition):
            raise MisuseError(
                f"{self._published_path(current)} is the place of {current}, not of {dataset} {partition}.",
                hint="Give every dataset a root of its own, and no two partitions names that differ in case only.",
            )
        return current

    def path(self, partition: str) -> Path:
        """Where readers find the batch of a partition that is published now."""
        manifest = self._read_manifest(partition)
        if manifest is None or not os.path.lexists(self._published_path(manifest.delivery)):
            raise PublishError(f"no batch of {partition!r} is published.", hint="folders.paths() says which are.")
        return self._published_path(manifest.delivery)

    def paths(self) -> dict[str, Path]:
        """The published batches, by partition."""
        with as_publish_error(self._manifests):
            names = sorted(each for each in os.listdir(self._manifests) if each.endswith(".json"))
        found = [manifest.delivery for name in names if (manifest := self._load_manifest(self._manifests / name))]
        return {
            each.partition: self._published_path(each) for each in found if os.path.lexists(self._published_path(each))
        }

    def publish(self, delivery: Delivery) -> str:
        with self._lock():
            if os.path.lexists(self._quarantine_path(delivery)):
                raise PublishError(f"{delivery} is held.", hint="Release it: release(delivery).")
            source = self.staging_path(delivery.partition, delivery.part)
            return self._publish_from(delivery, source, f"The job writes the batch to {source} before it is judged.")

    def release(self, delivery: Delivery) -> str:
        with self._lock():
            return self._publish_from(delivery, self._quarantine_path(delivery), "Only a held batch can be released.")

    def hold(self, delivery: Delivery) -> str:
        target, claimed = self._quarantine_path(delivery), self._claimed_path(delivery)
        with self._lock():
            current = self._read_current(delivery)
            if self._is_shown(delivery, current):
                raise PublishError(f"{delivery} is published already.", hint="Stage a repaired batch and judge it.")
            if os.path.lexists(target):
                require_same_files(delivery, target)  # another history may have put it there
            else:
                _refuse_older(delivery, current)
                source = claimed if os.path.lexists(claimed) else self.staging_path(delivery.partition, delivery.part)
                take_batch(
                    delivery, source, target, "hold", f"The job writes the batch to {source} before it is judged."
                )
            if delivery.is_batch_of(current):
                self._restore_previous(delivery.partition)
        return str(target)

    def discard(self, delivery: Delivery) -> None:
        held = self._quarantine_path(delivery)
        gone = self._discarded / held.parent.name / held.name
        with self._lock():
            current = self._read_current(delivery)
            if delivery.is_batch_of(current) and not os.path.lexists(held):
                raise PublishError(f"{delivery} is published.", hint="Only a held batch can be discarded.")
            if (source := self._find_hidden(delivery, current)) is not None:
                move_folder(source, gone, "discard")  # so that a kill leaves no half of a batch to be released
            delete_batch(gone)
            remove_if_empty(held.parent)

    def check_input(self, delivery: Delivery) -> None:
        with self._lock():
            if place := self._locate(delivery):
                require_same_files(delivery, Path(place))

    def restage(self, delivery: Delivery) -> None:
        held, staged = self._quarantine_path(delivery), self.staging_path(delivery.partition, delivery.part)
        with self._lock():
            if os.path.lexists(held) and not os.path.lexists(staged):
                require_same_files(delivery, held)
                move_folder(held, staged, "restage")
                remove_if_empty(held.parent)

    def set_copy_aside(self, delivery: Delivery) -> None:
        staged, claimed = self.staging_path(delivery.partition, delivery.part), self._claimed_path(delivery)
        with self._lock():
            if os.path.lexists(staged) and identify_files(staged) == delivery.source:
                copy = claimed.with_name(claimed.name + _COPY)
                delete_batch(copy)
                move_folder(staged, copy, "set_aside")

    def state(self, delivery: Delivery) -> BatchLocation:
        with self._lock():  # a batch that is being moved would be nowhere
            return self._find_state(delivery)

    def _find_state(self, delivery: Delivery) -> BatchLocation:
        current = self._read_current(delivery)
        if self._is_shown(delivery, current):
            return "published"
        if self._find_hidden(delivery, current) is not None:
            return "held"
        if _is_newer(current, delivery):
            return "absent"
        staged = self.identify_staged(delivery.partition, delivery.part)
        return "staged" if staged and delivery.source in ("", staged) else "absent"

    def locate(self, delivery: Delivery) -> str:
        with self._lock():
            return self._locate(delivery)

    def _locate(self, delivery: Delivery) -> str:
        match self._find_state(delivery):
            case "published":
                return str(self._published_path(delivery))
            case "held":
                return str(self._find_hidden(delivery, self._read_current(delivery)) or "")
            case "staged":
                return str(self.staging_path(delivery.partition, delivery.part))
        return ""

    def recover(self, dataset: str) -> None:
        """Show again what a killed call has put away, or was about to show. With a manifest there is nothing to do.

        Batches of another dataset are left alone.
        """
        if self.manifest:
            return
        errors: list[PublishError] = []
        with self._lock():
            for file in sorted(self._manifests.glob("*.json")):
                try:
                    self._recover_manifest(file, dataset)
                except PublishError as error:  # of one partition; the others are recovered all the same
                    errors.append(error)
        if errors:
            raise errors[0]

    def _recover_manifest(self, file: Path, dataset: str) -> None:
        manifest = self._load_manifest(file)
        if manifest is None or manifest.delivery.dataset != dataset:
            return
        if os.path.lexists(self._published_path(manifest.delivery)):
            return
        if os.path.lexists(self._claimed_path(manifest.delivery)):
            self._show(manifest.delivery)
        elif os.path.lexists(self._quarantine_path(manifest.delivery)):
            self._restore_previous(manifest.delivery.partition)

    def sweep(self, older_than: float = _WEEK) -> int:
        """Delete batches that newer ones replaced, and copies of batches that were staged twice, so many seconds after
        the last change. Says how many."""
        count = 0
        with self._lock():
            delete_batch(self._discarded)  # what a killed discard left
            for folder in self._data.iterdir():
                old = [*self._find_replaced(folder, older_than), *_find_copies(folder, older_than)]
                for each in old:
                    delete_batch(each)
                count += len(old)
        return count

    def _find_replaced(self, folder: Path, older_than: float) -> list[Path]:
        manifest = self._manifests / f"{folder.name}.json"
        current = self._load_manifest(manifest)
        if current is None or time.time() - manifest.stat().st_mtime < older_than:
            return []
        versions = (each for each in folder.iterdir() if not each.name.endswith(_COPY))
        return [each for each in versions if _version_number(each) < current.delivery.number]

    # Where things lie. A batch is claimed by a rename into `_data`: what a job stages later is not taken for it.

    def _claimed_path(self, delivery: Delivery) -> Path:
        return self._data / folder_name(delivery.partition) / _version_name(delivery)

    def _quarantine_path(self, delivery: Delivery) -> Path:
        return self._held / folder_name(delivery.partition) / _version_name(delivery)

    def _published_path(self, delivery: Delivery) -> Path:
        return self._claimed_path(delivery) if self.manifest else self._published / folder_name(delivery.partition)

    def _manifest_path(self, partition: str) -> Path:
        return self._manifests / f"{folder_name(partition)}.json"

    # What readers see.

    def _publish_from(self, delivery: Delivery, source: Path, hint: str) -> str:
        if delivery.part == "bad":
            raise MisuseError(
                f"{delivery}: they would take the place of the good rows.",
                hint="Stage the partition whole, repaired, and judge it again.",
            )
        current = self._read_current(delivery)
        if not self._is_shown(delivery, current):
            _refuse_older(delivery, current)
            self._claim(delivery, source, hint)
            self._point_readers(delivery, current)
        remove_if_empty(self._quarantine_path(delivery).parent)
        return str(self._published_path(delivery))

    def _claim(self, delivery: Delivery, source: Path, hint: str) -> None:
        """Take the batch that was judged; one that a killed call has taken already is compared once more."""
        claimed = self._claimed_path(delivery)
        if not os.path.lexists(claimed):
            take_batch(delivery, source, claimed, "claim", hint)
            return
        try:
            require_same_files(delivery, claimed)
        except PublishError:
            give_back(claimed, self.staging_path(delivery.partition, delivery.part))
            raise

    def _point_readers(self, delivery: Delivery, current: Delivery | None) -> None:
        place, manifest = self._published_path(delivery), self._manifest_path(delivery.partition)
        written = self._write_manifest(delivery, current)
        if not self.manifest and os.path.lexists(place):
            away = (
                self._claimed_path(current)
                if current
                else find_free(self._claimed_path(delivery).with_name("0-unknown"))
            )
            move_folder(place, away, "put_away")
        fault_point("folders.point")
        os.replace(written, manifest)
        fault_point("folders.pointed")
        sync_names(manifest.parent)
        if not self.manifest:
            self._show(delivery)

    def _show(self, delivery: Delivery) -> None:
        move_folder(self._claimed_path(delivery), self._published_path(delivery), "show")

    def _restore_previous(self, partition: str) -> None:
        """Let readers see the batch before the current one, which was held before they saw it."""
        manifest = self._read_manifest(partition)
        assert manifest is not None
        file = self._manifest_path(partition)
        previous = manifest.previous
        if previous is None:
            delete_file(file)
            return
        written = self._write_manifest(previous, None)
        fault_point("folders.restore")
        os.replace(written, file)
        fault_point("folders.restored")
        sync_names(file.parent)
        if os.path.lexists(self._claimed_path(previous)):
            self._show(previous)

    def _find_hidden(self, delivery: Delivery, current: Delivery | None) -> Path | None:
        """Where a batch is that readers do not see: in quarantine, or claimed by a call that was killed."""
        if os.path.lexists(self._quarantine_path(delivery)):
            return self._quarantine_path(delivery)
        waits = os.path.lexists(self._claimed_path(delivery)) and not _is_newer(current, delivery)
        return self._claimed_path(delivery) if waits and not self._is_shown(delivery, current) else None

    def _is_shown(self, delivery: Delivery, current: Delivery | None) -> bool:
        return delivery.is_batch_of(current) and os.path.lexists(self._published_path(delivery))

    def _read_current(self, delivery: Delivery) -> Delivery | None:
        """What the manifest names: with its place there, what readers see."""
        return self.find_published(delivery.dataset, delivery.partition)

    def _read_manifest(self, partition: str) -> Manifest | None:
        return self._load_manifest(self._manifest_path(partition))

    def _load_manifest(self, file: Path) -> Manifest | None:
        manifest = read_manifest(file)
        if manifest is not None and manifest.path != self._relative_path(manifest.delivery):
            raise MisuseError(
                f"{manifest.delivery} was published with manifest={not self.manifest}.",
                hint=f"Open the folders with manifest={not self.manifest}, or publish to another root.",
            )
        return manifest

    def _write_manifest(self, delivery: Delivery, previous: Delivery | None) -> Path:
        """Write a manifest beside the current one, whose place it takes later, in one step."""
        manifest = Manifest(FORMAT, delivery, self._relative_path(delivery), previous)
        return write_file(self._manifest_path(delivery.partition).with_suffix(".next"), manifest.to_bytes())

    def _relative_path(self, delivery: Delivery) -> str:
        return self._published_path(delivery).relative_to(self._published).as_posix()

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """One at a time; the operating system lets go of the lock of a process that died."""
        with as_publish_error(self._published), open(self._manifests / "lock", "ab") as lock:
            fault_point("folders.lock")
            if sys.platform != "win32":
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _part_suffix(part: Part) -> str:
    return "" if part == "whole" else f"~{part}"


def _version_name(delivery: Delivery) -> str:
    return f"{delivery.number}-{delivery.key[:12]}{_part_suffix(delivery.part)}"


def _find_copies(folder: Path, older_than: float) -> list[Path]:
    copies = (each for each in folder.iterdir() if each.name.endswith(_COPY))
    return [each for each in copies if time.time() - each.lstat().st_mtime >= older_than]


def _version_number(version: Path) -> int:
    number = version.name.partition("-")[0]
    return int(number) if number.isdecimal() else sys.maxsize  # not ours: newer than anything, so never swept


def _is_newer(current: Delivery | None, delivery: Delivery) -> bool:
    return current is not None and current.number > delivery.number


def _refuse_older(delivery: Delivery, current: Delivery | None) -> None:
    if current is not None and _is_newer(current, delivery):
        raise PublishError(
            f"{delivery} is older than revision {current.number}, which is published.",
            hint="Stage the batch again: it becomes a new revision.",
        )


def _refuse_nested(places: dict[str, Path]) -> None:
    whole = {word: path.resolve() for word, path in places.items()}
    for word, path in whole.items():
        for other, above in whole.items():
            if word != other and path.is_relative_to(above):
                raise MisuseError(
                    f"the folder {word} ({path}) is inside the folder {other} ({above}).",
                    hint="Put the three side by side: readers of the published folder must not see the others.",
                )


def _refuse_other_file_systems(places: dict[str, Path]) -> None:
    if len({os.stat(path).st_dev for path in places.values()}) > 1:
        raise MisuseError(
            f"{', '.join(map(str, places.values()))} are not on one file system, so no rename can publish a batch.",
            hint="Put staging and held on the file system of the published folder.",
        )
