"""Defines how a rule is inferred: the method and the parameters of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec

from headgate.learn.patterns.alarm_rates import AlarmRates, load_alarm_rates
from headgate.learn.patterns.entries import FAILED_SHARE, STRAYED_SHARE
from headgate.learn.patterns.enumerate import TAU
from headgate.learn.patterns.rule import SIGNIFICANCE
from headgate.learn.patterns.scoring import ByBacktest, ByCoverage, ByImpurity, Scorer, critical_share
from headgate.values.errors import MisuseError, did_you_mean

_PAPER_LIMIT = 0.1  # the largest r in the paper's experiments


class Method(StrEnum):
    """How a pattern is chosen. The first four are the paper's methods with its cost; `tag` is the dual problem."""

    FMDV = "fmdv"
    FMDV_V = "fmdv-v"
    FMDV_H = "fmdv-h"
    FMDV_VH = "fmdv-vh"
    TAG = "tag"
    HEADGATE = "headgate"


class InferenceSettings(msgspec.Struct, frozen=True):
    """The parameters of the paper: r (`limit`), m (`coverage`), theta (`tolerance`), tau, and the level of the test.

    The default of `limit` was chosen on the development columns of the benchmark. `alarm_rates` correct the rates of
    Headgate's method; None for those that come with the package.
    """

    method: Method = Method.HEADGATE
    limit: float = 0.185
    coverage: int = 5
    tolerance: float = 0.1
    tau: int = TAU
    significance: float = SIGNIFICANCE
    alarm_rates: AlarmRates | None = None

    @classmethod
    def of(cls, method: str, **given: Any) -> InferenceSettings:
        """The settings for a method; parameters that are None keep their default.

        Raises MisuseError if the method is unknown or a number is out of range.
        """
        if method not in list(Method):
            raise MisuseError(f"no method is named {method!r};", hint=did_you_mean(str(method), list(Method)))
        defaults = {} if method == Method.HEADGATE else {"limit": _PAPER_LIMIT}
        chosen = {name: value for name, value in given.items() if value is not None}
        settings = cls(method=Method(method), **{**defaults, **chosen})
        for name in ("limit", "tolerance", "significance"):
            if not 0 <= (value := getattr(settings, name)) < 1:
                raise MisuseError(f"{name} is {value}.", hint="Give a share of at least 0 and below 1.")
        if settings.significance == 0:
            raise MisuseError("no test alarms at a significance of 0.", hint="Give 0.01, or a smaller share above 0.")
        lowest = (settings.alarm_rates or load_alarm_rates()).seen[0]
        if settings.method is Method.HEADGATE and settings.limit < lowest:
            raise MisuseError(
                f"no rule of this method states a rate below {lowest:.3g}.",
                hint=f"Give a limit of {lowest:.3g} or more.",
            )
        if settings.coverage < 1 or settings.tau < 1:
            raise MisuseError("coverage and tau count columns and tokens.", hint="Give numbers of at least 1.")
        return settings

    @property
    def cuts_vertically(self) -> bool:
        return self.method in (Method.FMDV_V, Method.FMDV_VH, Method.HEADGATE)

    @property
    def cuts_horizontally(self) -> bool:
        return self.method in (Method.FMDV_H, Method.FMDV_VH, Method.TAG, Method.HEADGATE)

    def find_alarm_rate(self, cost: float) -> float:
        """The rate of false alarms that a rule states, for the cost that the index estimates."""
        return (self.alarm_rates or load_alarm_rates()).correct(cost) if self.method is Method.HEADGATE else cost

    def scorers(self, seen: int, total: int) -> Iterator[tuple[Scorer, float]]:
        """The scorers to try, each with the share outside that its rule tolerates; the strictest first.

        `seen` is the number of training values, `total` the number of columns of the lake.
        """
        if self.method is Method.TAG:
            yield ByCoverage(self.limit, self.coverage), 0.0
        elif self.method is not Method.HEADGATE:
            yield ByImpurity(self.limit, self.coverage), 0.0
        else:
            limit = (self.alarm_rates or load_alarm_rates()).find_estimate(self.limit)
            critical = critical_share(seen, self.significance)
            yield ByBacktest(limit, self.coverage, critical, total), 0.0
            for share in (STRAYED_SHARE, FAILED_SHARE):
                if share > critical:
                    yield ByBacktest(limit, self.coverage, share, total), share
