"""The PostgreSQL store holds to the whole contract, over a server of the tests' own."""

from tests.support.contracts import make_tests

vars().update(make_tests("Postgres"))
