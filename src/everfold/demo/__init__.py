"""The demo: conversations that the package has, to try the engine and the dashboard with, without a model."""
