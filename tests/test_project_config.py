"""What a repository may say of itself, and what it may not."""

import os
from dataclasses import fields
from pathlib import Path

import pytest

from claude_mem_lite.config import Config, in_folder, is_excluded, project_settings
from claude_mem_lite.config_loader import load_config, settings_in_force
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.project_config import ALLOWED, MAX_BYTES, MAX_ITEM_LENGTH, MAX_ITEMS, MAX_PROBLEMS, NAME


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository, as far as it matters here."""
    made = tmp_path / "shop"
    (made / ".git").mkdir(parents=True)
    (made / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (made / "vendor" / "deep").mkdir(parents=True)
    (made / "src").mkdir()
    return made


def says(root: Path, text: str) -> Config:
    """The settings in the repository when its file says this."""
    (root / NAME).write_text(text)
    return in_folder(Config(), str(root / "src"), {})


def test_budgets_may_be_lowered_and_not_raised(root: Path) -> None:
    here = says(root, "budget_tokens = 500\nprompt_budget_tokens = 9000\n")
    assert (here.budget_tokens, here.prompt_budget_tokens) == (500, Config().prompt_budget_tokens)
    assert says(root, "prompt_budget_tokens = 0\n").prompt_budget_tokens == 0
    assert says(root, "budget_tokens = 9000\n").budget_tokens == Config().budget_tokens


def test_a_built_in_preset_may_be_chosen_unless_the_environment_says_another(root: Path) -> None:
    assert says(root, 'preset = "codes"').preset == "codes"
    assert in_folder(Config(preset="layers"), str(root), {"CLAUDE_MEM_LITE_PRESET": "layers"}).preset == "layers"


def test_folders_below_the_root_may_be_excluded_and_tools_ignored(root: Path) -> None:
    here = says(root, 'exclude = ["vendor", "./src/*/fixtures/"]\nignored_tools = ["WebFetch"]\n')
    assert here.ignored_tools == ("WebFetch",)
    assert is_excluded(Config(), str(root / "vendor" / "deep"))
    assert is_excluded(Config(), str(root / "src" / "a" / "fixtures"))
    assert not is_excluded(Config(), str(root / "src"))
    assert not is_excluded(Config(), str(root))


def test_the_repository_as_a_whole_and_what_is_beside_it_cannot_be_excluded(root: Path) -> None:
    says(root, 'exclude = [".", "*", "", "/", "../other", "~/private", "vendor/../../other", "**"]\n')
    (root.parent / "other").mkdir()
    assert not is_excluded(Config(), str(root))
    assert not is_excluded(Config(), str(root.parent / "other"))
    assert project_settings(str(root)).exclude == ("*", "**")


@pytest.mark.parametrize("key", [key.name for key in fields(Config) if key.name not in ALLOWED])
def test_nothing_else_may_be_set(root: Path, key: str) -> None:
    default = getattr(Config(), key)
    value = "true" if default is False else '"x"' if isinstance(default, str) else "[]" if default == () else "9"
    here = says(root, f"{key} = {value}\nbudget_tokens = 700\n")
    assert here == Config(budget_tokens=700)
    (problem,) = project_settings(str(root)).problems
    assert problem.startswith(f"a project may not set {key}; ")


def test_a_layout_of_its_own_is_refused(root: Path) -> None:
    here = says(root, 'preset = "mine"\n[presets.mine]\nsessions = 500\n')
    assert here == Config()
    assert [one[:24] for one in project_settings(str(root)).problems] == [
        "a project may not set pr",
        "preset must be one of ba",
    ]


def test_an_unknown_key_is_named_with_the_nearest_known_one(root: Path) -> None:
    says(root, "exclud = []\n")
    assert project_settings(str(root)).problems == ("a project may not set exclud; did you mean exclude?",)


@pytest.mark.parametrize(
    "text",
    [
        "budget_tokens = 0",
        "budget_tokens = true",
        "budget_tokens = '500'",
        "prompt_budget_tokens = -1",
        "preset = 3",
        "exclude = 'vendor'",
        "exclude = [1]",
        "ignored_tools = {}",
        "ignored_tools = ['']",
        "budget_tokens = ",
        "a" + ".a" * 5000 + " = 1",
        f"ignored_tools = ['{'x' * (MAX_ITEM_LENGTH + 1)}']",
        "x" * (MAX_BYTES + 1),
    ],
    ids=range(13),
)
def test_what_is_wrong_changes_nothing_and_is_told(root: Path, text: str) -> None:
    assert says(root, text) == Config()
    assert project_settings(str(root)).problems
    assert not is_excluded(Config(), str(root / "vendor"))


def test_a_file_full_of_mistakes_is_not_told_in_full(root: Path) -> None:
    says(root, "\n".join(f"odd_{at} = 1" for at in range(100)))
    assert len(project_settings(str(root)).problems) == MAX_PROBLEMS
    says(root, f"exclude = {['a'] * (MAX_ITEMS + 1)}")
    assert len(project_settings(str(root)).exclude) == MAX_ITEMS


def test_what_is_told_of_it_cannot_drive_a_terminal(root: Path) -> None:
    says(root, '"\\u001b[2J" = 1\nexclude = ["/\\u001b[31m"]\n')
    assert all(problem.isprintable() for problem in project_settings(str(root)).problems)


def test_a_link_a_pipe_and_a_folder_in_its_place_are_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("budget_tokens = 100")
    (root / NAME).symlink_to(tmp_path / "elsewhere")
    assert in_folder(Config(), str(root)) == Config()
    assert "cannot be read" in project_settings(str(root)).problems[0]
    (root / NAME).unlink()
    os.mkfifo(root / NAME)
    assert in_folder(Config(), str(root)) == Config()
    assert project_settings(str(root)).problems == ("it cannot be read: it is no regular file",)
    (root / NAME).unlink()
    (root / NAME).mkdir()
    assert in_folder(Config(), str(root)) == Config()


def test_a_change_is_seen_and_what_did_not_change_is_not_read_again(root: Path) -> None:
    assert says(root, "budget_tokens = 500\n").budget_tokens == 500
    assert says(root, "budget_tokens = 1000\n").budget_tokens == 1000
    before = project_settings(str(root))
    (root / NAME).chmod(0)
    (root / NAME).chmod(0o644)
    assert project_settings(str(root / "src")) is before
    (root / NAME).unlink()
    assert in_folder(Config(), str(root)) == Config()


@pytest.mark.parametrize("folder", ["", "relative", "/nowhere\x00", "/" + "x" * 5000])
def test_any_text_may_be_asked_about(folder: str) -> None:
    assert in_folder(Config(), folder) == Config()
    assert not is_excluded(Config(), folder)


def test_a_file_beside_no_repository_or_in_a_subfolder_says_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("budget_tokens = 1\n")
    (root / "src" / NAME).write_text("budget_tokens = 1\n")
    assert in_folder(Config(), str(tmp_path)) == Config()
    assert in_folder(Config(), str(root / "src")) == Config()


def test_every_setting_is_told_with_where_it_comes_from(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('budget_tokens = 900\nexclude = ["~/notes"]\npreset = "layers"\nmodel = "m"\n')
    (root / NAME).write_text(
        'budget_tokens = 500\nprompt_budget_tokens = 9000\nexclude = ["vendor"]\npreset = "codes"\n'
    )
    environment = {"CLAUDE_MEM_LITE_PRESET": "layers", "CLAUDE_MEM_LITE_DEBUG": "1"}
    settings = settings_in_force(config, environment, str(root / "src")).settings
    told = {one.key: (one.value, one.sources) for one in settings}
    assert list(told) == [key.name for key in fields(Config)]
    assert told["budget_tokens"] == (500, ("project file",))
    assert told["prompt_budget_tokens"] == (3000, ("default",))
    assert told["preset"] == ("layers", ("environment",))
    assert told["exclude"] == (["~/notes", f"{root}/vendor"], ("file", "project file"))
    assert told["model"] == ("m", ("file",))
    assert told["debug"] == (True, ("environment",))


def test_a_layout_of_ones_own_is_told_by_its_caps(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[presets.mine]\nsessions = 500\n")
    told = {one.key: one.value for one in settings_in_force(tmp_path / "config.toml", {}, "/").settings}
    assert told["presets"] == {"mine": {"sessions": 500}}


def test_a_pipe_in_the_place_of_the_users_own_file_is_not_waited_for(tmp_path: Path) -> None:

    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(ConfigError, match="no regular file"):
        load_config(tmp_path / "config.toml", {})
