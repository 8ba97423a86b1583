"""PostgreSQL: connections and their threads, its own queries, and the index of words."""
