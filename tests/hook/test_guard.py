"""Tests of `hook/guard.py`, `hook/guard_check.py`, `hook/guard_call.py`, `hook/guard_json.py`,
`hook/guard_places.py` and `hook/guard_exclusion.py`, run as an agent runs them: what the hook answers, what it notes,
and that it never stands in the way."""

import ast
import json
import os
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_mem_lite import held_guards
from claude_mem_lite.guard_modes import MODES, Mode
from claude_mem_lite.guards import guards_file
from claude_mem_lite.guards.guard import Example, Guard
from claude_mem_lite.guards.rule import ALWAYS, Rule
from claude_mem_lite.install import guard_hooks
from claude_mem_lite.install.doctor import guard_checks
from claude_mem_lite.paths import Home
from tests.hook.conftest import GUARD_S, LAUNCHER, Hooks
from tests.hook.test_hot_path import imported, observe

PROJECT = "example.org/team/shop"
NAME = held_guards.name_of(PROJECT)
NPM = Rule(commands=("npm",))
VENDOR = Rule(paths=("vendor/",))
Json = dict[str, object]
Held = Callable[..., None]


def guard(rule: Rule, mode: Mode = "remind", id_: str = "g1", reason: str = "use pnpm, not npm") -> Guard:
    example = Example("Bash", "npm ci")
    return Guard(
        id_, PROJECT, rule, reason, "use pnpm", mode, "active", example, example, "", "2026-11-03T10:00:00Z", "", ""
    )


@pytest.fixture
def held(home: Home) -> Held:
    """Have these guards in force."""

    def hold(*guards: Guard) -> None:
        home.make()
        guards_file.write(home, PROJECT, guards)

    return hold


def call(tool: str, folder: Path, **given: object) -> bytes:
    return json.dumps(
        {
            "session_id": "s1",
            "prompt_id": "p1",
            "cwd": str(folder),
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_use_id": "t1",
            "tool_input": given,
        }
    ).encode()


def answer(printed: bytes) -> Json:
    found: Json = json.loads(printed)["hookSpecificOutput"]
    assert found["hookEventName"] == "PreToolUse"
    return found


def notes(hooks: Hooks, event: str = "GuardFired") -> list[Json]:
    return [json.loads(path.read_bytes()) for path in hooks.kept() if path.name.split("-")[3].startswith(event)]


def failures(hooks: Hooks) -> list[object]:
    return [note["reason"] for note in notes(hooks, "GuardFailed")]


def test_a_call_that_no_guard_matches_gets_no_answer_and_leaves_no_note(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(NPM, "deny"))
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="echo npm ci")) == b""
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="make test")) == b""
    assert hooks.kept() == []


def test_a_reminder_lets_the_call_run_and_tells_the_rule(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(NPM, "remind"))
    found = answer(hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="cd web && sudo npm ci")))
    assert "permissionDecision" not in found
    told = str(found["additionalContext"])
    for part in (
        "use pnpm, not npm",
        "2026-11-03",
        "guard g1",
        "Instead: use pnpm.",
        "claude-mem-lite guards pause g1",
    ):
        assert part in told


@pytest.mark.parametrize("mode", ["ask", "deny"])
def test_a_question_and_a_refusal_tell_the_rule_as_their_reason(
    hooks: Hooks, held: Held, user: Path, mode: Mode
) -> None:
    held(guard(NPM, mode))
    found = answer(hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")))
    assert found["permissionDecision"] == mode
    assert "use pnpm, not npm" in str(found["permissionDecisionReason"])


@pytest.mark.parametrize(("attended", "decision"), [("1", "ask"), ("0", None), ("", None)])
def test_without_a_chosen_mode_a_guard_asks_only_where_somebody_can_answer(
    hooks: Hooks, held: Held, user: Path, attended: str, decision: str | None
) -> None:
    held(guard(NPM, "auto"))
    payload = call("Bash", user, command="npm ci")
    printed = hooks.run("PreToolUse", NAME, payload=payload, CLAUDE_CODE_SESSION_ATTENDED=attended)
    assert answer(printed).get("permissionDecision") == decision


def test_the_strictest_of_several_guards_decides_and_every_one_is_noted(hooks: Hooks, held: Held, user: Path) -> None:
    held(
        guard(NPM, "remind", "g1"),
        guard(Rule(commands=("npm publish",)), "deny", "g2", "never publish"),
        guard(Rule(commands=("npm",)), "ask", "g3", "ask me about npm"),
    )
    found = answer(hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm publish")))
    assert found["permissionDecision"] == "deny"
    assert str(found["permissionDecisionReason"]).startswith("Rule of the user of 2026-11-03 (guard g2): never publish")
    assert {(note["guard"], note["decision"]) for note in notes(hooks)} == {
        ("g1", "remind"),
        ("g2", "deny"),
        ("g3", "ask"),
    }


def test_a_note_names_guard_and_call_and_holds_no_text_of_the_command(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(NPM, "deny"))
    hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci --token=hunter2"))
    (note,) = notes(hooks)
    assert note.pop("ms") is not None
    assert note == {
        "hook_event_name": "GuardFired",
        "guard": "g1",
        "project": PROJECT,
        "decision": "deny",
        "tool_use_id": "t1",
        "session_id": "s1",
        "cwd": str(user),
        "tool_name": "Bash",
        "prompt_id": "p1",
    }


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_a_file_below_a_guarded_folder_is_guarded_in_every_tool_that_writes(
    hooks: Hooks, held: Held, user: Path, tool: str
) -> None:
    held(guard(VENDOR, "deny", reason="never touch vendor/"))
    key = "notebook_path" if tool == "NotebookEdit" else "file_path"
    (user / ".git").mkdir()
    inside = {key: str(user / "vendor" / "a.py"), "new_string": "x", "old_string": "y", "content": "x"}
    outside = {**inside, key: str(user / "src" / "vendor.py")}
    assert answer(hooks.run("PreToolUse", NAME, payload=call(tool, user, **inside)))["permissionDecision"] == "deny"
    assert hooks.run("PreToolUse", NAME, payload=call(tool, user, **outside)) == b""


def test_an_import_is_guarded_where_it_is_new(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(Rule(imports=("requests",)), "deny", reason="use httpx, not requests"))
    new = call("Edit", user, file_path="a.py", old_string="import os", new_string="import os\nimport requests")
    old = call("Edit", user, file_path="a.py", old_string="import requests", new_string="import requests\nx = 1")
    assert answer(hooks.run("PreToolUse", NAME, payload=new))["permissionDecision"] == "deny"
    assert hooks.run("PreToolUse", NAME, payload=old) == b""


def test_the_branch_is_read_from_the_checkout_also_in_a_worktree(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(Rule(commands=("git commit",), branches=("main",)), "deny", reason="don't commit to main"))
    main, worktree = user / "shop", user / "shop-fix"
    (main / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (main / "src").mkdir()
    worktree.mkdir()
    (main / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (main / ".git" / "worktrees" / "fix" / "HEAD").write_text("ref: refs/heads/fix\n")
    (worktree / ".git").write_text(f"gitdir: {main}/.git/worktrees/fix\n")
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", worktree, command="git commit -m x")) == b""
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", main / "src", command="git commit -m x")) != b""
    (main / ".git" / "HEAD").write_text("0" * 40)
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", main, command="git commit -m x")) == b""


def test_codex_is_reminded_where_it_cannot_ask_and_a_patch_is_read_file_by_file(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(NPM, "ask"), guard(VENDOR, "deny", "g2", "never touch vendor/"))
    (home.guards / "roots").write_text(f"{NAME} Bash,Edit {user}\n")
    (home.guards / "roots").chmod(0o600)
    found = answer(hooks.run("PreToolUse", "here", "codex", payload=call("Bash", user, command="npm ci")))
    assert "use pnpm, not npm" in str(found["additionalContext"])
    (user / ".git").mkdir()
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** {} File: {}\n+z\n*** End Patch\n"
    refused = call("apply_patch", user, command=patch.format("Add", "vendor/b.py"))
    passed = call("apply_patch", user, command=patch.format("Add", "lib/vendor.py"))
    assert answer(hooks.run("PreToolUse", "here", "codex", payload=refused))["permissionDecision"] == "deny"
    assert hooks.run("PreToolUse", "here", "codex", payload=passed) == b""
    assert {path.name.split("-")[3] for path in hooks.kept()} == {"GuardFired_codex"}


def test_gemini_is_refused_before_the_call_and_reminded_behind_it(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(NPM, "remind"), guard(VENDOR, "deny", "g2", "never touch vendor/"))
    (home.guards / "roots").write_text(f"{NAME} Bash,Edit {user}\n")
    (home.guards / "roots").chmod(0o600)

    def run(event: str, tool: str, **given: object) -> Json:
        payload = call(tool, user, **given).replace(b'"PreToolUse"', json.dumps(event).encode())
        found: Json = json.loads(hooks.run("PreToolUse", "here", "gemini", payload=payload) or b"{}")
        return found

    (user / ".git").mkdir()
    written = {"file_path": str(user / "vendor" / "a.py"), "content": "x"}
    assert run("BeforeTool", "write_file", **written)["decision"] == "deny"
    assert run("AfterTool", "write_file", **written) == {}
    assert run("BeforeTool", "run_shell_command", command="npm ci") == {}
    reminder = run("AfterTool", "run_shell_command", command="npm ci")["hookSpecificOutput"]
    assert isinstance(reminder, dict)
    assert reminder["hookEventName"] == "AfterTool"
    assert "use pnpm" in reminder["additionalContext"]
    assert [(note["guard"], note["decision"]) for note in notes(hooks)] == [("g2", "deny"), ("g1", "remind")]


def test_a_file_that_a_patch_moves_is_guarded_where_it_was_and_where_it_goes(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(VENDOR, "deny"))
    (user / ".git").mkdir()
    (home.guards / "roots").write_text(f"{NAME} Edit {user}\n")
    (home.guards / "roots").chmod(0o600)
    for source, target in (("vendor/a.py", "src/a.py"), ("src/a.py", "vendor/a.py")):
        patch = f"*** Begin Patch\n*** Update File: {source}\n*** Move to: {target}\n@@\n-x\n+y\n*** End Patch\n"
        payload = call("apply_patch", user, command=patch)
        assert hooks.run("PreToolUse", "here", "codex", payload=payload) != b""


def test_a_command_of_gemini_runs_in_the_folder_that_it_names(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(Rule(commands=("git commit",), branches=("main",)), "deny"))
    (home.guards / "roots").write_text(f"{NAME} Bash {user}\n")
    (home.guards / "roots").chmod(0o600)
    for folder, branch in ((user, "fix"), (user / "inner", "main")):
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")

    def is_held(**more: str) -> bool:
        given = call("run_shell_command", user, command="git commit -m x", **more)
        payload = given.replace(b'"PreToolUse"', b'"BeforeTool"')
        return hooks.run("PreToolUse", "here", "gemini", payload=payload) != b""

    assert [is_held(), is_held(dir_path="inner")] == [False, True]


def test_a_hook_for_all_folders_holds_only_in_guarded_ones(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(NPM, "deny"))
    shop, other = user / "shop", user / "other"
    (shop / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (shop / "src").mkdir()
    (user / "fix").mkdir()
    (user / "fix" / ".git").write_text(f"gitdir: {shop}/.git/worktrees/fix\n")
    other.mkdir()
    (home.guards / "roots").write_text(f"{NAME} Bash {shop}\n")
    (home.guards / "roots").chmod(0o600)

    def is_held(folder: Path) -> bool:
        return hooks.run("PreToolUse", "here", "codex", payload=call("Bash", folder, command="npm ci")) != b""

    assert [is_held(folder) for folder in (shop, shop / "src", user / "fix", other, user)] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_hook_that_names_its_project_holds_in_the_folders_of_the_project_alone(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(NPM, "deny"))
    shop, other, linked = user / "shop", user / "other", user / "linked"
    (shop / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (shop / "src").mkdir()
    (user / "fix").mkdir()
    (user / "fix" / ".git").write_text(f"gitdir: {shop}/.git/worktrees/fix\n")
    (other / ".git").mkdir(parents=True)
    linked.symlink_to(shop)

    def is_held(folder: Path) -> bool:
        return hooks.run("PreToolUse", NAME, payload=call("Bash", folder, command="npm ci")) != b""

    assert is_held(other)  # until the folders are known
    (home.guards / "roots").write_text(f"{NAME} Bash {shop}\n")
    (home.guards / "roots").chmod(0o600)
    inside = (shop, shop / "src", shop / "gone", user / "fix", linked / "src")
    assert [is_held(folder) for folder in (*inside, other, user)] == [True] * len(inside) + [False, False]


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_a_note_is_for_its_owner_under_any_umask(hooks: Hooks, held: Held, user: Path, umask: int) -> None:
    held(guard(NPM, "deny"))
    given = call("Bash", user, command="npm ci")
    environment = hooks.environment()
    subprocess.run(
        hooks.command("PreToolUse", NAME), input=given, env=environment, umask=umask, timeout=GUARD_S, check=True
    )
    (note,) = hooks.kept()
    assert stat.S_IMODE(note.stat().st_mode) == 0o600


def constants(module: str) -> dict[str, object]:
    """The literal values that a module of the hook, which the package cannot import, gives to names."""
    statements = ast.parse((LAUNCHER.parent / f"{module}.py").read_text()).body
    named = [(each.targets[0], each.value) for each in statements if isinstance(each, ast.Assign)]
    return {
        target.id: ast.literal_eval(value)
        for target, value in named
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant | ast.Tuple) and is_literal(value)
    }


def is_literal(value: ast.expr) -> bool:
    return all(isinstance(each, ast.Constant | ast.Tuple | ast.Load) for each in ast.walk(value))


def test_the_words_that_the_hook_and_the_package_share_are_the_same() -> None:
    found = constants("guard")
    assert found["HERE"] == guard_hooks.HERE
    assert found["TRIAL"] == guard_checks.TRIAL.encode()
    assert found["ALWAYS"] == ALWAYS.encode()
    assert found["MAX_FILE_BYTES"] == held_guards.MAX_BYTES
    assert constants("guard_check")["MAX_GUARDS"] == held_guards.MAX_GUARDS


def test_the_hook_knows_the_decision_of_every_mode(hooks: Hooks, held: Held, user: Path) -> None:
    decided = []
    for mode in MODES:
        held(guard(NPM, mode))
        payload = call("Bash", user, command="npm ci")
        found = answer(hooks.run("PreToolUse", NAME, payload=payload, CLAUDE_CODE_SESSION_ATTENDED="1"))
        decided.append(found.get("permissionDecision", "remind"))
    assert decided == ["ask" if mode == "auto" else mode for mode in MODES]
    assert set(constants("guard_check")["STRICTEST"]) == set(MODES) - {"auto"}  # type: ignore[call-overload]


def test_no_guard_holds_while_memory_is_off_or_for_our_own_calls(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(NPM, "deny"))
    payload = call("Bash", user, command="npm ci")
    assert hooks.run("PreToolUse", NAME, payload=payload, CLAUDE_MEM_LITE_INTERNAL="1") == b""
    home.off_switch.touch()
    assert hooks.run("PreToolUse", NAME, payload=payload) == b""
    assert hooks.kept() == []


def test_no_guard_holds_in_an_excluded_folder(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(NPM, "deny"))
    (user / "shop" / ".git").mkdir(parents=True)
    (user / "shop" / "private").mkdir()
    (user / "secret").mkdir()
    (user / "shop" / ".claude-mem-lite.toml").write_text('exclude = ["private"]\n')
    home.config.write_text('exclude = ["~/secret"]\n')

    def is_held(folder: Path) -> bool:
        return hooks.run("PreToolUse", NAME, payload=call("Bash", folder, command="npm ci")) != b""

    folders = (user / "shop", user / "shop" / "private", user / "secret")
    assert [is_held(folder) for folder in folders] == [True, False, False]
    home.config.write_text('# exclude = ["~/secret"]\n')
    assert is_held(user / "secret")
    home.config.write_text("exclude = [")
    assert not is_held(user / "shop")


def test_a_missing_file_of_guards_is_no_failure(hooks: Hooks, home: Home, user: Path) -> None:
    home.make()
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")) == b""
    assert hooks.kept() == []


def test_no_home_is_made_for_guards(hooks: Hooks, home: Home, user: Path) -> None:
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")) == b""
    assert not home.root.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"\n",
        b"npm\n{",
        b"npm\n[]\n",
        b'npm\n{"id": 5, "rule": {"commands": 7}}\n',
        b'npm\n{"id": "g1", "mode": "deny", "rule": {"commands": [["npm"]]}}\n',
        b"npm\n\xff\xfe\n",
        b"npm\n" + b"[" * 50_000,
        b"npm " * (held_guards.MAX_BYTES // 4 + 1),
    ],
)
def test_a_broken_file_of_guards_lets_the_call_pass_and_is_noted(
    hooks: Hooks, home: Home, user: Path, content: bytes
) -> None:
    home.make()
    home.guards.mkdir(mode=0o700)
    (home.guards / NAME).write_bytes(content)
    (home.guards / NAME).chmod(0o600)
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")) == b""
    assert len(failures(hooks)) == 1
    assert held_guards.failure(home, NAME)


def test_a_file_that_is_a_link_or_that_others_can_write_counts_as_broken(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(NPM, "deny"))
    payload = call("Bash", user, command="npm ci")
    (home.guards / NAME).chmod(0o622)
    assert hooks.run("PreToolUse", NAME, payload=payload) == b""
    (home.guards / NAME).chmod(0o600)
    (home.guards / NAME).rename(user / "elsewhere")
    (home.guards / NAME).symlink_to(user / "elsewhere")
    (home.guards / f"{NAME}.failed").unlink()
    assert hooks.run("PreToolUse", NAME, payload=payload) == b""
    assert failures(hooks) == ["the file of guards is not yours alone", "the file of guards cannot be opened"]


def test_guards_in_a_home_that_others_can_write_do_not_hold(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(NPM, "deny"))
    home.root.chmod(0o777)
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")) == b""


def test_a_pipe_in_the_place_of_the_file_does_not_stop_the_hook(hooks: Hooks, home: Home, user: Path) -> None:
    home.make()
    home.guards.mkdir(mode=0o700)
    os.mkfifo(home.guards / NAME, 0o600)
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")) == b""


def test_one_broken_guard_does_not_stop_the_others(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(NPM, "deny"))
    path = home.guards / NAME
    tokens, line = path.read_bytes().split(b"\n", 1)
    path.write_bytes(tokens + b'\n{"id": "g0"}\n' + line)
    found = answer(hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")))
    assert found["permissionDecision"] == "deny"
    (note,) = notes(hooks, "GuardFailed")
    assert note["guard"] == "g0"


def test_a_failure_that_cannot_be_noted_does_not_stop_the_other_guards(
    hooks: Hooks, held: Held, home: Home, user: Path
) -> None:
    held(guard(NPM, "deny"))
    path = home.guards / NAME
    tokens, line = path.read_bytes().splitlines()
    path.write_bytes(b"%b\n{broken\n%b\n" % (tokens, line))
    held_guards.failure_mark(home, NAME).mkdir()
    os.utime(held_guards.failure_mark(home, NAME), (0, 0))
    found = answer(hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")))
    assert found["permissionDecision"] == "deny"
    assert len(failures(hooks)) == 1


def test_the_file_of_a_hook_that_was_killed_does_not_stop_later_notes(hooks: Hooks, home: Home, user: Path) -> None:
    home.make()
    home.guards.mkdir()
    (home.guards / NAME).write_bytes(b"\n")
    (home.guards / NAME).chmod(0o600)
    (home.guards / f"{NAME}.failed.tmp").write_bytes(b"")
    hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci"))
    assert held_guards.failure(home, NAME) == "the file of guards is broken"


def test_failures_in_a_row_are_noted_once(hooks: Hooks, home: Home, user: Path) -> None:
    home.make()
    home.guards.mkdir(mode=0o700)
    (home.guards / NAME).write_bytes(b"\n")
    (home.guards / NAME).chmod(0o600)
    for _ in range(3):
        hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci"))
    assert len(failures(hooks)) == 1
    os.utime(home.guards / f"{NAME}.failed", (0, 0))
    hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci"))
    assert len(failures(hooks)) == 2


def test_a_guard_that_takes_too_long_lets_the_call_pass_and_stops_no_other(
    hooks: Hooks, held: Held, user: Path
) -> None:
    held(guard(Rule(commands=(*(f"program{n}" for n in range(20_000)), "npm")), "deny"), guard(NPM, "ask", "g2"))
    line = "true && " * 100 + "npm ci"
    found = answer(hooks.run("PreToolUse", NAME, payload=call("Bash", user, command=line)))
    assert found["permissionDecision"] == "ask"
    assert [(note["guard"], note["reason"]) for note in notes(hooks, "GuardFailed")] == [("g1", "slow")]


def test_a_line_that_takes_too_long_to_parse_passes(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(NPM, "deny"))
    line = "npm " + "'a'b" * 300_000
    assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command=line)) == b""
    assert failures(hooks) == ["slow"]


def test_a_call_that_is_too_large_passes(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(VENDOR, "deny"))
    large = call("Write", user, file_path=str(user / "vendor" / "a"), content="x" * 8_000_000)
    assert hooks.run("PreToolUse", NAME, payload=large) == b""
    assert failures(hooks) == ["the call is too large"]


def test_the_size_of_a_written_file_does_not_free_it(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(VENDOR, "deny"))
    (user / ".git").mkdir()
    large = call("Write", user, file_path=str(user / "vendor" / "a"), content="x = 1\n" * 500_000)
    assert hooks.run("PreToolUse", NAME, payload=large) != b""


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"npm",
        b"[" * 100_000 + b"npm",
        b'{"tool_name": "Bash", "tool_input": "npm"}',
        b'{"tool_name": "Bash", "tool_input": {"command": ["npm"]}, "cwd": 7}',
        b'{"tool_name": "Edit", "tool_input": {"edits": [1, {"new_string": 5}]}, "npm": 1}',
        b'{"tool_name": "apply_patch", "tool_input": {"command": "*** npm File: \\u0000"}}',
        b'{"a": "npm"} {"a": 1}',
        b'\xff{"npm": NaN}',
    ],
)
def test_a_payload_of_any_form_gets_no_answer(hooks: Hooks, held: Held, payload: bytes) -> None:
    held(guard(NPM, "deny"), guard(VENDOR, "deny", "g2"))
    assert hooks.run("PreToolUse", NAME, payload=payload) == b""
    assert notes(hooks) == []


@pytest.mark.parametrize("name", ["../inbox.db", "", "..", "/etc/passwd", "a" * 5_000])
def test_the_name_of_a_project_leads_to_no_other_file(hooks: Hooks, held: Held, user: Path, name: str) -> None:
    held(guard(NPM, "deny"))
    assert hooks.run("PreToolUse", name, payload=call("Bash", user, command="npm ci")) == b""


def test_the_worker_is_neither_asked_nor_started(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(NPM, "deny"))
    home.worker_python.symlink_to("/bin/false")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
        listener.listen(1)
        listener.setblocking(False)
        assert hooks.run("PreToolUse", NAME, payload=call("Bash", user, command="npm ci")) != b""
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not home.start_lock.exists()


def test_a_trial_answers_with_the_guards_that_fire_and_notes_nothing(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(NPM, "deny"), guard(VENDOR, "deny", "g2"))
    payload = call("Bash", user, command="npm ci")
    assert json.loads(hooks.run("PreToolUse", NAME, payload=payload, CLAUDE_MEM_LITE_TRIAL="1")) == {"fired": ["g1"]}
    assert hooks.kept() == []


def test_a_call_without_a_token_imports_the_guard_and_nothing_else(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(NPM, "deny"))
    assert imported(observe(hooks, f"PreToolUse {NAME}", call("Bash", user, command="make"))) == {"kernel", "guard"}


def test_words_beside_the_input_of_a_call_are_not_looked_at(hooks: Hooks, held: Held, user: Path) -> None:
    held(guard(Rule(commands=("rm",)), "deny"))
    payload = call("Bash", user / "rm", command="make").replace(b'"cwd"', b'"permission_mode": "default", "cwd"')
    assert imported(observe(hooks, f"PreToolUse {NAME}", payload)) == {"kernel", "guard"}


def test_a_patch_in_a_guarded_folder_is_found_by_the_folder(hooks: Hooks, held: Held, home: Home, user: Path) -> None:
    held(guard(VENDOR, "deny"))
    (user / ".git").mkdir()
    (home.guards / "roots").write_text(f"{NAME} Edit {user}\n")
    (home.guards / "roots").chmod(0o600)
    patch = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\n"
    payload = call("apply_patch", user / "vendor", command=patch)
    assert hooks.run("PreToolUse", "here", "codex", payload=payload) != b""


def test_a_call_that_fires_imports_no_module_of_the_library_that_costs_more_than_the_hook(
    hooks: Hooks, held: Held, user: Path
) -> None:
    held(guard(NPM, "deny"))
    loaded = imported(observe(hooks, f"PreToolUse {NAME}", call("Bash", user, command="npm ci")))
    own = {"guard", "guard_check", "guard_call", "guard_json", "guard_match", "guard_places", "shell_commands"}
    assert loaded == {"kernel", "_json", *own}
