"""Tests of table formats, on a Spark that has them: `.ci/tables` runs them."""
