"""SQLite: one file, one writer, full-text search; through APSW, which carries its own current SQLite."""
