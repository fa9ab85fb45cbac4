"""The page of performance: what a scan costs beside Spark and other tools, what a terabyte costs, and a large fleet."""
