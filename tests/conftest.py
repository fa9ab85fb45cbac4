"""How Hypothesis runs here: the same examples every time by default; `--hypothesis-profile=thorough` looks further."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("steady", max_examples=10, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.register_profile("thorough", max_examples=500, deadline=None, suppress_health_check=_QUIET)
settings.load_profile("steady")
