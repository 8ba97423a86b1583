"""The reference is complete, and what it says is what is answered: nothing undocumented, and no failure, to any request."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
import requests
import schemathesis
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.server.asking import STREAM, Answer, ask
from tests.server.conftest import Served
from tests.server.operations import Json, fill, list_operations
from tests.server.seeding import Seed, sow
from tests.support.sizes import AT_FULL_SIZE

Case: TypeAlias = schemathesis.Case[Any]
Operation: TypeAlias = APIOperation[Any, Any, Any, Any]

CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
KEYS: Final = ("expired", "user:ben", "agent:desk", "user:ada reads", "agent:shop", "user:ada", "admin")
"""From the key that may the least, so that what is destroyed is destroyed last."""

OWN: Final = ("ada", "shop")
PROBLEM: Final = "application/problem+json"


# --- what the reference says of itself


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Seed:
    """A store with something of everything."""
    return asyncio.run(sow(tmp_path_factory.mktemp("openapi") / "seed"))


@pytest.fixture(scope="module")
def document(seed: Seed, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The reference, as clients get it."""

    async def read() -> Json:
        async with seed.serve(tmp_path_factory.mktemp("document") / "copy") as served:
            answer = await ask(served.app, "GET", "/api/openapi.json")
            found: Json = answer.body
            return found

    return asyncio.run(read())


def test_every_operation_is_described(document: Json) -> None:
    """Each has a summary, a tag, a rule of access, parameters in words, an answer with a schema, and its problems."""
    missing = []
    for operation in list_operations(document):
        details = operation.details
        missing += [f"{operation}: no {part}" for part in ("summary", "tags") if not details.get(part)]
        for one in details.get("parameters", ()):
            if not one.get("description"):
                missing.append(f"{operation}: {one['name']} is not described")
        answers = details["responses"]
        for status, answer in answers.items():
            contents = answer.get("content", {})
            if status != "204" and not any(
                content.get("schema") or content.get("itemSchema") for content in contents.values()
            ):
                missing.append(f"{operation}: {status} has no schema")
            if int(status) >= 400 and PROBLEM not in contents and "/health/" not in operation.path:
                missing.append(f"{operation}: {status} is no problem document")
        if not any(status.startswith("2") for status in answers) or not {"401", "403", "422"} <= set(answers):
            missing.append(f"{operation}: answers are missing, of {sorted(answers)}")
    assert not missing, "\n".join(missing)


def test_every_field_is_described(document: Json) -> None:
    """Each schema says what it is, and each of its fields what it holds: by words, an example or a type that says it all."""
    bare = []
    for name, schema in document["components"]["schemas"].items():
        if not schema.get("description"):
            bare.append(name)
        bare += [f"{name}.{field}" for field, said in schema.get("properties", {}).items() if not says_enough(said)]
    assert not bare, "not described: " + ", ".join(bare)


def says_enough(said: Json) -> bool:
    """Whether a field is told by words, an example, a default, or by its type alone."""
    if any(said.get(key) not in (None, "") for key in ("description", "examples", "enum", "const", "$ref", "default")):
        return True
    parts = [*said.get("anyOf", ()), *([said["items"]] if "items" in said else [])]
    return (
        said.get("type") == "boolean"
        or said.get("format") == "date-time"
        or any("$ref" in one or one.get("format") == "date-time" for one in parts)
    )


def test_operations_have_names_of_their_own(document: Json) -> None:
    """A client that is generated from the reference has a method for each operation."""
    names = [operation.details["operationId"] for operation in list_operations(document)]
    assert len(set(names)) == len(names)


# --- what is answered


@contextmanager
def serving(seed: Seed, folder: Path) -> Iterator[tuple[Served, BlockingPortal]]:
    """A server on a loop of its own, as generated requests come from a program without one."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(seed.serve(folder)) as served:
        yield served, portal


def pin_parameters(document: Json, seed: Seed) -> dict[str, Any]:
    """The reference with what a path may name: what the store has, and what it has not."""
    pinned: dict[str, Any] = json.loads(json.dumps(document))
    known = seed.known[OWN]
    for operation in list_operations(document):
        filled = fill(operation, known, seed).path.split("/")
        by_name = dict(zip(operation.path.split("/"), filled, strict=True))
        for one in pinned["paths"][operation.path][operation.method.lower()].get("parameters", ()):
            if one["in"] == "path":
                real = by_name[f"{{{one['name']}}}"]
                values = [int(real), 999_999] if one["schema"].get("type") == "integer" else [real, "nothing"]
                one["schema"] = {"enum": values}
    return pinned


def send(app: FastAPI, portal: BlockingPortal, case: Case, secret: str) -> schemathesis.Response:
    """What a generated request is answered with."""
    sent = requests.Request(**_read_request(case)).prepare()
    path, _, query = str(sent.path_url).partition("?")
    content = sent.body if isinstance(sent.body, bytes) else str(sent.body or "").encode("utf-8", "surrogatepass")
    headers = {key: str(value) for key, value in sent.headers.items() if key.lower() not in {"authorization", "host"}}

    async def act() -> Answer:
        return await ask(app, str(sent.method), path, query=query, secret=secret, body=content, headers=headers)

    answer = portal.call(act)
    grouped: dict[str, list[str]] = {}
    for name, value in answer.headers:
        grouped.setdefault(name, []).append(value)
    return schemathesis.Response(
        status_code=answer.status,
        headers=grouped,
        content=answer.content,
        request=sent,
        elapsed=0.0,
        verify=False,
        stream_cut_short=answer.header("content-type").startswith(STREAM),
    )


def _read_request(case: Case) -> dict[str, Any]:
    known = ("method", "url", "headers", "files", "data", "params", "auth", "cookies", "json")
    given_case = case.as_transport_kwargs(base_url="http://everfold.test")
    return {key: value for key, value in given_case.items() if key in known}


def try_operation(
    served: Served,
    portal: BlockingPortal,
    seed: Seed,
    operation: Operation,
    *,
    keys: Sequence[str],
    examples_count: int,
) -> list[str]:
    """What went wrong with generated requests, valid ones and others, each sent with these keys."""
    wrong: list[str] = []
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

        @settings(
            max_examples=examples_count,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def try_case(case: Case) -> None:
            for key in keys:
                response = send(served.app, portal, case, seed.secrets[key])
                try:
                    case.validate_response(response, checks=CHECKS)
                except FailureGroup as failed:
                    wrong.extend(f"{operation.label} with {key}: {one}" for one in failed.exceptions)

        try:
            try_case()
        except Exception as error:
            if type(error).__name__ != "Unsatisfiable":  # nothing invalid can be sent to it
                raise
    return wrong


def order_operations(schema: schemathesis.BaseSchema) -> list[Operation]:
    """All of them, those that take away last."""
    found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    return sorted(found, key=lambda one: (one.method == "delete", one.method != "get", one.label))


@pytest.mark.parametrize("examples_count", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_nothing_is_answered_that_is_not_documented(
    seed: Seed, document: Json, tmp_path: Path, examples_count: int
) -> None:
    """Generated requests, fit and unfit, with every key: no failure of the server, and no answer of another schema.

    By day each operation is tried with a third of the keys.
    """
    schema = schemathesis.openapi.from_dict(pin_parameters(document, seed))
    with serving(seed, tmp_path / "copy") as (served, portal):
        wrong = []
        for number, operation in enumerate(order_operations(schema)):
            keys = KEYS if AT_FULL_SIZE else KEYS[number % 3 :: 3]
            wrong += try_operation(served, portal, seed, operation, keys=keys, examples_count=examples_count)
            seed.restore(served, tmp_path / "copy")
    assert not wrong, "\n\n".join(dict.fromkeys(wrong))
