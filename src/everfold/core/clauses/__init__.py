"""A sentence taken apart, for comparing it with another: its clauses, their subjects, verbs, phrases and values."""
