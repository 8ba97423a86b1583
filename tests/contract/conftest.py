"""Contract tests live in the package; their assertions explain themselves as those of any test do."""

import pytest

pytest.register_assert_rewrite(
    "everfold.testing.contract_sessions",
    "everfold.testing.contract_log",
    "everfold.testing.contract_compaction",
    "everfold.testing.contract_work",
    "everfold.testing.contract_history",
    "everfold.testing.contract_usage",
    "everfold.testing.contract_users",
    "everfold.testing.contract_vectors",
    "everfold.testing.contract_access",
)
