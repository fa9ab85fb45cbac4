"""All errors that a caller can get, as one tree.

HeadgateError
├── MisuseError            the call itself is wrong; raised at construction
│   ├── UnknownMetric      no registered metric has this name
│   ├── BadMetricKey       a text is not a metric key
│   ├── BadPredicate       a row predicate or an expectation's predicate cannot be understood
│   └── ConfigError        headgate.yml or a setting is invalid; carries every mistake with its line
├── StoredDataError        bytes that were stored cannot be trusted or read
│   ├── CorruptBytes       truncated, flipped or foreign bytes, refused before decoding
│   └── NewerFormat        written by a newer version of the format
├── StoreError             the history could not be written or read as requested
│   ├── AlreadyCommitted   another attempt at the same run was committed first; it is in values.run
│   ├── UnknownRun         the history has no such run
│   └── StoreUnavailable   the store could not be reached or written: nothing is known to have been committed
├── PublishError           a batch could not be published, held, released or discarded; call again to continue
│   ├── InputChanged       what is staged or held is not the input that was judged
│   └── RangeStopped       the rulings on a range of batches stopped; those before it stand
├── BatchHeld              a batch was held by its query, which gives no rows
├── StreamStopped          a stream was stopped by its gate
├── DeliveryError          an alert did not reach its receiver
└── EngineError            a batch could not be read at all
    ├── NoSuchBatch        there is no batch of this name
    └── EngineUnavailable  Spark could not be used, whatever the batch: nothing was recorded
        └── SourceUnavailable  the object store of the batches could not be used: nothing was recorded

Problems in data are not errors but values (`Undefined`, `Failed`); see `values.outcome`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple


class Mistake(NamedTuple):
    """One mistake in a configuration: where it is (`headgate.yml:4`, or the setting), the key, what is wrong, and what
    to write instead."""

    where: str
    key: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        return f"{self.where}: {key}{self.message} {self.hint}".strip()


class HeadgateError(Exception):
    """The root of the tree; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint


class MisuseError(HeadgateError, ValueError):
    """The call itself is wrong."""


class UnknownMetric(MisuseError):
    """No registered metric has this name."""


class BadMetricKey(MisuseError):
    """A text is not a metric key."""


class BadPredicate(MisuseError):
    """A predicate cannot be understood."""


class ConfigError(MisuseError):
    """A configuration is invalid; `mistakes` lists all that is wrong, each with its location."""

    def __init__(self, message: str, hint: str = "", mistakes: Iterable[Mistake] = ()) -> None:
        super().__init__(message, hint)
        self.mistakes = tuple(mistakes)

    @classmethod
    def of(cls, mistakes: Iterable[Mistake]) -> ConfigError:
        """One error for all mistakes, a line for each."""
        listed = tuple(mistakes)
        error = cls("\n".join(map(str, listed)), mistakes=listed)
        error.hint = listed[0].hint if len(listed) == 1 else ""
        return error


class StoredDataError(HeadgateError):
    """Stored bytes cannot be trusted or read."""


class CorruptBytes(StoredDataError):
    """Truncated, altered or foreign bytes."""


class NewerFormat(StoredDataError):
    """Written by a newer version of the format than this one reads."""


class StoreError(HeadgateError):
    """The history could not be written or read as requested."""


class UnknownRun(StoreError):
    """The history has no such run."""

    def __init__(self, dataset: str, partition: str, number: int | None = None) -> None:
        which = "no run" if number is None else f"no revision {number}"
        super().__init__(f"{dataset} has {which} of {partition}.", hint="store.revisions(dataset) lists what there is.")


class StoreUnavailable(StoreError):
    """The store could not be reached or written."""


class PublishError(HeadgateError):
    """A batch could not be published, held, released or discarded. Call again to continue where it stopped."""


class InputChanged(PublishError):
    """What is staged or held is not the input that was judged, so it was not moved."""


class RangeStopped(PublishError):
    """A ruling on one of several batches failed. The rulings on those before it stand; those after it have none."""


class DeliveryError(HeadgateError):
    """An alert did not reach its receiver. The message never contains the address."""


class EngineError(HeadgateError):
    """A batch could not be read at all."""


class NoSuchBatch(EngineError):
    """There is no batch of this name."""


class NotMeasured(EngineError):
    """Some metrics could not be measured of all batches at once. Nothing was recorded."""


class BatchHeld(HeadgateError):
    """A batch was held by the query that makes it, which gives no rows. The verdict is in the history."""


class StreamStopped(HeadgateError):
    """A stream was stopped by its gate: a micro-batch was not written, or a window failed."""


class EngineUnavailable(EngineError):
    """Spark could not be used, whatever the batch. Nothing was recorded; call again when the cause is mended."""


class SourceUnavailable(EngineUnavailable):
    """The object store that has the batches does not answer, or refuses. Nothing was recorded; call again later."""


def refuse_surrogates(text: str) -> str:
    """The text; raises if it has half of a surrogate pair, which no encoding can store.

    >>> refuse_surrogates("é")
    'é'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MisuseError(
            f"{text[:80]!r} has half of a surrogate pair, which is no character.", hint="Repair the text's encoding."
        ) from None
    return text


def did_you_mean(name: str, known: Iterable[str], most: int = 8) -> str:
    """A hint that lists known names and suggests the nearest.

    >>> did_you_mean("prise", ["price", "quantity"])
    "there are price, quantity. Did you mean 'price'?"
    """
    names = list(known)
    shown = ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
    near = difflib.get_close_matches(name, names, n=1)
    return f"there are {shown or 'none'}." + (f" Did you mean {near[0]!r}?" if near else "")
