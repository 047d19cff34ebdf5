"""The MCP server and the skill: what install adds to the client's files, and what uninstall takes back."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import agent_extras, install_record, mcp_registration, settings_files
from claude_mem_lite.install.agent_extras import ExtraPaths
from claude_mem_lite.install.doctor.hook_checks import check_tools
from claude_mem_lite.install.targets import target_of
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from tests.support.fake_worker import run

FORMS = {
    "missing": None,
    "empty": "",
    "an empty object": "{}",
    "other servers": '{\n  "numStartups": 3,\n  "mcpServers": {\n    "github": {"command": "gh"}\n  }\n}',
    "no servers": '{\r\n\t"theme": "dark",\r\n\t"projects": {}\r\n}\r\n',
    "one line": '{"mcpServers":{},"a":[1,2]}',
}


@pytest.fixture
def notes() -> Path:
    """The file in which the client keeps its servers."""
    return Path.home() / ".claude.json"


@pytest.fixture
def skill() -> Path:
    return Path.home() / ".claude" / "skills" / "claude-mem-lite" / "SKILL.md"


def servers(notes: Path) -> JsonObject:
    found: JsonObject = json.loads(notes.read_text())["mcpServers"]
    return found


def places(config_dir: Path | None = None, environment: Mapping[str, str] | None = None) -> ExtraPaths:
    return target_of(CLAUDE_CODE, "user", config_dir, environment or {}).tools


def text_of(path: Path) -> str | None:
    return path.read_bytes().decode() if path.exists() else None


def test_install_registers_the_server_by_its_absolute_path(notes: Path, home: Home) -> None:
    assert run("install") == 0
    entry = servers(notes)["claude-mem-lite"]
    assert isinstance(entry, dict)
    assert Path(str(entry["command"])).is_absolute()
    assert entry["args"] == ["mcp"]
    assert entry["env"] == {"CLAUDE_MEM_LITE_HOME": str(home.root)}


def test_the_default_data_folder_needs_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_MEM_LITE_HOME")
    assert mcp_registration.entry(Home(Path.home() / ".claude-mem-lite"))["env"] == {}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_uninstall_takes_back_exactly_what_install_added(notes: Path, skill: Path, form: str) -> None:
    before = FORMS[form]
    if before is not None:
        notes.write_bytes(before.encode())
    run("install")
    once = text_of(notes)
    run("install")
    assert text_of(notes) == once
    assert "claude-mem-lite" in servers(notes)
    assert skill.read_bytes() == agent_extras.skill_content()
    run("uninstall")
    assert text_of(notes) in (before, "{}\n" if before == "" else before)
    assert not skill.parent.parent.exists()


def test_what_the_client_wrote_in_between_stays(notes: Path) -> None:
    run("install")
    told = json.loads(notes.read_text())
    told["numStartups"] = 7
    told["mcpServers"]["github"] = {"command": "gh"}
    notes.write_text(json.dumps(told, indent=2))
    run("uninstall")
    assert json.loads(notes.read_text()) == {"numStartups": 7, "mcpServers": {"github": {"command": "gh"}}}


def test_an_entry_of_an_earlier_place_is_replaced(notes: Path) -> None:
    notes.write_text('{"mcpServers": {"claude-mem-lite": {"command": "/old/bin/claude-mem-lite", "args": ["mcp"]}}}')
    run("install")
    entry = servers(notes)["claude-mem-lite"]
    assert isinstance(entry, dict)
    assert entry["command"] != "/old/bin/claude-mem-lite"
    run("uninstall")
    assert json.loads(notes.read_text()) == {"mcpServers": {}}


def test_a_server_of_our_name_that_is_not_ours_is_left_alone(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '{"mcpServers": {"claude-mem-lite": {"command": "/usr/bin/other", "args": ["serve"]}}}'
    notes.write_text(text)
    assert run("install") == 0
    assert run("uninstall") == 0
    assert notes.read_text() == text
    installed, uninstalled = capsys.readouterr().out.split("Next: ")
    assert "was not added by `install` and was left alone; remove it and install again to use the tools." in installed
    assert "permissions" not in installed
    assert f"A server called claude-mem-lite in {notes} was not added by `install` and was left alone.\n" in uninstalled


BROKEN = ('{"mcpServers": [1]}', "{broken", "[]", '{"mcpServers": {}, }')


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_file_that_is_not_understood_stops_the_install_before_anything_is_touched(notes: Path, text: str) -> None:
    notes.write_text(text)
    assert run("install") == 1
    assert notes.read_text() == text
    assert not (Path.home() / ".claude").exists()


def test_an_uninstall_that_cannot_take_the_server_out_takes_out_all_the_rest_and_says_so(
    home: Home, notes: Path, skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    before = notes.read_text()
    notes.write_text("{broken")
    assert run("uninstall", "--purge", "--yes") == 1
    shown = capsys.readouterr()
    assert "settings.json: removed, because the install had made it.\n" in shown.out
    assert f"Removed the skill {skill}.\n" in shown.out
    assert f"{notes} was left alone: it is not valid JSON" in shown.err
    assert "so the MCP server or the skill stays; nothing was deleted; fix that and run this again" in shown.err
    assert not (Path.home() / ".claude").exists()
    assert not home.hook_program.exists()
    notes.write_text(before)
    assert run("uninstall", "--purge", "--yes") == 0
    assert not notes.exists()
    assert not home.root.exists()


def test_a_dry_run_says_it_and_does_nothing(notes: Path, skill: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("install", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert f"Would register the MCP server claude-mem-lite in {notes}." in shown
    assert f"Would write the skill {skill}." in shown
    assert not notes.exists()
    assert not skill.exists()
    run("install")
    capsys.readouterr()
    run("install", "--dry-run")
    run("uninstall", "--dry-run")
    assert "Would register" not in capsys.readouterr().out
    assert notes.exists()
    assert skill.exists()


def test_a_skill_that_somebody_changed_is_his(skill: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install")
    skill.write_text("My own words.\n")
    run("install")
    run("uninstall")
    assert skill.read_text() == "My own words.\n"
    assert capsys.readouterr().out.count("was changed since the install") == 2


def leave_older_skill(home: Home, skill: Path) -> None:
    """The skill as an install of an earlier version left it."""
    skill.write_text("What an earlier version had to say.\n")
    (note,) = home.installs.glob("*.tools")
    told = {**json.loads(note.read_text()), "skill_sha256": install_record.sha256(skill.read_bytes())}
    note.write_text(json.dumps(told))


def test_a_skill_of_an_earlier_version_that_nobody_changed_is_updated(
    home: Home, skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    leave_older_skill(home, skill)
    assert check_tools(home, places())[-1].found == f"{skill} is of another version"
    run("install", "--dry-run")
    assert f"Would update the skill {skill}.\n" in capsys.readouterr().out
    run("install")
    assert f"Updated the skill {skill}.\n" in capsys.readouterr().out
    assert skill.read_bytes() == agent_extras.skill_content()
    run("install")
    assert f"the skill {skill}" not in capsys.readouterr().out
    run("uninstall")
    assert not skill.parent.parent.exists()


def test_a_skill_of_an_earlier_version_that_nobody_changed_is_removed(home: Home, skill: Path) -> None:
    run("install")
    leave_older_skill(home, skill)
    run("uninstall")
    assert not skill.parent.parent.exists()


def test_folders_of_skills_that_were_there_stay(skill: Path) -> None:
    skill.parent.parent.mkdir(parents=True)
    run("install")
    run("uninstall")
    assert skill.parent.parent.is_dir()
    assert not skill.parent.exists()


def test_in_a_project_the_server_is_noted_for_the_user_alone_under_the_root_of_the_checkout(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "shop" / "src"
    inside.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(inside)
    notes.write_text('{"projects": {"/elsewhere": {"allowedTools": []}}}')
    run("install", "--scope", "project")
    projects = json.loads(notes.read_text())["projects"]
    assert "claude-mem-lite" in projects[str(tmp_path / "shop")]["mcpServers"]
    run("uninstall", "--scope", "project")
    assert json.loads(notes.read_text()) == {"projects": {"/elsewhere": {"allowedTools": []}}}
    assert not (inside / ".claude").exists()


def test_what_the_user_added_to_our_entry_stays(home: Home, notes: Path) -> None:
    run("install")
    told = json.loads(notes.read_text())
    entry = told["mcpServers"]["claude-mem-lite"]
    entry["alwaysLoad"] = True
    entry["env"]["LANG"] = "C"
    notes.write_text(json.dumps(told))
    run("install")
    assert json.loads(notes.read_text()) == told
    entry["command"] = "/old/bin/claude-mem-lite"
    notes.write_text(json.dumps(told))
    run("install")
    renewed = servers(notes)["claude-mem-lite"]
    assert isinstance(renewed, dict)
    assert renewed == {**entry, "command": mcp_registration.entry(home)["command"]}
    run("uninstall")
    assert not notes.exists()


def test_a_worktree_is_known_by_its_repository(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the client has it (2.1.325)."""
    shared = tmp_path / "shop" / ".git"
    own = shared / "worktrees" / "tree"
    own.mkdir(parents=True)
    for folder in (shared, own):
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {own}\n")
    monkeypatch.chdir(tmp_path / "tree")
    assert mcp_registration.location_of("project", None, {}).inside == (
        "projects",
        str(tmp_path / "shop"),
        "mcpServers",
    )


def test_another_configuration_folder_has_its_own_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "config"
    given = places(other).server.path
    default = places(Path.home() / ".claude").server.path
    by_variable = places(None, {"CLAUDE_CONFIG_DIR": str(Path.home() / ".claude")}).server.path
    assert given == other / ".claude.json"
    assert default == Path.home() / ".claude.json"
    assert by_variable == Path.home() / ".claude" / ".claude.json"


def test_doctor_tells_of_both(home: Home, notes: Path, skill: Path) -> None:
    where = places()

    def states() -> list[str]:
        return [check.state for check in check_tools(home, where)]

    assert states() == ["warn", "warn"]
    assert check_tools(home, where)[-1].found == f"{skill} is missing"
    run("install")
    assert states() == ["ok", "ok", "ok"]
    notes.write_text("{broken")
    assert states() == ["warn"]


def test_install_says_what_it_wrote(skill: Path, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install")
    shown = capsys.readouterr().out
    assert f"Registered the MCP server claude-mem-lite in {notes}.\nWrote the skill {skill}.\n" in shown
    run("install")
    assert "Wrote" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_stops_the_install_before_anything_is_touched(
    notes: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "pipe":
        os.mkfifo(notes)
    elif kind == "device":
        notes.symlink_to("/dev/zero")
    else:
        notes.mkdir()
    assert run("install") == 1
    assert (
        "cannot be read (it is no regular file); check the path and its permissions; nothing was changed"
        in capsys.readouterr().err
    )
    assert not (Path.home() / ".claude").exists()


def test_a_file_without_end_is_not_read_to_it(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(settings_files.MAX_BYTES + 1)
    with pytest.raises(SettingsError, match="larger than 262,144 KiB"):
        settings_files.read(tmp_path / "huge")


def test_a_place_that_cannot_be_written_stops_the_install_before_anything_is_touched(
    notes: Path, skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skill.parent.parent.parent.mkdir()
    skill.parent.parent.symlink_to("nowhere")
    assert run("install") == 1
    assert f"{skill.parent.parent} is not a folder; move it away, then run this again" in capsys.readouterr().err
    assert not notes.exists()
    assert not (Path.home() / ".claude" / "settings.json").exists()


def test_when_writing_fails_half_way_it_says_what_is_in_and_the_next_install_completes_it(
    notes: Path, skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes.symlink_to(Path.home() / ("n" * 250))  # the name of what is written first would be too long
    assert run("install") == 1
    shown = capsys.readouterr()
    assert "Added the hooks in" in shown.out
    assert "the hooks work without them; fix that and run this again to add the rest" in shown.err
    notes.unlink()
    assert run("install") == 0
    assert "claude-mem-lite" in servers(notes)
    assert skill.exists()
    run("uninstall")
    assert not notes.exists()
    assert not skill.parent.parent.exists()


def test_a_configuration_folder_that_was_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "agent"
    run("install", "--config-dir", str(folder), "--dry-run")
    assert f"Would create the folder {folder}," in capsys.readouterr().out
    run("install", "--config-dir", str(folder))
    assert f"Created the folder {folder}, which did not exist" in capsys.readouterr().out
    run("install", "--config-dir", str(folder))
    assert "Made the folder" not in capsys.readouterr().out


def test_the_skill_is_one_the_client_can_read() -> None:
    text = agent_extras.skill_content().decode()
    assert text.startswith("---\nname: claude-mem-lite\ndescription: ")
    assert text.split("---")[1].count("\n") == 3
    assert len(text) < 3_500
