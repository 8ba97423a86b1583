"""What commands print: tables, rows and lines."""
