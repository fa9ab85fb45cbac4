"""How many suggestions hold on rows that they were not made from (Schelter et al., VLDB 2018, section 5.3)."""
