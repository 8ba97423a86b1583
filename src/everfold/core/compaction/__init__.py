"""When to compact and what it does: plan, layout, fold, certificate, compaction."""
