"""Users over HTTP."""

import json

import httpx2
import pytest
from tests.server.conftest import Served
from tests.server.memory_rows import BEN, act_as

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}


async def add(admin: httpx2.AsyncClient, name: str, *bindings: str) -> httpx2.Response:
    """A new user."""
    return await admin.post("/api/users", json={"name": name, "bindings": list(bindings)})


async def test_the_default_user_is_listed(admin: httpx2.AsyncClient) -> None:
    """A new store has one user, who is the default one."""
    answer = await admin.get("/api/users")
    body = answer.json()
    assert answer.status_code == 200
    assert [(user["id"], user["is_default"]) for user in body["users"]] == [(body["default_user_id"], True)]
    assert (await admin.get("/api/users/default")).json() == body["users"][0]


async def test_a_new_user_is_read_back(admin: httpx2.AsyncClient) -> None:
    """Who was made is found where the answer says, with name and bindings, and with the same tag."""
    made = await add(admin, "Ada", "telegram:12", "mail:ada@fennel.example")
    assert made.status_code == 201
    read = await admin.get(made.headers["location"])
    assert read.json() == made.json()
    assert read.headers["etag"] == made.headers["etag"]
    assert made.json()["bindings"] == ["mail:ada@fennel.example", "telegram:12"]
    assert made.json()["created_at"].endswith("Z")


@pytest.mark.parametrize(
    "name", ["test", "Ada", "00000000-0000-0000-0000-000000000000", "6f1c2f0e", "%20", "6f1c 2f0e"]
)
async def test_what_names_nobody_is_malformed(admin: httpx2.AsyncClient, name: str) -> None:
    """Only `default` and a UUID other than the nil one name a user, whatever is asked of them."""
    for path in ("", "/memory", "/memory/audit", "/items", "/dreams"):
        answer = await admin.get(f"/api/users/{name}{path}")
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed_request")


async def test_nobody_is_not_found_and_not_made(admin: httpx2.AsyncClient) -> None:
    """A UUID that no user has gives 404, and to look at its memory makes no user."""
    assert (await admin.get(f"/api/users/{BEN}")).status_code == 404
    assert (await admin.get(f"/api/users/{BEN}/memory")).json()["topics"] == []
    assert (await admin.delete(f"/api/users/{BEN}/memory")).status_code == 404
    assert (await admin.get(f"/api/users/{BEN}")).status_code == 404


async def test_a_user_is_renamed_and_bound_anew(admin: httpx2.AsyncClient) -> None:
    """What a change names is changed, and what it leaves out stays."""
    path = (await add(admin, "Ada", "telegram:12")).headers["location"]
    assert (await admin.patch(path, json={"name": "Ada L."})).json()["bindings"] == ["telegram:12"]
    changed = await admin.patch(path, json={"bindings": ["mail:ada@fennel.example"]})
    assert (changed.json()["name"], changed.json()["bindings"]) == ("Ada L.", ["mail:ada@fennel.example"])


async def test_the_second_of_two_renames_is_told_the_first(admin: httpx2.AsyncClient) -> None:
    """A change of a user who was changed since is refused with what was expected and who they are now."""
    made = await add(admin, "Ada")
    path, tag = made.headers["location"], {"If-Match": made.headers["etag"]}
    first = await admin.patch(path, json={"name": "Ada L."}, headers=tag)
    assert first.status_code == 200
    second = await admin.patch(path, json={"name": "Ada M."}, headers=tag)
    assert (second.status_code, second.json()["current"]) == (409, first.json())
    assert second.json()["expected"] == made.headers["etag"].strip('"')
    assert (await admin.patch(path, json={"name": "Ada M."}, headers={"If-Match": "*"})).status_code == 200


@pytest.mark.parametrize("tag", ['W/"3"', "3", '"3', '"3", "4"', "", '""'])
async def test_a_tag_of_another_form_is_malformed(admin: httpx2.AsyncClient, tag: str) -> None:
    """An `If-Match` that is not one strong tag is refused, and changes nothing."""
    made = await add(admin, "Ada")
    answer = await admin.patch(made.headers["location"], json={"name": "B"}, headers={"If-Match": tag})
    assert answer.status_code == 400
    assert (await admin.get(made.headers["location"])).json() == made.json()


async def test_a_name_is_of_one_user(admin: httpx2.AsyncClient) -> None:
    """A name or a binding that is another user's is a conflict."""
    await add(admin, "Ada", "telegram:12")
    assert (await add(admin, "Ada")).status_code == 409
    assert (await add(admin, "Ben", "telegram:12")).status_code == 409


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "   "},
        {"name": "default"},
        {"name": "\ud83d"},
        {"name": "Ada", "bindings": ["nowhere"]},
        {"name": "Ada", "bindings": ["telegram:\udc00"]},
        {"name": "Ada", "colour": "red"},
    ],
)
async def test_what_makes_no_user_is_refused(admin: httpx2.AsyncClient, body: dict[str, object]) -> None:
    """A body that makes no user is refused, with what is wrong, and makes none."""
    answer = await admin.post("/api/users", content=json.dumps(body), headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert len((await admin.get("/api/users")).json()["users"]) == 1


async def test_pages_of_names_give_each_once(admin: httpx2.AsyncClient) -> None:
    """Users are found by their names in any case, those that begin with the text first, each on one page."""
    for name in ("Joanna", "ANNA", "Ben", "Annalise", "Bella Ann"):
        await add(admin, name)
    listed, cursor = [], ""
    while cursor is not None:
        page = (await admin.get(f"/api/users?q=ann&limit=2{cursor and f'&cursor={cursor}'}")).json()
        listed += [user["name"] for user in page["users"]]
        cursor = page["next_cursor"]
    assert listed == ["ANNA", "Annalise", "Joanna", "Bella Ann"]


async def test_pages_of_users_give_each_once(admin: httpx2.AsyncClient) -> None:
    """All users are listed page by page, each once, in the order in which they became known."""
    names = ["", *(f"user {number}" for number in range(6))]
    for name in names[1:]:
        await add(admin, name)
    listed, cursor = [], ""
    while cursor is not None:
        page = (await admin.get(f"/api/users?limit=3{cursor and f'&cursor={cursor}'}")).json()
        listed += [user["name"] for user in page["users"] if not user["is_default"]]
        cursor = page["next_cursor"]
    assert sorted(listed) == sorted(names[1:])


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=many"])
async def test_a_page_has_bounds(admin: httpx2.AsyncClient, query: str) -> None:
    """A limit that no page has is refused."""
    assert (await admin.get(f"/api/users?{query}")).status_code == 422


async def test_an_unknown_cursor_is_told(admin: httpx2.AsyncClient) -> None:
    """A cursor that no page gave is refused, with or without a name."""
    for query in ("cursor=nobody", f"cursor={BEN}&q=a"):
        answer = await admin.get(f"/api/users?{query}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_a_users_key_sees_that_user_only(served: Served, admin: httpx2.AsyncClient) -> None:
    """A key of one user lists and reads that user alone, and changes no user; an agent's key lists no user."""
    ada, ben = [(await add(admin, name)).json()["id"] for name in ("Ada", "Ben")]
    async with await act_as(served, f"user:{ada}") as client:
        assert [user["id"] for user in (await client.get("/api/users")).json()["users"]] == [ada]
        assert (await client.get("/api/users?q=ben")).json()["users"] == []
        assert (await client.get(f"/api/users/{ada}")).status_code == 200
        assert (await client.get(f"/api/users/{ben}")).status_code == 403
        assert (await client.patch(f"/api/users/{ada}", json={"name": "A"})).status_code == 403
        assert (await client.post("/api/users", json={"name": "C"})).status_code == 403
    async with await act_as(served, "agent:shop") as client:
        assert (await client.get("/api/users")).json()["users"] == []
        assert (await client.get(f"/api/users/{ada}")).status_code == 403
