"""The same metrics by hand-written Spark SQL aggregates: what one would write without this package."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T


def native_sql(frame: DataFrame) -> None:
    """One `agg`: counts, moments, HLL and KLL sketches, characters by class, frequent values; patterns by a regex."""
    wanted = [F.count(F.lit(1))]
    for field in frame.schema.fields:
        column = F.col(field.name)
        hashed = column if isinstance(field.dataType, T.StringType) else F.xxhash64(column)
        wanted += [F.count(column), F.hll_sketch_agg(hashed, 12), F.call_function("approx_top_k", column, F.lit(10))]
        if isinstance(field.dataType, T.StringType):
            bare = F.regexp_replace(column, "[0-9]+", "9")
            pattern = F.regexp_replace(F.regexp_replace(bare, "[A-Z]+", "A"), "[a-z]+", "a")
            wanted += [
                F.min(F.length(column)),
                F.max(F.length(column)),
                F.avg(F.length(column)),
                F.sum(F.length(F.regexp_replace(column, "[^a-zA-Z]", ""))),
                F.sum(F.length(F.regexp_replace(column, "[^0-9]", ""))),
                F.sum(F.length(F.regexp_replace(column, "[a-zA-Z0-9\\s]", ""))),
                F.call_function("approx_top_k", pattern, F.lit(10)),
            ]
        else:
            number = column.cast("double")
            wanted += [F.min(column), F.max(column), F.sum(number), F.avg(number), F.stddev_pop(number)]
            wanted += [F.call_function("kll_sketch_agg_double", number)]
    frame.agg(*(each.alias(f"m{at}") for at, each in enumerate(wanted))).collect()
