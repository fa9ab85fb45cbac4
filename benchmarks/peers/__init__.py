"""The same work asked of Headgate, of bare Spark and of the tools a user would pick instead: time, memory, answers."""
