"""A machine of its own for each test: an empty home, a fake Messages API, a small git repository."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client, clean_environment, find_binary
from tests.e2e.fake_messages_api import FakeMessagesApi
from tests.e2e.product import Product
from tests.e2e.repositories import make_repo

HERE = Path(__file__).parent
TIMEOUT_S = 600
"""Only what hangs takes as long: a test may start six clients, and a busy machine takes half a minute for each."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder with a short name: the path of a Unix socket has about 100 characters in all."""
    folder = Path(tempfile.mkdtemp(prefix="cml-", dir="/tmp")).resolve()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def api() -> Iterator[FakeMessagesApi]:
    with FakeMessagesApi() as server:
        yield server
    assert server.unscripted == [], "every prompt needs a script"


@pytest.fixture
def environment(root: Path, api: FakeMessagesApi) -> dict[str, str]:
    home = root / "home"
    home.mkdir()
    return clean_environment(home, api.url)


@pytest.fixture
def claude_folder(environment: dict[str, str]) -> Path:
    """The client's own folder, not made yet."""
    return Path(environment["HOME"]) / ".claude"


@pytest.fixture
def client(environment: dict[str, str]) -> Client:
    binary = find_binary()
    if not binary.is_file():
        sentence = f"Claude Code is not at {binary}; run `make e2e`, or set CLAUDE_BINARY to its path."
        pytest.fail(sentence, pytrace=False)
    return Client(binary, environment)


@pytest.fixture
def product(environment: dict[str, str]) -> Iterator[Product]:
    """The command, not yet installed into the client."""
    one = Product(environment)
    yield one
    one.end()


@pytest.fixture
def memory(product: Product) -> Product:
    """The command, installed into the client."""
    product.run("install")
    return product


@pytest.fixture
def repo(root: Path) -> Path:
    return make_repo(root / "shop")
