"""The port through which a judged batch is shown to readers or kept from them."""

from __future__ import annotations

import hashlib
import re
from typing import Literal, Protocol, TypeAlias, runtime_checkable
from urllib.parse import quote

import msgspec

from headgate.values.errors import MisuseError
from headgate.values.run import LONGEST_NAME, Revision

Part: TypeAlias = Literal["whole", "good", "bad"]
BatchLocation: TypeAlias = Literal["staged", "published", "held", "absent"]

_LONGEST = 180  # characters, so that what is added to a name stays under the 255 of most file systems
_READABLE = 100
_KEY = re.compile(r"[0-9a-f]{12,128}")


class Delivery(msgspec.Struct, frozen=True):
    """Which batch of which committed run: revision `number` of a partition, and the run's key as hex text.

    `source` is what the publisher said was staged when the batch was judged. Nothing else is moved for it. An empty
    one is not compared. A batch whose rows were split is two deliveries, `part="good"` and `part="bad"`.

    >>> Delivery("orders", "2026-11-14", 1, "../../etc")
    Traceback (most recent call last):
    headgate.values.errors.MisuseError: '../../etc' is not a run's key. Pass revision.key, or use Delivery.of(revision).
    """

    dataset: str
    partition: str
    number: int
    key: str
    part: Part = "whole"
    source: str = ""

    def __post_init__(self) -> None:
        for word, value in (("dataset", self.dataset), ("partition", self.partition)):
            if not value or len(value) > LONGEST_NAME:
                raise MisuseError(f"the {word} of a delivery has 1 to {LONGEST_NAME} characters, not {len(value)}.")
        if self.number < 1:
            raise MisuseError(f"{self.number} is not a revision's number.", hint="They count from 1.")
        if _KEY.fullmatch(self.key) is None:
            raise MisuseError(
                f"{self.key!r} is not a run's key.", hint="Pass revision.key, or use Delivery.of(revision)."
            )
        if self.part not in ("whole", "good", "bad"):
            raise MisuseError(f"{self.part!r} is not a part.", hint='Write "whole", "good" or "bad".')

    @classmethod
    def of(cls, revision: Revision) -> Delivery:
        """The delivery of a committed run."""
        return cls(revision.dataset, revision.partition, revision.number, revision.key, source=revision.source)

    def only_part(self, part: Part, source: str = "") -> Delivery:
        """The same batch, one part of it, which is staged by itself.

        >>> Delivery("orders", "2026-11-14", 1, "c0ffee00c0ffee00").only_part("bad").part
        'bad'
        """
        return msgspec.structs.replace(self, part=part, source=source)

    def is_batch_of(self, other: Delivery | None) -> bool:
        """Whether both are the same batch, or the same part of it."""
        return other is not None and msgspec.structs.replace(other, source=self.source) == self

    def __str__(self) -> str:
        rows = "" if self.part == "whole" else f", {self.part} rows"
        return f"{self.dataset} {self.partition} (revision {self.number}{rows})"


@runtime_checkable
class Publisher(Protocol):
    """Moves batches, and never decides: the gate calls it after the run is committed.

    Every call may be made again, after a kill too: it goes on where the last one ended, and does nothing if that one
    came to its end. Readers see a batch whole or not at all. A newer revision takes the place of an older one; an older
    one never takes the place of a newer. What cannot be done raises `PublishError`; if what is there is not what was
    judged, it is left alone, and `InputChanged` is raised.
    """

    def identify_staged(self, partition: str, part: Part = "whole") -> str:
        """Which input is staged for a partition, as a short text that is another for every other input; empty if
        nothing is staged."""

    def find_last_number(self, dataset: str, partition: str) -> int:
        """The highest number of a revision of a partition that is published, held or replaced; 0 if there is none."""

    def find_published(self, dataset: str, partition: str) -> Delivery | None:
        """The batch of a partition that readers are to see."""

    def publish(self, delivery: Delivery) -> str:
        """Show the staged batch to readers, all at once. Says where it is."""

    def hold(self, delivery: Delivery) -> str:
        """Keep the staged batch where readers do not see it. Says where it is."""

    def release(self, delivery: Delivery) -> str:
        """Publish a held batch. Says where it is."""

    def discard(self, delivery: Delivery) -> None:
        """Delete a held batch. One that is not held is left alone; one that is published is refused."""

    def set_copy_aside(self, delivery: Delivery) -> None:
        """Take what is staged out of staging, if it is the source of the delivery: the same rows are published or held
        already. It is kept for a while."""

    def restage(self, delivery: Delivery) -> None:
        """Put a held batch back into staging, unless something is staged there."""

    def check_input(self, delivery: Delivery) -> None:
        """Raise `InputChanged` if the batch that is staged, held or published is not the one that was judged."""

    def state(self, delivery: Delivery) -> BatchLocation:
        """Where the batch is. One that was discarded, or replaced by a newer revision, is absent; one whose publishing
        or release was killed halfway is held, and either call ends it."""

    def locate(self, delivery: Delivery) -> str:
        """The place of the batch, wherever it is; empty if it is absent."""

    def recover(self, dataset: str) -> None:
        """Finish what a killed call left half done, so that readers miss no batch that they had."""


def publish_split(publisher: Publisher, delivery: Delivery, sources: tuple[str, str] = ("", "")) -> tuple[str, str]:
    """Publish the good rows of a batch and hold the bad ones; both were staged. Says where each is.

    `sources` are what was staged as the good and the bad rows when they were checked.
    """
    good, bad = delivery.only_part("good", sources[0]), delivery.only_part("bad", sources[1])
    held = publisher.hold(bad)  # first, so that rows are not missing from both places after a kill
    return publisher.publish(good), held


def folder_name(partition: str) -> str:
    """A partition's name as one harmless component of a path, different for different partitions.

    >>> folder_name("day=2026-11-14"), folder_name("../up"), folder_name("_day=1")
    ('day=2026-11-14', '%2E.%2Fup', '%5Fday=1')
    """
    whole = partition.encode("utf-8", "surrogatepass")
    name = quote(whole, safe="=").replace("~", "%7E")
    if name[0] in "._":  # Spark does not see those
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > _LONGEST:
        name = f"{name[:_READABLE]}~{hashlib.sha256(whole).hexdigest()[:32]}"
    return name
