"""A fresh home with its hooks and worker for every test."""

from collections.abc import Iterator

import pytest

from tests.support.running import Machine, open_machine


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        yield made
