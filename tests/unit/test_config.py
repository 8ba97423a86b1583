"""Settings: where each comes from, which wins, and what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import everfold
from everfold.config import RENAMED, Overrides, Settings, explain_settings, list_settings, load_settings
from everfold.errors import InvalidInputError

KEY = "compaction.trigger_ratio"
ENV = "EVERFOLD_COMPACTION__TRIGGER_RATIO"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and nothing in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVERFOLD_COMPACTION__SYNCHRONOUS")
    return tmp_path


def write(folder: Path, text: str, name: str = "everfold.toml") -> Path:
    """A settings file."""
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def list_names(folder: Path) -> list[str]:
    """What a folder holds."""
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("has_file", [False, True])
@pytest.mark.parametrize("has_environment", [False, True])
@pytest.mark.parametrize("has_argument", [False, True])
def test_precedence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, has_file: bool, has_environment: bool, has_argument: bool
) -> None:
    """An argument outranks the environment, that the file, that the default; each tells where it came from."""
    wanted: tuple[float | None, str] = (None, "default")
    if has_file:
        write(folder, "[compaction]\ntrigger_ratio = 0.81\n")
        wanted = (0.81, "file")
    if has_environment:
        monkeypatch.setenv(ENV, "0.82")
        wanted = (0.82, "environment")
    overrides = {"compaction": {"trigger_ratio": 0.83}} if has_argument else None
    if has_argument:
        wanted = (0.83, "argument")
    settings = load_settings(overrides=overrides)
    assert settings.compaction.trigger_ratio == wanted[0]
    explained = {key: (value, place) for key, value, place in explain_settings(settings, overrides=overrides)}
    assert explained[KEY] == wanted
    assert explained.pop(KEY)
    assert {place for _, place in explained.values()} == {"default"}


def test_sources_are_joined_key_by_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of one source does not hide the other keys of its section in another."""
    write(folder, "[compaction]\ntarget_ratio = 0.5\nkeep_recent = 9\n[model]\ncontext_limit = 9000\n")
    monkeypatch.setenv("EVERFOLD_COMPACTION__KEEP_RECENT", "11")
    overrides = {"compaction": {"hard_limit_ratio": 0.9}}
    settings = load_settings(overrides=overrides)
    compaction = settings.compaction
    assert (compaction.target_ratio, compaction.keep_recent, compaction.hard_limit_ratio) == (0.5, 11, 0.9)
    assert settings.model.context_limit == 9000
    places = {key: place for key, _, place in explain_settings(settings, overrides=overrides)}
    assert places["compaction.target_ratio"] == "file"
    assert places["compaction.keep_recent"] == "environment"
    assert places["compaction.hard_limit_ratio"] == "argument"
    assert places["model.context_limit"] == "file"
    assert places["store.url"] == "default"


def test_every_key_is_explained(folder: Path) -> None:
    """Every key is explained once, in the order of the documentation, with its effective value."""
    settings = load_settings()
    rows = explain_settings(settings)
    assert [key for key, _, _ in rows] == list(list_settings())
    assert len(set(list_settings())) == len(rows) > 20
    for key, value, _ in rows:
        section, name = key.split(".")
        held = getattr(settings, section)
        assert value == ([] if held in ((), {}) else getattr(held, name))
    assert folder.exists()


USERS = """
[[users]]
name = "Ilse"
bindings = ["telegram:12"]

[[users]]
name = "ben"
is_default = true
"""


def test_users_are_a_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of one source takes the place of that of a lower one, and its keys are explained with all values."""

    def explain(overrides: Overrides | None = None) -> list[tuple[object, str]]:
        rows = explain_settings(load_settings(overrides=overrides), overrides=overrides)
        return [(value, place) for key, value, place in rows if key.startswith("users.")]

    assert explain() == [([], "default")] * 3
    write(folder, USERS)
    entries = load_settings().user_entries()
    assert [(it.name, [str(binding) for binding in it.bindings], it.is_default) for it in entries] == [
        ("Ilse", ["name:Ilse", "telegram:12"], False),
        ("ben", ["name:ben"], True),
    ]
    assert explain() == [(["Ilse", "ben"], "file"), ([("telegram:12",), ()], "file"), ([False, True], "file")]
    monkeypatch.setenv("EVERFOLD_USERS", '[{"name": "eve"}]')
    assert explain()[0] == (["eve"], "environment")
    assert explain({"users": [{"name": "ada"}]})[0] == (["ada"], "argument")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[users]]\nnam = "Ilse"\n', "did you mean 'users.name'"),
        ('[[users]]\nbindings = ["telegram:12"]\n', "'users.name' does not fit"),
        ('[[users]]\nname = "Ilse"\nbindings = ["12"]\n', "CHANNEL:ID"),
        ('[[users]]\nname = "Ilse"\nbindings = "telegram:12"\n', "'users.bindings' does not fit"),
        ('[[users]]\nname = ""\n', "'users.name' does not fit"),
        ('[[users]]\nname = "Ilse"\n[[users]]\nname = "Ilse"\n', "both have name:Ilse"),
        ('[users]\nname = "Ilse"\n', "'users"),
    ],
)
def test_users_that_do_not_fit(folder: Path, text: str, words: str) -> None:
    """An unknown key of a user, a value that is none, and users that contradict each other are refused by name."""
    write(folder, text)
    with pytest.raises(InvalidInputError) as caught:
        load_settings()
    assert words in str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["EVERFOLD_USERS__NAME", "EVERFOLD_USERS__0__NAME", "EVERFOLD_USERS"])
def test_one_variable_is_no_list_of_users(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A variable that names a key of a list, and not an entry, is refused as an error of ours."""
    monkeypatch.setenv(name, "Ilse")
    with pytest.raises(InvalidInputError, match=r"(?i)users"):
        load_settings()


def test_a_file_of_any_name(folder: Path) -> None:
    """A file that is named is read instead of the one in the working folder."""
    write(folder, "[model]\ncontext_limit = 1111\n")
    path = write(folder, "[model]\ncontext_limit = 2222\n", "shop.toml")
    settings = load_settings(path)
    assert settings.model.context_limit == 2222
    places = {key: place for key, _, place in explain_settings(settings, path=path)}
    assert places["model.context_limit"] == "file"


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[compaction]\ntriger_ratio = 0.7\n", "compaction.trigger_ratio"),
        ("[model]\ncontext_limits = 9000\n", "model.context_limit"),
        ("[compactoin]\ntrigger_ratio = 0.7\n", "compaction"),
        ("[store]\nuri = 'memory://'\n", "store.url"),
        ("[modl]\nname = 'x'\n", "did you mean 'model'?"),
        ("[modle]\nname = 'x'\n", "did you mean 'model'?"),
        ("[zebra]\nstripes = 4\n", "docs/reference/settings.md"),
    ],
)
def test_an_unknown_key_in_the_file(folder: Path, text: str, nearest: str) -> None:
    """An unknown key is refused with the nearest known one."""
    write(folder, text)
    with pytest.raises(InvalidInputError, match="is unknown") as caught:
        load_settings()
    assert nearest in str(caught.value)


def test_an_unknown_argument(folder: Path) -> None:
    """An unknown key among the arguments is refused with the nearest known one."""
    with pytest.raises(InvalidInputError, match=r"did you mean 'compaction\.kept_ratio'"):
        load_settings(overrides={"compaction": {"keep_ratio": 0.1}})
    with pytest.raises(InvalidInputError, match="is unknown"):
        load_settings(overrides={"zebra": {"stripes": 4}})
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("EVERFOLD_COMPACTION__TRIGER_RATIO", "compaction.trigger_ratio"),
        ("EVERFOLD_COMPACTOIN__TRIGGER_RATIO", "compaction.trigger_ratio"),
        ("EVERFOLD_COMPACTION_TRIGGER_RATIO", "EVERFOLD_COMPACTION__TRIGGER_RATIO"),
        ("EVERFOLD_MODEL__CONTEXT_LIMITS", "model.context_limit"),
        ("EVERFOLD_ZEBRA__STRIPES", "docs/reference/settings.md"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_an_unknown_variable(monkeypatch: pytest.MonkeyPatch, name: str, nearest: str) -> None:
    """A variable that names no key is refused with the nearest known one, a single underscore included."""
    monkeypatch.setenv(name, "0.7")
    with pytest.raises(InvalidInputError, match="is unknown") as caught:
        load_settings()
    assert nearest in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_a_variable_of_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that only shares the prefix is left alone."""
    monkeypatch.setenv("EVERFOLD_DATA", "/somewhere")
    monkeypatch.setenv("everfold_model__context_limit", "9000")
    assert load_settings().model.context_limit == 9000


@pytest.mark.parametrize(
    "compaction",
    [
        {"trigger_ratio": 0.5},
        {"trigger_ratio": 0.99},
        {"hard_limit_ratio": 1.1},
        {"target_ratio": 0.0},
        {"target_ratio": 0.96},
        {"target_ratio": 0.32},
        {"tail_ratio": 0.55},
        {"kept_ratio": 0.5},
        {"standing_ratio": 0.3},
        {"visible_ratio": 0.7},
        {"trigger_ratio": float("nan")},
    ],
    ids=repr,
)
@pytest.mark.usefixtures("folder")
def test_contradictions(compaction: Mapping[str, object]) -> None:
    """Settings that contradict each other are refused when they are loaded, before any store is opened."""
    with pytest.raises(InvalidInputError):
        load_settings(overrides={"compaction": compaction})


@pytest.mark.parametrize(
    ("compaction", "told"),
    [
        (
            {"tail_ratio": 0.58, "kept_ratio": 0.006},
            "with the least that digests take 0.05 is above .* Lower tail_ratio, or",
        ),
        ({"kept_ratio": 0.5}, "with kept_ratio 0.5 is above target_ratio .* Lower tail_ratio or kept_ratio, or raise"),
        ({"standing_ratio": 0.5}, "with standing_ratio 0.5 is above .* Lower tail_ratio or standing_ratio, or raise"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_share_over_the_target_is_told_by_its_name(compaction: Mapping[str, object], told: str) -> None:
    """The error names a setting with the value that was given, and tells only what helps."""
    with pytest.raises(InvalidInputError, match=told):
        load_settings(overrides={"compaction": compaction})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model.context_limit", 0),
        ("model.context_limit", "many"),
        ("model.answer_tokens", -1),
        ("compaction.enabled", "perhaps"),
        ("compaction.keep_recent", 0),
        ("compaction.row_window", 1.5),
        ("compaction.suffix_ratio", 1.0),
        ("compaction.message_cap", 0),
        ("compaction.min_fold_tokens", -1),
        ("store.url", None),
        ("model.name", "gpt-5-mini"),
        ("model.name", "oracle:delphi"),
        ("model.name", "openai:"),
        ("compaction.model", "script: "),
        ("compaction.summary_timeout_secs", 0),
        ("compaction.retries", -1),
        ("spend.per_compaction_usd", 0),
        ("spend.per_day_usd", -1),
    ],
)
@pytest.mark.usefixtures("folder")
def test_values_that_do_not_fit(key: str, value: object) -> None:
    """A value of another kind or out of its bounds is refused with its key and what was given."""
    section, name = key.split(".")
    with pytest.raises(InvalidInputError, match=rf"'{section}\.{name}' does not fit") as caught:
        load_settings(overrides={section: {name: value}})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [("api_key_env", "sk-a-key-itself"), ("base_url", "https://me:secret@example.org/v1"), ("base_url", "secret")],
)
@pytest.mark.usefixtures("folder")
def test_a_secret_in_the_wrong_place_is_not_repeated(key: str, value: str) -> None:
    """A key where the name of its variable belongs, or a password in an address, is refused without being shown."""
    with pytest.raises(InvalidInputError, match=f"'model.{key}' does not fit") as caught:
        load_settings(overrides={"model": {key: value}})
    assert value not in str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("key", ["server.public_url", "gateway.upstream", "model.base_url", "embed.base_url"])
@pytest.mark.parametrize(
    "url", ["http://[::1", "http://[x", "http://a:99999", "http://a:b", "http:///v1", "http://a\0b"]
)
@pytest.mark.usefixtures("folder")
def test_an_address_that_is_none(key: str, url: str) -> None:
    """A URL that cannot be parsed is refused by its key, with what a URL needs, before anything is opened."""
    section, name = key.split(".")
    with pytest.raises(InvalidInputError, match=rf"'{key}' does not fit: .*https://HOST:PORT"):
        load_settings(overrides={section: {name: url}})


@pytest.mark.parametrize(
    "url", ["http://[::1]:8080/v1", "https://memory.example", "http://127.0.0.1:11434", "https://b\u00fccher.example"]
)
@pytest.mark.usefixtures("folder")
def test_an_address(url: str) -> None:
    """A URL with a name, an IPv4 or an IPv6 address, with and without a port and a path, stays as it is."""
    assert load_settings(overrides={"gateway": {"upstream": url}}).gateway.upstream == url


def test_how_a_digest_is_made_is_not_the_sessions() -> None:
    """Which model writes, for how long and how often it is asked does not change what a session holds."""
    plain = load_settings(overrides={"model": {"name": "openai:one"}}).session_settings()
    compaction = {"model": "openai:any", "summary_timeout_secs": 5, "retries": 0}
    assert load_settings(overrides={"compaction": compaction}).session_settings() == plain


@pytest.mark.parametrize(
    ("sections", "wanted"),
    [
        ({}, (0.95, False)),
        ({"model": {"name": "openai:any"}}, (0.80, True)),
        ({"compaction": {"model": "openai:any"}}, (0.80, True)),
        ({"compaction": {"model": "openai:any", "trigger_ratio": 0.9}}, (0.9, True)),
        ({"compaction": {"hard_limit_ratio": 0.9}}, (0.9 * 0.97, False)),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("folder")
def test_the_trigger_where_none_is_set(
    sections: Mapping[str, Mapping[str, object]], wanted: tuple[float, bool]
) -> None:
    """A compaction is due late where no model's digest is awaited, earlier where one is, and below the hard limit."""
    policy = load_settings(overrides=sections).session_settings().policy
    assert (policy.trigger_ratio, policy.awaits_model) == wanted


def test_a_file_that_is_none(folder: Path) -> None:
    """A named file that is missing, a folder or no TOML is refused with its path; a missing default one is not."""
    assert load_settings().model_dump() == Settings().model_dump()
    for path in (folder / "missing.toml", folder):
        with pytest.raises(InvalidInputError, match="no settings file"):
            load_settings(path)
    for text in ("[compaction", "compaction = ", "= 3"):
        path = write(folder, text, "broken.toml")
        with pytest.raises(InvalidInputError, match="cannot be read as TOML"):
            load_settings(path)
    (folder / "latin.toml").write_bytes(b'[store]\nurl = "\xe9"\n')
    with pytest.raises(InvalidInputError, match="cannot be read as TOML"):
        load_settings(folder / "latin.toml")
    path = write(folder, "compaction = 3\n", "flat.toml")
    with pytest.raises(InvalidInputError, match="compaction"):
        load_settings(path)


@pytest.mark.usefixtures("folder")
def test_a_section_in_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole section may be given as JSON; what is no JSON is refused as what it is, not as a file."""
    monkeypatch.setenv("EVERFOLD_MODEL", '{"context_limit": 9000}')
    settings = load_settings()
    assert settings.model.context_limit == 9000
    assert {key: place for key, _, place in explain_settings(settings)}["model.context_limit"] == "environment"
    monkeypatch.setenv("EVERFOLD_MODEL", "9000")
    with pytest.raises(InvalidInputError, match="model"):
        load_settings()
    monkeypatch.setenv("EVERFOLD_MODEL", "{")
    with pytest.raises(InvalidInputError, match="environment"):
        load_settings()


@pytest.mark.anyio
async def test_open_takes_settings(folder: Path) -> None:
    """An engine holds what it is given: settings that were loaded before, a file, or arguments, which outrank it."""
    path = write(folder, "[store]\nurl = 'memory://'\n[model]\ncontext_limit = 9000\n", "shop.toml")
    async with everfold.open(config=path) as engine:
        assert (await engine.session()).settings.limit_tokens == 9000
    async with everfold.open(settings=load_settings(path)) as engine:
        assert (await engine.session()).settings.limit_tokens == 9000
    async with everfold.open(config=path, settings={"model": {"context_limit": 7000}}) as engine:
        assert (await engine.session()).settings.limit_tokens == 7000
    assert list_names(folder) == ["shop.toml"]
    async with everfold.open(f"sqlite:///{folder}/given.db", config=path) as engine:
        await engine.session()
    assert "given.db" in list_names(folder)


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_renamed_setting_is_refused_with_its_new_name(tmp_path: Path, old: str, new: str) -> None:
    """The old name of a setting is no alias: in a file it is refused, and the error names the new one."""
    section, _, name = old.partition(".")
    table = f"{section}.desk" if section == "agents" else section
    path = tmp_path / "everfold.toml"
    path.write_text(f"[{table}]\n" + (f"{name} = 1\n" if name else ""))
    wanted = new.replace("agents.", "agents.desk.") if section == "agents" else RENAMED.get(section, new)
    with pytest.raises(InvalidInputError, match=f"is now called '{wanted}'"):
        load_settings(path)


@pytest.mark.parametrize(
    ("table", "name", "meant"),
    [
        ("agents.desk", "recall_enable", "agents.desk.recall_enabled"),
        ("hands.courier", "modle", "hands.courier.model"),
        ("memory", "sistem", "memory.system"),
    ],
)
def test_a_name_that_is_nearly_right_is_named_as_it_is_typed(tmp_path: Path, table: str, name: str, meant: str) -> None:
    """The name that is proposed for an unknown one can be typed: it has the name of its agent, hand or source."""
    path = tmp_path / "everfold.toml"
    path.write_text(f"[{table}]\n{name} = 1\n")
    with pytest.raises(InvalidInputError, match=f"'{table}.{name}' is unknown; did you mean '{meant}'"):
        load_settings(path)


def test_a_renamed_variable_is_refused_with_its_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the environment with an old name is refused too, also where its section is gone."""
    monkeypatch.setenv("EVERFOLD_SWEEP__ATTEMPTS", "2")
    with pytest.raises(InvalidInputError, match="is now called EVERFOLD_RECOVERY__ATTEMPTS"):
        load_settings()


def test_a_new_name_is_one_of_a_setting() -> None:
    """What a renamed setting is called now is a setting, or a section."""
    assert set(RENAMED.values()) <= {*list_settings(), *Settings.model_fields}
