"""Small git repositories for sessions to work in."""

import subprocess
from pathlib import Path

PERSON = ("-c", "user.name=A Tester", "-c", "user.email=tester@example.invalid", "-c", "commit.gpgsign=false")


def make_repo(folder: Path) -> Path:
    """A git repository with one commit and no remote."""
    (folder / "src").mkdir(parents=True)
    (folder / "README.md").write_text("# Shop\n\nPrices and refunds.\n")
    (folder / "src" / "orders.py").write_text("OPEN = 1\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Start")
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *PERSON, *arguments], cwd=folder, check=True, capture_output=True)
