"""Parts of the kit: settings, the catalog, and one module per part that is installed."""
