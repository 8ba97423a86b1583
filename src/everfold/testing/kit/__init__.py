"""What tests are made with: fakes, builders, strategies, and a server that answers as a model does."""
