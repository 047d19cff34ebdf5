"""Command lines, branches, paths and imports that a rule matches, and those that it leaves alone."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.hook import guard_match, shell_commands

DATA = Path(__file__).parents[1] / "data" / "command_spellings.toml"
SPELLINGS = tomllib.loads(DATA.read_text("utf-8"))
ROOT = "/home/dev/shop"
FIRES = [(name, line) for name, table in SPELLINGS.items() for line in table["fires"]]
PASSES = [(name, line) for name, table in SPELLINGS.items() for line in table["passes"]]


class On(guard_match.Branches):
    """The top folder is on one branch, other folders on none."""

    def __init__(self, branch: str = "") -> None:
        self.branch = branch

    def current(self, folder: str) -> str:
        return self.branch if folder == ROOT else ""


def found(rule: guard_match.Rule, line: str, branch: str = "") -> list[str]:
    return guard_match.matched_command(rule, shell_commands.parse(line, ROOT), On(branch))


@pytest.mark.parametrize(("name", "line"), FIRES)
def test_a_command_is_found_in_any_spelling(name: str, line: str) -> None:
    assert found(SPELLINGS[name]["rule"], line)


@pytest.mark.parametrize(("name", "line"), PASSES)
def test_a_mention_is_no_command(name: str, line: str) -> None:
    assert not found(SPELLINGS[name]["rule"], line)


def test_the_table_has_more_than_400_spellings() -> None:
    assert len({line for _, line in (*FIRES, *PASSES)}) > 400


PUSH = {"commands": ["git push"], "branches": ["main"]}
COMMIT = {"commands": ["git commit"], "branches": ["main"]}


@pytest.mark.parametrize(
    ("line", "branch"),
    [
        ("git push", "main"),
        ("git push origin", "main"),
        ("git push origin HEAD", "main"),
        ("git push -u origin HEAD", "main"),
        ("git push origin main", "feature"),
        ("git push origin feature:main", "feature"),
        ("git push origin HEAD:refs/heads/main", "feature"),
        ("git push origin +main", "feature"),
        ("git push -o ci.skip origin main", "feature"),
        ("git checkout main && git push", "feature"),
        ("git switch main; git merge x; git push", "feature"),
        ("git push origin main --tags", "feature"),
    ],
)
def test_a_push_to_the_branch_is_found(line: str, branch: str) -> None:
    assert found(PUSH, line, branch)


@pytest.mark.parametrize(
    ("line", "branch"),
    [
        ("git push", "feature"),
        ("git push", ""),
        ("git push origin feature", "main"),
        ("git push origin main:feature", "main"),
        ("git push --tags", "main"),
        ("git push origin --tags", "main"),
        ("git checkout -b feature && git push", "main"),
        ("git switch -c feature && git push -u origin HEAD", "main"),
        ("git checkout - && git push", "main"),
        ("git checkout $BRANCH && git push", "main"),
        ("git push origin $BRANCH", "main"),
        ("cd ../other && git push", "main"),
        ("cd $DIR && git push", "main"),
        ("git -C ../other push", "main"),
        ("(git checkout main); cd /tmp; git push", "feature"),
        ("git push origin main-2", "feature"),
    ],
)
def test_a_push_elsewhere_is_not(line: str, branch: str) -> None:
    assert not found(PUSH, line, branch)


@pytest.mark.parametrize(
    "line",
    [
        "git commit -m x",
        "git add . && git commit",
        "cd . && git commit",
        "cd src/.. && git commit",
        "git checkout package.json; git commit -m x",
        "git checkout src/ && git commit -m x",
        "git checkout src/a.py && git commit -m x",
        "git checkout '*.go' && git commit -m x",
    ],
)
def test_a_commit_on_the_branch_is_found(line: str) -> None:
    assert found(COMMIT, line, "main")
    assert not found(COMMIT, line, "feature")


@pytest.mark.parametrize("name", ["1.x", "release/1.2", "v2", "feature/a", "-b a.py"])
def test_a_commit_on_a_branch_that_the_line_switched_to_is_not(name: str) -> None:
    assert not found(COMMIT, f"git checkout {name} && git commit -m x", "main")


LOOKING = [f"{lead} {word}" for lead, words in guard_match.QUERYING.items() for word in words.split()]


@pytest.mark.parametrize("command", LOOKING)
def test_a_command_that_only_looks_passes_unless_the_rule_names_it(command: str) -> None:
    program = command.split()[0]
    assert not found({"commands": [program]}, f"sudo {command}")
    assert found({"commands": [command]}, f"sudo {command}")
    assert found({"commands": [program]}, f"sudo {program} change")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(("npm ci", "cargo test", "git push --force", "docker compose up -d", "rm -rf build", "pytest -q")),
    st.sampled_from(("--help", "--version")),
    st.sampled_from(("{}", "cd web && {}", "sudo {}", "env A=1 {}", "echo $({})", "timeout 5 {} | head")),
)
def test_a_question_about_the_program_passes_in_any_spelling(command: str, option: str, form: str) -> None:
    program = command.split()[0]
    assert not found({"commands": [program]}, form.format(f"{command} {option}"))
    assert found({"commands": [program]}, form.format(command))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(("grep x", "grep -v x", "grep -c -i x", "tail -5", "head -n 3", "cat", "grep -e x")),
    st.sampled_from(("ls | {}", "make 2>&1 | {}", "a | b | {}", "make |& {} | sort", "for x in a; do ls | {}; done")),
    st.sampled_from(("notes.txt", "src/größe", "'a b'", "*.py")),
)
def test_a_filter_passes_only_if_it_names_no_file(command: str, form: str, file: str) -> None:
    rule = {"commands": ["grep", "tail", "head", "cat"], "excepts": ["<"]}
    assert not found(rule, form.format(command))
    assert found(rule, form.format(f"{command} {file}"))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("vendor/", f"{ROOT}/vendor/a.go"),
        ("vendor/", f"{ROOT}/web/vendor/x/a.go"),
        ("vendor", "vendor/a.go"),
        ("/vendor", f"{ROOT}/vendor/a.go"),
        ("src/gen", f"{ROOT}/src/gen/deep/a.ts"),
        ("src/gen/", f"{ROOT}/src/gen/a.ts"),
        ("src/*/gen", f"{ROOT}/src/api/gen/a.ts"),
        ("*.lock", f"{ROOT}/a/b/Cargo.lock"),
        ("**/gen/*.ts", f"{ROOT}/a/gen/x.ts"),
        ("package-lock.json", f"{ROOT}/web/package-lock.json"),
        ("/etc/hosts", "/etc/hosts"),
        ("~/.ssh/", "/home/dev/.ssh/config"),
        ("größe/", f"{ROOT}/größe/a.txt"),
        ("設定/*.json", f"{ROOT}/設定/a.json"),
        ("a*b*c", f"{ROOT}/axxbyyc"),
        ("src/gen", f"{ROOT}/web/../src/gen/a.ts"),
    ],
)
def test_a_path_is_matched_as_in_a_gitignore(pattern: str, path: str) -> None:
    assert guard_match.matched_path({"paths": [pattern]}, path, ROOT)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("vendor/", f"{ROOT}/src/vendors/a.go"),
        ("vendor/", f"{ROOT}/src/my-vendor/a.go"),
        ("vendor/", "/tmp/vendor/a.go"),
        ("vendor/", f"{ROOT}-2/vendor/a.go"),
        ("src/gen", f"{ROOT}/web/src/gen/a.ts"),
        ("src/gen", f"{ROOT}/src/general/a.ts"),
        ("*.lock", f"{ROOT}/lock"),
        ("*.lock", f"{ROOT}/a.lock.md"),
        ("/", f"{ROOT}/a"),
        ("", f"{ROOT}/a"),
        ("*", f"{ROOT}/a"),
        ("a*b*c", f"{ROOT}/acb"),
        ("aa*aa", f"{ROOT}/aaa"),
        ("vendor/", f"{ROOT}/vendor/../src/a.go"),
        ("vendor/", f"{ROOT}/../other/vendor/a.go"),
    ],
)
def test_other_paths_are_not(pattern: str, path: str) -> None:
    assert not guard_match.matched_path({"paths": [pattern]}, path, ROOT)


def test_an_excepted_path_passes() -> None:
    rule = {"paths": ["vendor/"], "excepts": ["vendor/ours"]}
    assert guard_match.matched_path(rule, f"{ROOT}/vendor/a", ROOT)
    assert not guard_match.matched_path(rule, f"{ROOT}/vendor/ours/a", ROOT)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("moment", "import moment from 'moment';"),
        ("moment", 'import "moment"'),
        ("moment", "const m = require('moment')"),
        ("moment", "const m = await import('moment')"),
        ("moment", "export { x } from 'moment/locale'"),
        ("requests", "import requests"),
        ("requests", "    import requests as r"),
        ("requests", "import os, requests"),
        ("requests", "from requests import get"),
        ("requests", "from requests.auth import X"),
        ("unittest.mock", "from unittest.mock import patch"),
        ("os/exec", '\t"os/exec"'),
        ("os/exec", 'import "os/exec"'),
        ("anyhow", "use anyhow::Result;"),
        ("anyhow", "use anyhow;"),
        ("@scope/pkg", "import x from '@scope/pkg'"),
        ("vector", "#include <vector>"),
        ("json", "require 'json'"),
    ],
)
def test_an_import_is_found(module: str, line: str) -> None:
    assert guard_match.matched_import({"imports": [module]}, f"first\n{line}\nlast", "") == module


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("moment", "// wait a moment"),
        ("moment", "const moment = now()"),
        ("moment", "import x from 'moment-timezone'"),
        ("moment", "import x from './moment'"),
        ("moment", 'console.log("moment")'),
        ("requests", "import requests_mock"),
        ("requests", "# import requests later"),
        ("requests", "requests = []"),
        ("requests", "from .requests import x"),
        ("anyhow", "use std::anyhow_x;"),
    ],
)
def test_a_line_that_imports_something_else_is_not(module: str, line: str) -> None:
    assert guard_match.matched_import({"imports": [module]}, line, "") == ""


def test_an_import_that_was_there_before_passes() -> None:
    rule = {"imports": ["moment"]}
    assert not guard_match.matched_import(rule, "import moment\nx", "import moment")
    assert not guard_match.matched_import(rule, "from moment import a, b", "from moment import a")


def test_an_import_in_prose_passes() -> None:
    rule = {"imports": ["moment"]}
    assert not guard_match.matched_import(rule, "import moment", "", "docs/plan.md")
    assert guard_match.matched_import(rule, "import moment", "", "src/plan.py")


def test_written_texts_are_those_of_each_edit() -> None:
    edits: dict[str, object] = {"edits": [{"old_string": "a", "new_string": "b"}, {"new_string": "c"}, 3]}
    assert guard_match.written_texts(edits) == [("b", "a"), ("c", "")]
    assert guard_match.written_texts({"content": "x"}) == [("x", "")]
    assert guard_match.written_path({"notebook_path": "n.ipynb"}) == "n.ipynb"
    assert guard_match.written_path({"file_path": 3}) == ""


@pytest.mark.parametrize(
    "pattern", ["*" * 10_000, "*a" * 10_000, "a*" * 5_000 + "b", "/".join("*" * 5_000), "**/" * 5_000]
)
def test_a_pattern_of_many_stars_ends(pattern: str) -> None:
    assert guard_match.matched_path({"paths": [pattern]}, f"{ROOT}/{'a' * 20_000}", ROOT) in (True, False)
    assert not found({"commands": ["git add"], "arguments": [pattern + "c"]}, "git add " + "a" * 20_000)


def test_ten_thousand_leads_and_words_end() -> None:
    rule = {"commands": ["npm " + "x " * 500] * 20, "excepts": ["npm y"]}
    assert not found(rule, "npm " + "-a z " * 10_000)


@pytest.mark.parametrize("rule", [{}, {"commands": []}, {"commands": ["", " "]}, {"flags": ["-f"]}, {"paths": [""]}])
def test_an_empty_rule_matches_nothing(rule: guard_match.Rule) -> None:
    assert not found(rule, "npm ci")
    assert not guard_match.matched_path(rule, f"{ROOT}/a", ROOT)
    assert not guard_match.matched_import(rule, "import a", "")
    assert not guard_match.matched_edit(rule, f"{ROOT}/a", [("import a", "")], ROOT)
