"""Write, audit, publish on real Iceberg and Delta tables: readers, kills, races, jobs and time."""
