"""A repository with one commit, for tests of what reads git's files."""

from pathlib import Path

import pytest

from tests.git_repositories import Checkout, make_checkout


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "shop")
    made.commit("readme.md", "A shop.\n")
    return made
