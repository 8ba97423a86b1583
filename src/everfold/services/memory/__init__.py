"""Memory written, extracted, recalled."""
