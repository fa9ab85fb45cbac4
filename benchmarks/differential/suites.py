"""The two tests of ICDE 2019, section V, over the generated comments, and their like over the flights."""

from __future__ import annotations

COMPLETE = (
    "created_utc", "week_day", "ups", "downs", "id", "name", "subreddit_id", "link_id", "subreddit", "author",
    "controversiality", "parent_id", "removal_reason",
)  # fmt: skip

BASIC = (
    "size()",
    *(f"completeness({column})" for column in COMPLETE),
    # where the paper infers that these are whole numbers, Spark's schema says so; their extremes are measured instead
    *(f"{name}({column})" for column in ("created_utc", "ups", "downs") for name in ("min", "max")),
    'compliance(predicate="week_day BETWEEN 0 AND 6")',
    'compliance(predicate="controversiality IN (0, 1)")',
    "approx_count_distinct(subreddit)",
    "approx_count_distinct(subreddit_id)",
    "approx_quantile(ups, q=0.9)",
)

ADVANCED = (
    *BASIC,
    *(
        f"{name}({column})"
        for column in ("subreddit", "subreddit_id")
        for name in ("unique_value_ratio", "count_distinct")
    ),
    "count_distinct(subreddit, subreddit_id)",
)

SUITES = {"basic": BASIC, "advanced": ADVANCED}

FLIGHTS_BASIC = (
    "size()",
    *(f"completeness({column})" for column in ("dep_time", "arr_time", "air_time", "carrier", "tailnum", "dest")),
    *(f"{name}({column})" for column in ("dep_delay", "distance") for name in ("min", "max", "mean", "stddev")),
    'compliance(predicate="distance > 0")',
    "approx_count_distinct(tailnum)",
    "approx_count_distinct(dest)",
    "approx_quantile(dep_delay, q=0.9)",
)

FLIGHTS_ADVANCED = (
    *FLIGHTS_BASIC,
    *(f"{name}({column})" for column in ("tailnum", "dest") for name in ("unique_value_ratio", "count_distinct")),
    "count_distinct(carrier, flight)",
)

FLIGHTS_SUITES = {"basic": FLIGHTS_BASIC, "advanced": FLIGHTS_ADVANCED}
