"""The same metrics by hand-written Spark SQL aggregates: what one would write without this package."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st


def native_sql(frame: DataFrame) -> None:
    """One `agg`: counts, moments, HLL and KLL sketches, characters by class, frequent values; patterns by a regex."""
    wanted = [sf.count(sf.lit(1))]
    for field in frame.schema.fields:
        column = sf.col(field.name)
        hashed = column if isinstance(field.dataType, st.StringType) else sf.xxhash64(column)
        wanted += [
            sf.count(column),
            sf.hll_sketch_agg(hashed, 12),
            sf.call_function("approx_top_k", column, sf.lit(10)),
        ]
        if isinstance(field.dataType, st.StringType):
            bare = sf.regexp_replace(column, "[0-9]+", "9")
            pattern = sf.regexp_replace(sf.regexp_replace(bare, "[A-Z]+", "A"), "[a-z]+", "a")
            wanted += [
                sf.min(sf.length(column)),
                sf.max(sf.length(column)),
                sf.avg(sf.length(column)),
                sf.sum(sf.length(sf.regexp_replace(column, "[^a-zA-Z]", ""))),
                sf.sum(sf.length(sf.regexp_replace(column, "[^0-9]", ""))),
                sf.sum(sf.length(sf.regexp_replace(column, "[a-zA-Z0-9\\s]", ""))),
                sf.call_function("approx_top_k", pattern, sf.lit(10)),
            ]
        else:
            number = column.cast("double")
            wanted += [sf.min(column), sf.max(column), sf.sum(number), sf.avg(number), sf.stddev_pop(number)]
            wanted += [sf.call_function("kll_sketch_agg_double", number)]
    frame.agg(*(each.alias(f"m{at}") for at, each in enumerate(wanted))).collect()
