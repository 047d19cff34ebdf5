"""What commands are for, when two are the same, and what commits they made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.toolcalls import commits, shell


@pytest.mark.parametrize(
    ("command", "role"),
    [
        ("pytest -q", "test"),
        ("cd app && FOO=1 uv run pytest tests/unit 2>&1 | tail -20", "test"),
        ("python3 -m unittest discover", "test"),
        ("npx jest src/cart", "test"),
        ("npm test", "test"),
        ("go test ./...", "test"),
        ("cargo test --lib", "test"),
        ("make test", "test"),
        ("npm run build", "build"),
        ("go build ./...", "build"),
        ("docker compose build web", "build"),
        ("./node_modules/.bin/eslint .", "lint"),
        ("tsc --noEmit", "lint"),
        ("ruff check .", "lint"),
        ("pip install httpx", "install"),
        ("npm ci", "install"),
        ("git add -A && git commit -m 'x' && git push", "commit"),
        ("git push origin main", "git"),
        ("grep -rn 'pytest && go test' src | head", "explore"),
        ("git status", "explore"),
        ("git mv a.py b.py", "files"),
        ("./deploy.sh staging", "run"),
        ("cat <<'EOF' > x.py\nimport pytest; pytest.main()\nEOF\npython x.py", "run"),
    ],
)
def test_a_command_has_the_role_of_its_main_part(command: str, role: str) -> None:
    assert shell.main_part(command)[1] == role


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/unit",
        "cd /home/dev/shop && pytest tests/unit",
        "pytest -q tests/unit",
        "uv run pytest tests/unit -x --tb=short 2>&1 | tail -30",
        "PYTHONPATH=src python -m pytest -v tests/unit",
        "timeout 60 .venv/bin/pytest tests/unit",
    ],
)
def test_the_same_run_has_the_same_key(command: str) -> None:
    assert shell.key(shell.main_part(command)[0]) == "pytest tests/unit"


def test_another_target_has_another_key() -> None:
    assert shell.key("pytest tests/unit") != shell.key("pytest tests/e2e")


def test_a_commit_is_read_from_its_command_and_its_output() -> None:
    made = commits.read_commits(
        'git commit -m "fix(cart): add prices as numbers" -m "They were joined as strings."',
        "[main 1a2b3c4] fix(cart): add prices as numbers\n 1 file changed, 1 insertion(+)",
    )
    assert made == [
        commits.Commit(
            "fix(cart): add prices as numbers",
            "They were joined as strings.",
            "1a2b3c4",
            "main",
            "1 file changed, 1 insertion(+)",
        )
    ]


def test_a_message_in_a_here_document_loses_its_trailers() -> None:
    command = (
        "git commit -m \"$(cat <<'EOF'\nAdd a cart\n\nShops need one.\n\n"
        'Co-Authored-By: Claude <noreply@anthropic.com>\nEOF\n)"'
    )
    assert commits.read_commits(command, "[dev 1a2b3c4] Add a cart") == [
        commits.Commit("Add a cart", "Shops need one.", "1a2b3c4", "dev")
    ]


@pytest.mark.parametrize(
    "options",
    [
        "-c user.name='A Tester' -c commit.gpgsign=false",
        "-C ../other",
        "--no-pager",
        "--git-dir=../x/.git",
        "--git-dir ../x",
    ],
)
def test_options_of_git_may_stand_before_commit(options: str) -> None:
    made = commits.read_commits(
        f'git {options} commit -m "Add a cart" -m "Shops need one."', "[dev 1a2b3c4] Add a cart"
    )
    assert made == [commits.Commit("Add a cart", "Shops need one.", "1a2b3c4", "dev")]


def test_an_amended_commit_is_named_by_the_output() -> None:
    made = commits.read_commits("git commit --amend --no-edit", "[main 9f8e7d6] Add a cart\n Date: today")
    assert [commit.subject for commit in made] == ["Add a cart"]


def test_nothing_to_commit_is_no_commit() -> None:
    assert commits.read_commits('git commit -m "x y"', "On branch main\nnothing to commit, working tree clean") == []


def test_the_word_commit_in_a_search_is_no_commit() -> None:
    assert commits.read_commits("grep -rn 'git commit' docs", "docs/a.md: git commit") == []


def test_the_exit_code_is_told_from_the_output() -> None:
    assert shell.exit_code("Exit code 3\noops") == (3, "oops")
    assert shell.exit_code("oops") == (None, "oops")


@pytest.mark.parametrize(
    ("command", "outside"),
    [
        ("cd /tmp/x && git commit", ["/tmp/x"]),
        ("git -C /tmp/x commit", ["/tmp/x"]),
        ("cd ../other && ls", ["../other"]),
        ("cd src && ls", []),
        ("cd /home/dev/shop/src", []),
        ("(cd ../other && ls)", ["../other"]),
        ("cd .. && cd other && ls", ["other"]),
        ("cd src && cd .. && ls", []),
        ("pushd /home/dev/other && ls", ["/home/dev/other"]),
        ("git -c a.b=c -C ../other commit", ["../other"]),
        ("git --git-dir=/home/dev/other/.git --work-tree /home/dev/other commit", ["/home/dev/other"] * 2),
        ("GIT_DIR=../other/.git git commit", ["../other"]),
        ("git --git-dir=.git commit", []),
        ("cd $OTHER && git commit", ["$OTHER"]),
        ("cd ~/other && git commit", ["~/other"]),
        ("cd ~/shop && git -C $HOME/shop/src commit", []),
        ('cd "$(git rev-parse --show-toplevel)" && git commit', []),
    ],
)
def test_folders_outside_the_checkout_are_named(command: str, outside: list[str]) -> None:
    assert shell.folders_outside(command, "/home/dev/shop") == outside


def test_another_folder_of_the_checkout_is_not_outside() -> None:
    assert shell.folders_outside("cd ../api && git commit", "/home/dev/shop/web", "/home/dev/shop") == []
    assert shell.folders_outside("cd .. && git commit", "/home/dev/shop/web", "/home/dev/shop") == []


def test_the_subject_that_was_typed_goes_before_one_that_was_printed() -> None:
    made = commits.read_commits("git commit -qm 'Add a cart'", "[policy 0badcaf] Builds are signed elsewhere")
    assert [(one.subject, one.is_typed) for one in made] == [("Add a cart", True)]


def test_of_several_commits_those_that_were_typed_are_known() -> None:
    made = commits.read_commits(
        'git commit -m "Add a \\"cart\\"" && git cherry-pick 9f8e7d6',
        '[main 1a2b3c4] Add a "cart"\n[main 2b3c4d5] Add a wheel\n',
    )
    assert [(one.subject, one.is_typed) for one in made] == [('Add a "cart"', True), ("Add a wheel", False)]


def test_a_message_in_single_quotes_is_that_of_the_commit() -> None:
    made = commits.read_commits("git add a\ngit commit -q -m 'Pin the tools\n\nRenovate skips latest.'", "")
    assert [(one.subject, one.body) for one in made] == [("Pin the tools", "Renovate skips latest.")]


@pytest.mark.parametrize(
    ("command", "output", "commit"),
    [
        (
            "git commit -m 'Add a cart'",
            "[main (root-commit) 1a2b3c4] Add a cart\n 2 files changed, 9 insertions(+)\n create mode 100644 a.py\n",
            commits.Commit("Add a cart", "", "1a2b3c4", "main", "2 files changed, 9 insertions(+)"),
        ),
        (
            "git cherry-pick -x 9f8e7d6",
            "[release/1.8 1a2b3c4] Add a cart\n Date: Tue Mar 3 17:01:10 2026\n 1 file changed, 2 insertions(+)\n",
            commits.Commit(
                "Add a cart", "", "1a2b3c4", "release/1.8", "1 file changed, 2 insertions(+)", "9f8e7d6", False
            ),
        ),
        (
            "git revert --no-edit 9f8e7d6",
            '[detached HEAD 1a2b3c4] Revert "Add a cart"\n',
            commits.Commit('Revert "Add a cart"', "", "1a2b3c4", is_typed=False),
        ),
    ],
)
def test_a_commit_has_its_size_and_its_source(command: str, output: str, commit: commits.Commit) -> None:
    assert shell.main_part(command)[1] == "commit"
    assert commits.read_commits(command, output) == [commit]


@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("make test", False),
        ("make test && echo fine", False),
        ("make test 2>&1 | tail -5", True),
        ("make test || true", True),
        ("make test; echo done", True),
        ("grep 'a|b' x.py", False),
        ("cat <<'EOF' > x\na | b\nEOF", False),
    ],
)
def test_a_pipe_or_a_second_command_hides_the_exit_of_the_first(command: str, hides: bool) -> None:
    assert shell.hides_exit(command) is hides


def test_a_here_document_leaves_no_hole_in_a_command() -> None:
    assert shell.parts('gh pr create --title "A" --body "$(cat <<\'EOF\'\ntext\nEOF\n)"') == [
        'gh pr create --title "A" --body …'
    ]


COMMANDS = st.text() | st.lists(
    st.sampled_from(["cd a", "&&", "|", ";", "pytest -q", "git commit -m 'x'", "<<EOF\n", "EOF", "'", '"', "$(", "ls"])
).map(" ".join)


@given(COMMANDS)
def test_the_main_part_is_one_of_the_parts(command: str) -> None:
    part, role = shell.main_part(command)
    assert part in shell.parts(command) or not shell.parts(command)
    assert shell.role(part) == role or not part


@given(COMMANDS)
def test_the_key_of_a_key_is_the_same(command: str) -> None:
    part, _ = shell.main_part(command)
    assert shell.key(shell.key(part)) == shell.key(part)


@given(COMMANDS, st.text() | st.just("[main 1a2b3c4] Add a cart"))
def test_every_commit_has_a_subject_of_one_line(command: str, output: str) -> None:
    for commit in commits.read_commits(command, output):
        assert commit.subject.strip()
        assert "\n" not in commit.subject
