"""Our hooks in a user's settings: put in, kept up to date, and taken out without a trace."""

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import hook_install, install_record
from claude_mem_lite.install.hook_config import hook_groups, is_ours
from claude_mem_lite.install.hook_install import Outcome
from claude_mem_lite.install.settings_merge import has_ours, is_current
from claude_mem_lite.paths import Home

FOREIGN = {"type": "command", "command": "say done"}
USERS_HOOKS = {
    "hooks": {
        "PostToolUse": [{"matcher": "Bash", "hooks": [FOREIGN]}],
        "Notification": [{"hooks": [FOREIGN]}],
        "Stop": [{"hooks": [FOREIGN]}],
    },
    "model": "opus",
}
FORMS = [
    "{}",
    "{}\n",
    "{ }",
    "\n\n{}\n\n",
    "",
    "  \n",
    '{"model":"opus"}',
    '{"model": "opus"}\n',
    '{\n  "model": "opus"\n}',
    '{\n  "model": "opus"\n}\n',
    '{\n\t"model":  "opus",\n\t"env": {"NAME": "Zoë", "ESCAPED": "Zo\\u00eb"}\n}',
    '{\r\n    "permissions": {\r\n        "allow": ["Bash(ls)", "Read"]\r\n    }\r\n}\r\n',
    '\ufeff{"model": "opus"}',
    '{"n": 1e3, "big": 12345678901234567890.10, "neg": -0, "model": "a", "model": "b"}',
    '{"hooks": {}}\n',
    '{\n  "hooks": {},\n  "z": 1\n}\n',
    '{"hooks": {"Stop": []}}',
    '{"hooks": {"Stop": [ ]},\n "a": 1}',
    json.dumps(USERS_HOOKS),
    json.dumps(USERS_HOOKS, separators=(",", ":")),
    json.dumps(USERS_HOOKS, indent=2) + "\n",
    json.dumps(USERS_HOOKS, indent=4),
    json.dumps(USERS_HOOKS, indent="\t"),
    json.dumps(USERS_HOOKS, indent=7),
    '{"text": "日本語 🙂 \\ud83d\\ude42 \\ud800"}',
]


OLD_HOME = Home(Path("/old"))


def write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "agent" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def install(home: Home, path: Path, hooks_of: Home | None = None) -> hook_install.Plan:
    plan = hook_install.plan_install(home, path, hook_groups(hooks_of or home))
    hook_install.apply_install(home, plan)
    return plan


def uninstall(home: Home, path: Path) -> Outcome:
    return hook_install.uninstall(home, path)


def ours(path: Path) -> list[str]:
    hooks = json.loads(path.read_text())["hooks"]
    return [
        hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"] if is_ours(hook)
    ]


@pytest.mark.parametrize("text", FORMS)
def test_settings_are_after_an_uninstall_what_they_were(home: Home, tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    install(home, path)
    assert is_current(path.read_text(encoding="utf-8"), hook_groups(home))
    assert uninstall(home, path) == "restored"
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("text", [form for form in FORMS if form.strip() and "[ ]" not in form and "{ }" not in form])
def test_taken_out_by_structure_hooks_leave_every_byte_that_is_not_ours(home: Home, tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    install(home, path)
    known = install_record.load(home, path)
    assert known is not None
    install_record.save(home, install_record.Record(known.settings, None, known.backup, (), known.additions))
    assert uninstall(home, path) == "stripped"
    assert path.read_bytes() == text.encode()


def test_everything_else_in_the_settings_stays_in_its_order(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps(USERS_HOOKS, indent=4))
    install(home, path)
    after = json.loads(path.read_text())
    assert list(after) == ["hooks", "model"]
    assert list(after["hooks"])[:3] == ["PostToolUse", "Notification", "Stop"]
    assert after["hooks"]["PostToolUse"][0] == USERS_HOOKS["hooks"]["PostToolUse"][0]  # type: ignore[index]


def test_a_second_install_changes_nothing(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, FORMS[10])
    install(home, path)
    before = {each: each.read_bytes() for each in (path, *home.installs.iterdir())}
    assert not install(home, path).changes
    assert {each: each.read_bytes() for each in (path, *home.installs.iterdir())} == before


def test_an_install_from_a_new_place_replaces_the_old_hooks(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps(USERS_HOOKS, indent=2))
    install(home, path, OLD_HOME)
    install(home, path)
    assert len(ours(path)) == len(hook_groups(home))
    assert is_current(path.read_text(), hook_groups(home))


def test_after_an_upgrade_an_uninstall_still_restores_the_first_bytes(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, FORMS[10])
    install(home, path, OLD_HOME)
    install(home, path)
    assert uninstall(home, path) == "restored"
    assert path.read_bytes() == FORMS[10].encode()


def test_an_upgrade_over_a_users_edit_keeps_the_edit_through_the_uninstall(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, '{\n  "model": "opus"\n}\n')
    install(home, path, OLD_HOME)
    path.write_text(path.read_text().replace('"opus"', '"sonnet"'))
    install(home, path)
    assert uninstall(home, path) == "stripped"
    assert path.read_text() == '{\n  "model": "sonnet"\n}\n'


def test_an_upgrade_keeps_the_backup_of_the_first_bytes(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, FORMS[10])
    install(home, path, OLD_HOME)
    path.write_text(path.read_text() + "\n")
    install(home, path)
    assert [each.read_bytes() for each in home.installs.glob("*.backup")] == [FORMS[10].encode()]


def test_hooks_of_which_a_user_removed_some_are_completed(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, "{}")
    install(home, path)
    edited = json.loads(path.read_text())
    del edited["hooks"]["Stop"]
    edited["hooks"]["SessionStart"].append(edited["hooks"]["SessionStart"][0])
    path.write_text(json.dumps(edited))
    install(home, path)
    assert is_current(path.read_text(), hook_groups(home))


def test_what_a_user_added_since_the_install_survives_the_uninstall(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, '{\n    "model": "opus"\n}\n')
    install(home, path)
    edited = json.loads(path.read_text())
    edited["hooks"]["Stop"].append({"hooks": [FOREIGN]})
    edited["hooks"]["PreCompact"][0]["hooks"].insert(0, FOREIGN)
    edited["theme"] = "dark"
    path.write_text(json.dumps(edited, indent=4) + "\n")
    uninstall(home, path)
    expected = {
        "model": "opus",
        "hooks": {"PreCompact": [{"hooks": [FOREIGN]}], "Stop": [{"hooks": [FOREIGN]}]},
        "theme": "dark",
    }
    assert path.read_text() == json.dumps(expected, indent=4) + "\n"


def test_an_event_the_user_had_left_empty_stays_empty(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, '{"hooks": {"Stop": []}}')
    install(home, path)
    path.write_text(path.read_text() + "\n")
    uninstall(home, path)
    assert path.read_text() == '{"hooks": {"Stop": []}}\n'


def test_hooks_without_any_record_are_taken_out_by_their_program(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps(USERS_HOOKS, indent=2))
    install(home, path)
    for each in home.installs.iterdir():
        each.unlink()
    assert uninstall(home, path) == "stripped"
    assert json.loads(path.read_text()) == USERS_HOOKS


def test_a_backup_that_is_gone_leaves_the_structural_way(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps(USERS_HOOKS, indent=2))
    install(home, path)
    next(home.installs.glob("*.backup")).unlink()
    assert uninstall(home, path) == "stripped"
    assert json.loads(path.read_text()) == USERS_HOOKS


def test_a_file_and_folders_that_the_install_made_are_removed_again(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "settings.json"
    install(home, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert uninstall(home, path) == "removed"
    assert not (tmp_path / "new").exists()


def test_no_folder_that_the_install_makes_can_be_written_by_others(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "new" / "agent" / "settings.json"
    mask = os.umask(0)
    try:
        install(home, path)
    finally:
        os.umask(mask)
    assert [folder.stat().st_mode & 0o777 for folder in (path.parent, path.parent.parent)] == [0o755, 0o755]


def test_a_folder_that_others_use_by_now_is_kept(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.json"
    install(home, path)
    (path.parent / "history").write_text("kept")
    uninstall(home, path)
    assert [each.name for each in path.parent.iterdir()] == ["history"]


def test_a_file_the_install_made_and_the_user_went_on_to_use_is_kept(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.json"
    install(home, path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "opus"}))
    assert uninstall(home, path) == "stripped"
    assert json.loads(path.read_text()) == {"model": "opus"}


def test_a_file_the_install_made_is_removed_when_only_its_form_was_changed(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    install(home, path)
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert uninstall(home, path) == "removed"
    assert not path.exists()


def test_an_uninstall_without_an_install_does_nothing(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, FORMS[10])
    assert uninstall(home, path) == "nothing"
    assert uninstall(home, tmp_path / "missing.json") == "nothing"
    assert path.read_bytes() == FORMS[10].encode()


def test_settings_replaced_by_the_user_are_installed_into_afresh(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, '{"model": "opus"}')
    install(home, path)
    path.write_text('{"model": "sonnet"}')
    install(home, path)
    assert uninstall(home, path) == "restored"
    assert path.read_text() == '{"model": "sonnet"}'


def test_an_uninstall_leaves_no_record_behind(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, "{}")
    install(home, path)
    uninstall(home, path)
    assert not home.installs.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe{\x00}\x00",
        b'{"hooks": []}',
        b'{"hooks": null}',
        b'{"hooks": {"Stop": {}}}',
        b'{"hooks": {"PostToolUse": "x"}}',
        b'{"a": NaN}',
        b"// mine\n{}",
        b"[" * 100_000,
    ],
)
def test_settings_that_are_not_understood_are_left_alone(home: Home, tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, content)
    with pytest.raises(SettingsError) as caught:
        install(home, path)
    assert str(path) in caught.value.message
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]
    assert not home.installs.exists()


def test_settings_broken_since_the_install_are_left_alone_by_the_uninstall(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, "{}")
    install(home, path)
    path.write_text("{ oops")
    with pytest.raises(SettingsError):
        uninstall(home, path)
    assert path.read_text() == "{ oops"
    assert install_record.load(home, path) is not None


@pytest.mark.parametrize("entry", ["text", 7, None, {}, {"hooks": "x"}, {"hooks": [None, 3]}])
def test_odd_entries_of_others_are_kept(home: Home, tmp_path: Path, entry: object) -> None:
    text = json.dumps({"hooks": {"Stop": [entry], "Other": entry}}, indent=2)
    path = write(tmp_path, text)
    install(home, path)
    assert json.loads(path.read_text())["hooks"]["Stop"][0] == entry
    uninstall(home, path)
    assert path.read_text() == text


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_the_mode_of_the_file_is_kept(home: Home, tmp_path: Path, mode: int) -> None:
    path = write(tmp_path, "{}")
    path.chmod(mode)
    install(home, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    uninstall(home, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_what_is_kept_of_a_users_settings_is_private(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, '{"env": {"KEY": "secret"}}')
    path.chmod(0o644)
    install(home, path)
    assert stat.S_IMODE(home.installs.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in home.installs.iterdir()} == {0o600}


def test_a_linked_file_is_written_where_the_link_leads(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text("{}")
    path = tmp_path / "agent" / "settings.json"
    path.parent.mkdir()
    path.symlink_to("../dotfiles/claude.json")
    install(home, path)
    assert path.is_symlink()
    assert has_ours(target.read_text())
    uninstall(home, path)
    assert (path.is_symlink(), target.read_text()) == (True, "{}")


def test_a_link_to_a_file_yet_to_be_made_stays_a_link(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to(tmp_path / "elsewhere.json")
    install(home, path)
    assert has_ours((tmp_path / "elsewhere.json").read_text())
    uninstall(home, path)
    assert (path.is_symlink(), path.exists()) == (True, False)


def test_a_folder_in_place_of_the_file_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        install(home, tmp_path / "settings.json")


def test_links_that_lead_in_a_circle_are_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "settings.json").symlink_to(tmp_path / "other.json")
    (tmp_path / "other.json").symlink_to(tmp_path / "settings.json")
    with pytest.raises(SettingsError):
        install(home, tmp_path / "settings.json")


def test_a_file_changed_between_plan_and_write_is_not_overwritten(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, "{}")
    plan = hook_install.plan_install(home, path, hook_groups(home))
    path.write_text('{"model": "opus"}')
    with pytest.raises(SettingsError, match="changed by another program"):
        hook_install.apply_install(home, plan)
    assert path.read_text() == '{"model": "opus"}'
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


def test_a_plan_touches_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "untouched")
    path = write(tmp_path, "{}")
    hook_install.plan_install(home, path, hook_groups(home))
    assert not home.root.exists()
    assert path.read_text() == "{}"


def test_the_plan_shows_the_change_as_a_diff(home: Home, tmp_path: Path) -> None:
    path = write(tmp_path, '{\n  "model": "opus"\n}\n')
    diff = hook_install.plan_install(home, path, hook_groups(home)).diff()
    assert '-  "model": "opus"\n+  "model": "opus",\n+  "hooks": {\n' in diff


def test_a_home_that_no_json_can_name_is_refused(tmp_path: Path) -> None:
    home = Home(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")))
    path = write(tmp_path, "{}")
    with pytest.raises(SettingsError, match="CLAUDE_MEM_LITE_HOME"):
        install(home, path)
    assert path.read_text() == "{}"


def test_two_settings_files_of_one_home_are_told_apart(home: Home, tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text('{"a": 1}')
    second.write_text('{"b": 1}')
    install(home, first)
    install(home, second)
    assert hook_install.other_installs(home, first) == [second]
    uninstall(home, first)
    assert (first.read_text(), has_ours(second.read_text())) == ('{"a": 1}', True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=12)}, optional={"timeout": JSON})
GROUP = st.fixed_dictionaries({"hooks": st.lists(HOOK | JSON, max_size=2)}, optional={"matcher": st.text(max_size=4)})
EVENT = st.sampled_from(["Stop", "PostToolUse", "SessionStart", "Notification"]) | st.text(max_size=4)
HOOKS = st.dictionaries(EVENT, st.lists(GROUP, max_size=2), max_size=4)
SETTINGS = st.builds(
    lambda other, hooks, first: {**hooks, **other} if first else {**other, **hooks},
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), JSON, max_size=3),
    st.just({}) | HOOKS.map(lambda hooks: {"hooks": hooks}),
    st.booleans(),
)
INDENTS = st.sampled_from([None, 0, 2, 3, 4, "\t"])
ENDS = st.sampled_from(["", "\n", "\r\n", " \n\n"])


def groups_of(hooks: dict[str, Sequence[object]]) -> list[tuple[str, object]]:
    return [(event, group) for event, groups in hooks.items() for group in groups]


@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(SETTINGS, INDENTS, ENDS, st.booleans(), st.booleans())
def test_any_settings_keep_every_hook_of_others_and_come_back_whole(
    home: Home,
    tmp_path: Path,
    given_settings: dict[str, dict[str, Sequence[object]]],
    indent: int | str | None,
    end: str,
    ascii_only: bool,
    with_record: bool,
) -> None:
    text = json.dumps(given_settings, indent=indent, ensure_ascii=ascii_only) + end
    path = write(tmp_path, text)
    install(home, path)
    after = json.loads(path.read_text(encoding="utf-8"))
    kept = [each for each in groups_of(after["hooks"]) if each[1] not in hook_groups(home).values()]
    assert kept == groups_of(given_settings.get("hooks", {}))
    assert {key: after[key] for key in given_settings if key != "hooks"} == {
        key: value for key, value in given_settings.items() if key != "hooks"
    }
    known = install_record.load(home, path)
    assert known is not None
    if not with_record:
        install_record.save(home, install_record.Record(known.settings, None, known.backup, (), known.additions))
    uninstall(home, path)
    assert path.read_bytes() == text.encode()
