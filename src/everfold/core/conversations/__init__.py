"""Which session a request of the gateway goes on with, and what its client holds of it."""
