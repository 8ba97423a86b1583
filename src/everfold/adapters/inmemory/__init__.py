"""A store that lives in the memory of one process: for tests, trials and as the oracle of the other stores."""
