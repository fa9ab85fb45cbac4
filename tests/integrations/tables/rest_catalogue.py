"""A REST catalogue of Iceberg tables: the servlet that Iceberg tests its own clients with, in a JVM of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

JARS = os.environ.get("HEADGATE_REST_JARS", "")
"""The folder of its jars; `.ci/tables --catalogue rest` fetches them."""


@contextmanager
def serve_catalogue(folder: Path) -> Iterator[str]:
    """Serve a catalogue whose names and tables are in `folder`. Yields its address."""
    from py4j.java_gateway import JavaGateway

    folder.mkdir(parents=True, exist_ok=True)
    gateway = JavaGateway.launch_gateway(classpath=f"{JARS}/*", die_on_exit=True)
    try:
        java, jetty, iceberg = gateway.jvm.java, gateway.jvm.org.eclipse.jetty, gateway.jvm.org.apache.iceberg
        settings = java.util.HashMap()
        settings.put("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog")
        settings.put("uri", f"jdbc:sqlite:{folder}/names.db")
        settings.put("warehouse", str(folder))
        settings.put("jdbc.schema-version", "V1")
        files = gateway.jvm.org.apache.hadoop.conf.Configuration()
        tables = iceberg.CatalogUtil.buildIcebergCatalog("tables", settings, files)
        servlet = iceberg.rest.RESTCatalogServlet(iceberg.rest.RESTCatalogAdapter(tables))
        handler = jetty.servlet.ServletContextHandler()
        handler.addServlet(jetty.servlet.ServletHolder(servlet), "/*")
        server = jetty.server.Server(java.net.InetSocketAddress("127.0.0.1", 0))
        server.setHandler(handler)
        server.start()
        yield f"http://127.0.0.1:{server.getConnectors()[0].getLocalPort()}"
    finally:
        gateway.shutdown()
