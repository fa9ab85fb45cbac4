"""Runs the migrations on the connection, and in the transaction, that `upgrade` passes."""

from alembic import context

if hasattr(context, "config"):  # only while Alembic runs this file, not when a tool merely imports it
    context.configure(connection=context.config.attributes["connection"], version_table="headgate_version")
    context.run_migrations()
