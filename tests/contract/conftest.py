"""Contract tests live in the package; their assertions explain themselves as those of any test do."""

import pytest

pytest.register_assert_rewrite(
    "everfold.testing.contract.sessions",
    "everfold.testing.contract.log",
    "everfold.testing.contract.compaction",
    "everfold.testing.contract.work",
    "everfold.testing.contract.history",
    "everfold.testing.contract.usage",
    "everfold.testing.contract.users",
    "everfold.testing.contract.vectors",
    "everfold.testing.contract.access",
)
