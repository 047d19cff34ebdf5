"""Files that commands wrote, changed, renamed and deleted."""

import pytest

from claude_mem_lite.compress.toolcalls.commands import read_shell_edits
from claude_mem_lite.compress.toolcalls.edits import describe
from claude_mem_lite.compress.toolcalls.payload_fields import Folder
from tests.support.turns import CWD


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("git mv src/a.py src/b.py", ["src/a.py: renamed to src/b.py"]),
        ("rm old.py", ["old.py: deleted"]),
        ("mkdir -p a && rm a/x.py a/y.py", ["a/x.py: deleted", "a/y.py: deleted"]),
        ("sed -i 's/1\\.8\\.0/1.9.0/' pyproject.toml", ["pyproject.toml: 1.8.0 -> 1.9.0"]),
        ("sed -i '' -e 's|a/b|a/c|g' x.go y.go", ["x.go: a/b -> a/c", "y.go: a/b -> a/c"]),
        ("perl -pi -e 's/foo/bar/' lib/x.rb", ["lib/x.rb: foo -> bar"]),
        ("sed -i '/debug/d' a.py", ["a.py: changed"]),
        ("cat > src/db.py <<'EOF'\ndef connect():\n    pass\nEOF", ["src/db.py: new file with connect (2 lines)"]),
        ("cat <<EOF > notes.md\nhello\nEOF\nls", ["notes.md: new file (1 lines)"]),
        ("tee conf.ini <<EOF >/dev/null\na = 1\nEOF", ["conf.ini: new file (1 lines)"]),
        ("cat >> src/db.py <<'EOF'\ndef close():\n    pass\nEOF", ["src/db.py: added close (+2 -0)"]),
        (f"rm {CWD}/src/a.py", ["src/a.py: deleted"]),
    ],
)
def test_a_command_that_changes_files_by_name_is_an_edit(command: str, told: list[str]) -> None:
    assert [describe(change) for change in read_shell_edits(command, Folder(CWD))] == told


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm *.pyc",
        "mv /tmp/x.py y.py",
        "sed -n 's/a/b/p' a.py",
        "cat a.py",
        "cat > /tmp/a.py <<EOF\nx\nEOF",
        "python - <<'EOF'\nprint('> a.py')\nEOF",
        "rm 'unclosed.py",
        "git rm --cached",
        "",
    ],
)
def test_folders_patterns_and_other_places_are_left_out(command: str) -> None:
    assert read_shell_edits(command, Folder(CWD)) == []
