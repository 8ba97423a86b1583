"""Contract tests live in the package; their assertions explain themselves as those of any test do."""

import pytest

pytest.register_assert_rewrite("everfold.testing.contract")
