"""One limit for a whole table, calibrated jointly: a prototype, measured before it replaces the sum of rates.

The rarity of a batch is one number. The limit of it comes from how rare good batches of other tables are, and of the
table itself. docs/decisions/0035 says what came of it.
"""
