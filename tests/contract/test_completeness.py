"""No contract is left out where a store is put under the whole of it."""

from importlib import import_module
from pkgutil import iter_modules

from tests.support.contracts import CONTRACTS, make_tests

from everfold.testing import contract


def list_contracts() -> list[type]:
    """Every class with tests that a module of the package defines."""
    modules = [import_module(f"{contract.__name__}.{found.name}") for found in iter_modules(contract.__path__)]
    return [
        made
        for module in modules
        for made in vars(module).values()
        if isinstance(made, type) and made.__module__ == module.__name__ and list_tests(made)
    ]


def list_tests(made: type) -> list[str]:
    """The names of the tests that a class has."""
    return [name for name in dir(made) if name.startswith("test_")]


def test_the_whole_contract_has_every_contract() -> None:
    """A contract that is new in the package belongs to `StoreContract`, from which every store's tests are made."""
    assert set(list_contracts()) == set(CONTRACTS)


def test_no_test_hides_another_one() -> None:
    """`StoreContract` has the tests of all contracts: no two of them have the same name."""
    names = [name for made in list_contracts() for name in list_tests(made)]
    assert len(names) == len(set(names)) == len(list_tests(contract.StoreContract))


def test_every_contract_becomes_a_class_of_its_own() -> None:
    """What a module takes up has each contract under a name that pytest collects."""
    made = make_tests("Any")
    assert [one.__bases__ for one in made.values()] == [(one,) for one in CONTRACTS]
    assert all(name.startswith("TestAny") for name in made)
