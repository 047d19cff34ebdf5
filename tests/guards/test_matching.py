"""Rules beside calls of the past: tools, tokens, branches, edits."""

import pytest

from claude_mem_lite.guards.guard import Example
from claude_mem_lite.guards.matching import Call, example_call, matched
from claude_mem_lite.guards.rule import ALWAYS, Rule, all_tokens, rule_from_json
from claude_mem_lite.models import JsonObject

ROOT = "/home/dev/shop"


def bash(command: str, branch: str = "", folder: str = ROOT) -> Call:
    return Call("Bash", {"command": command}, folder, ROOT, branch)


def test_a_command_is_told_by_its_words() -> None:
    assert matched(Rule(commands=("npm",)), bash("cd web && sudo npm ci")) == "npm ci"
    assert matched(Rule(commands=("npm",)), bash("echo npm ci")) == ""


def test_a_rule_of_commands_leaves_edits_alone() -> None:
    assert matched(Rule(commands=("npm",)), Call("Write", {"file_path": "npm", "content": "npm"}, ROOT, ROOT)) == ""


def test_a_rule_of_paths_tells_the_path() -> None:
    call = Call("Edit", {"file_path": f"{ROOT}/vendor/a.go", "new_string": "x"}, ROOT, ROOT)
    assert matched(Rule(paths=("vendor/",)), call) == f"{ROOT}/vendor/a.go"
    assert matched(Rule(paths=("dist/",)), call) == ""


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": f"{ROOT}/a.py", "content": "import moment"},
        {"file_path": f"{ROOT}/a.py", "old_string": "x", "new_string": "import moment"},
        {"file_path": f"{ROOT}/a.py", "edits": [{"old_string": "x", "new_string": "import moment"}]},
        {"notebook_path": f"{ROOT}/a.ipynb", "new_source": "import moment"},
    ],
)
def test_a_rule_of_imports_reads_each_kind_of_edit(given: JsonObject) -> None:
    assert matched(Rule(imports=("moment",)), Call("MultiEdit", given, ROOT, ROOT)) == "moment"


def test_a_rule_of_paths_and_imports_needs_both() -> None:
    rule = Rule(paths=("web/",), imports=("moment",))
    written = {"web/a.ts": "import 'moment'", "web/b.ts": "import 'date-fns'", "api/a.ts": "import 'moment'"}
    calls = [
        Call("Write", {"file_path": f"{ROOT}/{path}", "content": line}, ROOT, ROOT) for path, line in written.items()
    ]
    assert [matched(rule, call) for call in calls] == ["moment", "", ""]


def test_a_rule_of_imports_leaves_excepted_paths_alone() -> None:
    rule = Rule(imports=("moment",), excepts=("tests/",))
    written = {"file_path": f"{ROOT}/tests/a.ts", "content": "import 'moment'"}
    assert matched(rule, Call("Write", written, ROOT, ROOT)) == ""
    assert matched(rule, Call("Write", {**written, "file_path": f"{ROOT}/src/a.ts"}, ROOT, ROOT)) == "moment"


def test_the_branch_of_a_call_holds_below_its_folder_only() -> None:
    rule = Rule(commands=("git commit",), branches=("main",))
    assert matched(rule, bash("cd web && git commit", "main"))
    assert not matched(rule, bash("cd ../other && git commit", "main"))
    assert not matched(rule, bash("cd ~/other && git commit", "main"))


def test_an_example_of_an_edit_writes_its_text() -> None:
    call = example_call(Example("Write", "vendor/a"), ROOT)
    assert call.tool_input == {"file_path": f"{ROOT}/vendor/a", "content": "vendor/a"}


def test_tokens_are_in_every_payload_that_matches() -> None:
    assert Rule(commands=("npm ci", "git push --force")).tokens() == ("npm", "git")
    assert Rule(paths=("src/generated/*.ts",)).tokens() == ("generated",)
    assert Rule(paths=("größe/",)).tokens() == ("gr",)
    assert Rule(paths=("設定/",)).tokens() == (ALWAYS,)
    assert all_tokens([Rule(commands=("npm",)), Rule(paths=("*",))]) == (ALWAYS,)


def test_a_rule_survives_json() -> None:
    rule = Rule(commands=("npm",), excepts=("npm run",))
    assert rule_from_json(rule.to_json()) == rule
    assert rule_from_json({"commands": ["npm"], "else": 3}) == Rule(commands=("npm",))
