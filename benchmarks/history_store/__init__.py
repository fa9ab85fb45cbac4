"""How large a history becomes in SQL, how fast the gate reads it, and how fast runs are committed (TRUST, test L1)."""
