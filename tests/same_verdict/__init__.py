"""The same data give the same program and the same verdict: in every store, under every secret, on both engines."""
