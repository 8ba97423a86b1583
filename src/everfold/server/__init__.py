"""The server: a control API over HTTP and the dashboard, over one engine. A route is parse, one call, render."""
