"""Dreams: read, asked, judged, leased."""
