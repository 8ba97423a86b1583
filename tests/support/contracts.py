"""The contract of stores as classes of tests: one for each contract of the package, so that none can be left out."""

from collections.abc import Iterable

from everfold.testing.contract import StoreContract

CONTRACTS = StoreContract.__bases__
"""Every contract; `tests/contract/test_completeness.py` holds the package to it."""


def make_tests(store: str, contracts: Iterable[type] = CONTRACTS) -> dict[str, type]:
    """A class of tests for each contract, by its name: a module that takes them up runs them with its fixture `store`."""
    names = {f"Test{store}{contract.__name__}": contract for contract in contracts}
    return {
        name: type(name, (contract,), {"__doc__": f"Runs {contract.__name__} over this store."})
        for name, contract in names.items()
    }
