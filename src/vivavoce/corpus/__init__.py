"""Papers on disk: PDFs -> DuckDB tables and a search index."""
