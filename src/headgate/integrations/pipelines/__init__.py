"""Expectations for Spark declarative pipelines: of single rows, and of a table as a whole."""
