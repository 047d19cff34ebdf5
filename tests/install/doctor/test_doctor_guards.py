"""What doctor finds about guards: each is tried with the hook program that agents run."""

import json
import os
from pathlib import Path

import pytest

from claude_mem_lite import held_guards
from claude_mem_lite.guards import guards_file
from claude_mem_lite.guards.guard import Example, Guard
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.install import guard_hooks
from claude_mem_lite.install.doctor.check import FIX
from claude_mem_lite.install.doctor.fixes import DoctorFix, apply, find_fixes
from claude_mem_lite.install.doctor.guard_checks import check_guards
from claude_mem_lite.paths import Home
from tests.support.git_repositories import make_checkout

PROJECT = "example.org/team/shop"
NAME = held_guards.name_of(PROJECT)
NPM = Rule(commands=("npm",))


def guard(id_: str, rule: Rule, fires: tuple[str, str], passes: tuple[str, str]) -> Guard:
    on, off = Example(*fires), Example(*passes)
    return Guard(id_, PROJECT, rule, "a rule", "", "deny", "active", on, off, "", "2026-11-03T10:00:00Z", "", "")


USE_PNPM = guard("g1", NPM, ("Bash", "npm ci"), ("Bash", "echo 'npm ci'"))
VENDOR = guard("g2", Rule(paths=("vendor/",)), ("Write", "vendor/a.txt"), ("Write", "src/a.txt"))
HTTPX = guard("g3", Rule(imports=("requests",)), ("Write", "import requests"), ("Write", "import httpx"))
ON_MAIN = guard(
    "g4",
    Rule(commands=("git commit",), branches=("main",)),
    ("Bash", "git checkout main && git commit"),
    ("Bash", "git checkout -b other && git commit"),
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = (tmp_path / "shop").resolve()
    make_checkout(folder)
    return folder


def hold(home: Home, shop: Path, *guards: Guard) -> None:
    home.make()
    guards_file.write(home, PROJECT, guards)
    guard_hooks.hold(home, PROJECT, [shop])


def _fixes(home: Home) -> list[DoctorFix]:
    user_settings = Path.home() / ".claude" / "settings.json"
    return [fix for fix in find_fixes(home, user_settings, os.environ) if fix.name == "guards"]


def found(home: Home) -> list[tuple[str, str]]:
    return [(check.state, check.found) for check in check_guards(home)]


def test_without_guards_nothing_is_checked(home: Home) -> None:
    assert check_guards(home) == []


def test_guards_of_every_kind_pass_their_own_test_and_leave_nothing_behind(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM, VENDOR, HTTPX, ON_MAIN)
    ((state, finding),) = found(home)
    assert state == "ok"
    assert finding.startswith("4 guards of example.org/team/shop")
    assert list(home.spool_new.iterdir()) == []


def test_a_guard_that_misses_its_example_or_fires_on_the_other_is_named(home: Home, shop: Path) -> None:
    deaf = guard("g7", NPM, ("Bash", "yarn install"), ("Bash", "echo npm"))
    nervous = guard("g8", NPM, ("Bash", "npm ci"), ("Bash", "sudo npm ci"))
    hold(home, shop, USE_PNPM, deaf, nervous)
    assert found(home) == [
        ("fail", "guard g7 does not fire on its example: yarn install"),
        ("fail", "guard g8 fires on what it should let pass: sudo npm ci"),
    ]


def test_a_file_that_the_hook_does_not_accept_fails_the_test_of_every_guard(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    (home.guards / NAME).chmod(0o666)
    assert found(home) == [("fail", "guard g1 does not fire on its example: npm ci")]


def test_a_broken_file_is_found(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    (home.guards / NAME).write_bytes(b"npm\n{")
    ((state, finding),) = found(home)
    assert state == "fail"
    assert "is broken, so every call passes" in finding


def test_a_call_that_passed_unchecked_is_told_until_the_file_is_written_anew(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    note = {"hook_event_name": "GuardFailed", "guard": "g1", "file": NAME, "reason": "slow"}
    (home.guards / f"{NAME}.failed").write_text(json.dumps(note))
    assert found(home) == [("warn", "a call passed unchecked: slow (guard g1)")]
    guards_file.write(home, PROJECT, [USE_PNPM])
    assert [state for state, _ in found(home)] == ["ok"]


def test_a_missing_hook_is_found_and_put_back(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    settings = shop / ".claude" / "settings.local.json"
    written = settings.read_bytes()
    settings.unlink()
    checks = check_guards(home)
    assert (checks[0].state, checks[0].next_step) == ("fail", FIX)
    assert f"missing or outdated in {settings}" in checks[0].found
    done = [apply(fix) for fix in _fixes(home)]
    assert [one.failure for one in done] == [""]
    assert settings.read_bytes() == written
    assert [state for state, _ in found(home)] == ["ok"]


def test_settings_that_run_no_hooks_are_told(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    settings = shop / ".claude" / "settings.local.json"
    settings.write_text(json.dumps({**json.loads(settings.read_bytes()), "disableAllHooks": True}))
    assert any('"disableAllHooks", so no guard holds in Claude Code' in finding for _, finding in found(home))


def test_guards_without_a_hook_in_any_folder_are_told(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    (home.guards / "roots").unlink()
    guard_hooks.refresh(home)
    (check,) = check_guards(home)
    assert (check.state, check.found) == ("warn", "guards are in force, but no folder of their project has the hook")
    assert check.next_step == "run `claude-mem-lite guards resume g1`"


def test_a_hook_whose_last_guard_was_paused_without_the_user_is_left_over_and_taken_out(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    settings = shop / ".claude" / "settings.local.json"
    guards_file.remove(home, PROJECT)
    assert found(home) == [("warn", f"the hook of your guards is left over in {settings}")]
    assert [apply(fix).failure for fix in _fixes(home)] == [""]
    assert not settings.exists()


def test_while_memory_is_off_doctor_says_that_no_guard_holds(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    home.off_switch.touch()
    assert found(home) == [("warn", "no guard holds while memory is off")]


def test_without_the_program_of_the_hooks_the_guards_themselves_are_not_blamed(home: Home, shop: Path) -> None:
    hold(home, shop, USE_PNPM)
    home.hook_python.unlink()
    (check,) = check_guards(home)
    assert (check.state, check.found) == ("fail", "no guard holds: the program of the hooks is missing")
    assert "claude-mem-lite install" in check.next_step
