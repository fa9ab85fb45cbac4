"""The version of the package. It is defined only here, and the build reads it from this file."""

__version__ = "0.1.0"
