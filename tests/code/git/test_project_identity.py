"""Project identity, on repositories made by the real git."""

import subprocess
from pathlib import Path

import pytest

from claude_mem_lite.code.git.project_identity import find_location, normalise_remote


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_repository(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/me/shop.git",
        "https://github.com/me/shop",
        "https://someone:s3cret@github.com/me/shop.git",
        "git@github.com:me/shop.git",
        "ssh://git@GitHub.com:22/me/shop.git/",
        "git://github.com/me/shop",
    ],
)
def test_every_spelling_of_a_remote_is_one_project(remote: str) -> None:
    assert normalise_remote(remote) == "github.com/me/shop"


@pytest.mark.parametrize("remote", ["", "/srv/git/shop.git", "../shop", "file:///srv/shop.git", "C:"])
def test_a_remote_on_this_machine_is_no_identity(remote: str) -> None:
    assert normalise_remote(remote) == ""


def test_credentials_in_a_remote_are_in_no_field_of_the_place(tmp_path: Path) -> None:
    location = find_location(str(make_repository(tmp_path / "a", "https://me:hunter2@example.org/me/shop.git")))
    assert location.project == "example.org/me/shop"
    assert "hunter2" not in repr(location)


def test_a_subdirectory_belongs_to_the_project_of_its_repository(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    (root / "src" / "deep").mkdir(parents=True)
    assert find_location(str(root / "src" / "deep")) == find_location(str(root))


def test_a_worktree_belongs_to_the_project_but_has_its_own_branch(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    git(root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "elsewhere"))
    tree, main = find_location(str(tmp_path / "elsewhere")), find_location(str(root))
    assert tree.project == main.project
    assert (tree.branch, main.branch) == ("other", "main")
    assert tree.commit == main.commit == git(root, "rev-parse", "HEAD")


def test_two_repositories_with_the_same_folder_name_are_two_projects(tmp_path: Path) -> None:
    one, two = make_repository(tmp_path / "x" / "shop"), make_repository(tmp_path / "y" / "shop")
    assert find_location(str(one)).project != find_location(str(two)).project
    assert find_location(str(one)).name == find_location(str(two)).name == "shop"


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    part, root = make_repository(tmp_path / "part"), make_repository(tmp_path / "shop")
    git(root, "submodule", "add", "-q", str(part), "vendor/part")
    assert find_location(str(root / "vendor" / "part")).project != find_location(str(root)).project


def test_a_folder_without_git_is_known_by_its_path(tmp_path: Path) -> None:
    location = find_location(str(tmp_path))
    assert (location.project, location.branch, location.commit) == (str(tmp_path.resolve()), "", "")


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(root)
    assert find_location(str(tmp_path / "link")) == find_location(str(root))


def test_a_folder_that_is_gone_still_has_a_place(tmp_path: Path) -> None:
    assert find_location(str(tmp_path / "gone")).project.endswith("gone")


def test_a_detached_head_has_a_commit_and_no_branch(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    commit = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "--detach")
    assert (find_location(str(root)).branch, find_location(str(root)).commit) == ("", commit)


def test_a_packed_branch_is_found(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    git(root, "pack-refs", "--all")
    assert find_location(str(root)).commit == git(root, "rev-parse", "HEAD")


def test_a_repository_without_commits_has_a_branch_and_no_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert (find_location(str(tmp_path)).branch, find_location(str(tmp_path)).commit) == ("main", "")


@pytest.mark.parametrize(
    "folder", ["", "\x00", "/a\x00b", "relative/path", "/" + "x" * 5000, "/etc/passwd/x", "/\ud800"]
)
def test_an_impossible_folder_is_a_place_all_the_same(folder: str) -> None:
    assert find_location(folder).project


def test_a_repository_cannot_make_us_read_outside_by_its_head(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    (tmp_path / "secret").write_text("hunter2")
    (root / ".git" / "HEAD").write_text("ref: ../../secret\n")
    assert "hunter2" not in repr(find_location(str(root)))


@pytest.mark.parametrize("ref", ["/etc/passwd", "refs/../../../secret", "refs/heads/" + "x" * 5000, "refs/heads/a b"])
def test_a_head_that_names_no_ordinary_ref_is_not_believed(tmp_path: Path, ref: str) -> None:
    root = make_repository(tmp_path / "shop")
    (root / ".git" / "HEAD").write_text(f"ref: {ref}\n")
    assert (find_location(str(root)).branch, find_location(str(root)).commit) == ("", "")


def test_a_head_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    (tmp_path / "secret").write_text("a" * 40)
    (root / ".git" / "HEAD").unlink()
    (root / ".git" / "HEAD").symlink_to(tmp_path / "secret")
    assert find_location(str(root)).commit == ""


@pytest.mark.parametrize(
    ("remote", "project"),
    [
        ("https://user:p@ssw0rd@example.org/o/r", "example.org/o/r"),
        ("https://example.org/o/r.git?private_token=abc", "example.org/o/r"),
        ("http://localhost:3000/a/b", "localhost:3000/a/b"),
        ("https://example.org:443/a/b", "example.org/a/b"),
    ],
)
def test_a_remote_is_known_by_host_and_path_alone(remote: str, project: str) -> None:
    assert normalise_remote(remote) == project
