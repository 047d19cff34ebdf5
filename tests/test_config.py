"""Settings: where they come from, and what a wrong one is told."""

import os
from pathlib import Path

import pytest

from claude_mem_lite.config import LAYERS, PRESETS, Config, OwnPreset, is_excluded
from claude_mem_lite.config_loader import load_config, read_saved
from claude_mem_lite.context import presets
from claude_mem_lite.context.presets import find_preset
from claude_mem_lite.errors import ConfigError


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_config(tmp_path / "config.toml", {}) == Config()


def test_a_file_that_an_editor_has_just_emptied_is_read_once_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")

    def save(_: float) -> None:
        path.write_text("debug = true\n")

    assert read_saved(path, save) == b"debug = true\n"


def test_a_file_that_stays_empty_holds_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")
    assert load_config(path, {}) == Config()
    os.utime(path, (1, 1))
    assert read_saved(path, lambda _: pytest.fail("nobody is saving a file of long ago")) == b""


def test_the_environment_outranks_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("budget_tokens = 900\n")
    assert load_config(tmp_path / "config.toml", {}).budget_tokens == 900
    assert load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_BUDGET": "700"}).budget_tokens == 700


def test_prompts_may_be_given_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("prompt_budget_tokens = 0\ndebug = true\n")
    config = load_config(tmp_path / "config.toml", {})
    assert (config.prompt_budget_tokens, config.debug) == (0, True)
    more = {"CLAUDE_MEM_LITE_PROMPT_BUDGET": "1200"}
    assert load_config(tmp_path / "config.toml", more).prompt_budget_tokens == 1200
    (tmp_path / "config.toml").unlink()
    assert load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_PROMPT_BUDGET": "0"}).prompt_budget_tokens == 0


@pytest.mark.parametrize(("given", "is_on"), [("1", True), ("yes", True), ("0", False), ("off", False), ("", True)])
def test_debug_in_the_environment_outranks_the_file(tmp_path: Path, given: str, is_on: bool) -> None:
    (tmp_path / "config.toml").write_text("debug = true\n")
    assert load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_DEBUG": given}).debug is is_on


def test_an_unknown_key_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("exclud = []\n")
    with pytest.raises(ConfigError, match=r"unknown key exclud; did you mean exclude\?"):
        load_config(tmp_path / "config.toml", {})


@pytest.mark.parametrize(
    "text",
    [
        "budget_tokens = 0",
        "budget_tokens = '900'",
        "budget_tokens = true",
        "exclude = 'x'",
        "exclude = [1]",
        "provider = 1",
        "model = ['a']",
        "base_url = true",
        "daily_usd = -0.1",
        "daily_usd = nan",
        "session_usd = inf",
        "session_usd = '1'",
        "daily_tokens = -1",
        "session_tokens = 1.5",
        "prompt_budget_tokens = -1",
        "prompt_budget_tokens = '3000'",
        "debug = 1",
        "debug = 'yes'",
    ],
)
def test_a_value_of_the_wrong_form_is_refused_with_an_example(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError, match="for example"):
        load_config(tmp_path / "config.toml", {})


def test_a_preset_of_ones_own_keeps_its_order_and_the_names_of_the_layers(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "preset = 'mine'\n[presets.mine]\nobservations = 500\nchanged_code = 300\n'block+next' = 100\nreserve = 100\n"
    )
    config = load_config(tmp_path / "config.toml", {})
    caps = (("observations", 500), ("changed code", 300), ("block+next", 100), ("reserve", 100))
    assert (config.preset, config.presets) == ("mine", (OwnPreset("mine", caps),))
    layers = [(layer.name, layer.cap_tokens) for layer in find_preset(config).layers]
    assert layers == [("observations", 500), ("changed code", 300), ("block+next", 100)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[presets.mine]\nobservation = 500", r"there is no layer 'observation'; did you mean observations\?"),
        ("[presets.mine]\nweather = 500", "there is no layer 'weather'; known are handoff, sessions"),
        ("[presets.mine]\nsessions = 0", "sessions must be one positive whole number"),
        ("[presets.mine]\nchanged_code = 10\nchanged-code = 20", "must be one positive whole number"),
        ("[presets.mine]\nreserve = 200", "has no layer"),
        ("[presets.mine]\nsessions = 200\nsession_index = 200", "sessions and session index show the same; name one"),
        ("[presets.mine]\nfunction_map = 200\nchanged_code = 200", "changed code and function map show the same"),
        ("[presets.codes]\nsessions = 200", "the preset codes is built in"),
        ("presets = 3", "presets must be tables"),
        ("[presets]\nmine = 3", "presets must be tables"),
        ("preset = 'mine'", "preset is 'mine'; known are balanced, layers, codes"),
    ],
)
def test_a_preset_that_cannot_be_is_refused_with_what_could(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError, match=told):
        load_config(tmp_path / "config.toml", {})


def test_a_preset_in_the_environment_outranks_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("preset = 'layers'\n")
    assert load_config(tmp_path / "config.toml", {}).preset == "layers"
    assert load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_PRESET": "codes"}).preset == "codes"
    with pytest.raises(ConfigError, match="CLAUDE_MEM_LITE_PRESET is 'code'"):
        load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_PRESET": "code"})


def test_settings_know_every_layer_and_preset_that_there_is() -> None:
    assert list(PRESETS) == list(presets.BUILT_IN)
    assert list(LAYERS) == list(presets.LAYERS)


@pytest.mark.parametrize("content", [b"budget_tokens = ", b"\xff\xfe", b"[exclude"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"config\.toml cannot be read"):
        load_config(tmp_path / "config.toml", {})


def test_a_wrong_budget_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="CLAUDE_MEM_LITE_BUDGET"):
        load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_BUDGET": "lots"})


@pytest.mark.parametrize(
    ("glob", "folder", "excluded"),
    [
        ("/home/me/private", "/home/me/private", True),
        ("/home/me/private", "/home/me/private/deep/down", True),
        ("/home/me/private/", "/home/me/private", True),
        ("/home/me/private", "/home/me/privateer", False),
        ("/home/*/diary", "/home/you/diary/2026", True),
        ("/home/me/clients/*", "/home/me/clients/acme/src", True),
        ("/home/me/clients/*", "/home/me/clients", False),
    ],
)
def test_a_folder_is_excluded_with_all_that_is_in_it(glob: str, folder: str, excluded: bool) -> None:
    assert is_excluded(Config(exclude=(glob,)), folder) is excluded


@pytest.mark.parametrize("glob", ["~/clients", "*/clients", "/srv/clients", "**/clients", "~"])
def test_an_excluded_folder_is_a_whole_path(tmp_path: Path, glob: str) -> None:
    (tmp_path / "config.toml").write_text(f'exclude = ["{glob}"]')
    assert load_config(tmp_path / "config.toml", {}).exclude == (glob,)


@pytest.mark.parametrize(
    ("glob", "told"),
    [
        ("clients", r"exclude: clients is no whole path; write ~/clients or \*/clients"),
        ("./clients", r"\./clients is no whole path; write ~/clients or"),
        ("clients/*", r"write ~/clients/\* or"),
        ("", "an empty string is no whole path"),
    ],
)
def test_an_excluded_folder_that_would_match_nothing_is_refused(tmp_path: Path, glob: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(f'exclude = ["~/notes", "{glob}"]')
    with pytest.raises(ConfigError, match=told):
        load_config(tmp_path / "config.toml", {})


@pytest.mark.parametrize("name", ["api_key", "key", "anthropic_api_key", "OPENAI_API_KEY", "token"])
def test_a_models_key_is_told_where_it_belongs(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.toml").write_text(f'{name} = "sk-123"')
    with pytest.raises(ConfigError, match=f"{name} does not belong here") as caught:
        load_config(tmp_path / "config.toml", {})
    assert caught.value.next_step == f"put it into the file {tmp_path / 'api-key'}"
    assert "sk-123" not in str(caught.value)


def test_a_tilde_stands_for_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert is_excluded(Config(exclude=("~/diary",)), "/home/me/diary/today")


def test_a_folder_is_excluded_by_any_spelling_of_its_path(tmp_path: Path) -> None:
    (tmp_path / "secret" / "proj").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    config = Config(exclude=(str(tmp_path / "secret"),))
    assert is_excluded(config, str(tmp_path / "link" / "proj"))
    assert is_excluded(config, str(tmp_path / "other" / ".." / "secret" / "proj"))
    assert is_excluded(Config(exclude=(str(tmp_path / "link"),)), str(tmp_path / "secret" / "proj"))


@pytest.mark.parametrize("budget", ["²", "9" * 5000, "0", "-1"])
def test_a_budget_that_is_no_plain_number_is_refused(tmp_path: Path, budget: str) -> None:
    if budget != "0":
        with pytest.raises(ConfigError, match="CLAUDE_MEM_LITE_PROMPT_BUDGET"):
            load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_PROMPT_BUDGET": budget})
    with pytest.raises(ConfigError):
        load_config(tmp_path / "config.toml", {"CLAUDE_MEM_LITE_BUDGET": budget})


def test_no_model_is_asked_unless_one_is_configured() -> None:
    assert Config().provider == "rules"


def test_dollars_may_be_whole_and_caps_may_be_zero(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("daily_usd = 2\nsession_usd = 0\ndaily_tokens = 0\n")
    config = load_config(tmp_path / "config.toml", {})
    assert (config.daily_usd, config.session_usd, config.daily_tokens) == (2, 0, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('provider = "antropic"', r"no provider 'antropic'; did you mean anthropic\?"),
        ('provider = "x"', "known are rules, anthropic, openai, claude-cli"),
        ('provider = "openai"', "openai needs a model"),
        ('base_url = "localhost:11434"', "base_url is no address"),
        ('base_url = "http://"', "base_url is no address"),
        ('base_url = "http://[::1"', "base_url is no address"),
        ('base_url = "http://h:port/"', "base_url is no address"),
        ('base_url = "file:///etc"', "base_url is no address"),
    ],
)
def test_a_provider_that_cannot_be_used_is_told_with_what_would_do(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError, match=told):
        load_config(tmp_path / "config.toml", {})
