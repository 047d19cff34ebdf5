"""What commands that went well have done, by what they printed."""

import pytest

from claude_mem_lite.compress.tools import shell
from claude_mem_lite.compress.tools.outcomes import Outcome, packages_of, read_outcome


def outcome(command: str, output: str) -> Outcome | None:
    part = shell.unwrapped(command)
    return read_outcome(part, shell.role(part), output)


@pytest.mark.parametrize(
    ("command", "output", "results"),
    [
        ("pip install httpx", "Successfully installed anyio-4.4.0 httpx-0.27.0\n", ("httpx-0.27.0",)),
        ("pip install -r requirements.txt", "Successfully installed a-1 b-2\n", ("a-1, b-2",)),
        ("uv add orjson", " + orjson==3.10.6\n", ("orjson==3.10.6",)),
        ("poetry add celery", "  - Installing celery (5.4.0)\n", ("celery (5.4.0)",)),
        ("npm i zod", "added 1 package in 2s\n\nfound 0 vulnerabilities\n", ("added 1 package in 2s",)),
        ("pnpm add zod", "dependencies:\n+ zod 3.23.8\n", ("zod 3.23.8",)),
        ("yarn add a", "info Direct dependencies\n└─ a@1.0.0\ninfo All\n├─ a@1.0.0\n└─ b@2.0.0\n", ("a@1.0.0",)),
        ("cargo add tokio", "      Adding tokio v1.38.0 to dependencies\n", ("tokio v1.38.0",)),
        ("go get a.b/c", "go: upgraded a.b/c v1.0.0 => v1.1.0\n", ("a.b/c v1.0.0 => v1.1.0",)),
        ("brew install jq", "🍺  /opt/homebrew/Cellar/jq/1.7.1: 20 files, 1.4MB\n", ("jq/1.7.1",)),
        ("apt-get install -y jq", "Setting up jq (1.7.1-3) ...\n", ("jq (1.7.1-3)",)),
        ("git push", "   5c0b9aa..e61d2f4  main -> main\n", ("5c0b9aa..e61d2f4 main -> main",)),
        ("alembic upgrade head", "INFO  [x] Running upgrade a1 -> b2, add c\n", ("upgrade a1 -> b2, add c",)),
        ("python manage.py migrate", "  Applying shop.0002_a... OK\n", ("shop.0002_a",)),
        ("terraform apply", "Apply complete! Resources: 1 added.\n", ("Apply complete! Resources: 1 added.",)),
        (
            "kubectl apply -f a",
            "deployment.apps/web configured\nservice/a unchanged\n",
            ("deployment.apps/web configured",),
        ),
        ("npm run build", "dist/a.js   12.5 kB │ gzip: 3 kB\ndist/b.js  1.2 MB\n", ("dist/b.js 1.2 MB",)),
        ("gh pr create --title 'A b'", "https://github.com/a/b/pull/3\n", ("https://github.com/a/b/pull/3",)),
    ],
)
def test_a_command_tells_what_it_did(command: str, output: str, results: tuple[str, ...]) -> None:
    found = outcome(command, output)
    assert found is not None
    assert found.results == results


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 Add a cart\n"),
        ("git push", "Everything up-to-date\n"),
        ("npm ci", ""),
        ("make", "cc -c a.c\n"),
        ("git tag -l", "v1.8.0\n"),
        ("npm run build", "dist/a.js  1.2.3 kB"),
        ("git tag --delete v1", "Deleted tag 'v1'"),
        ("python a.py", "https://github.com/a/b/pull/3\n"),
    ],
)
def test_most_commands_have_no_outcome(command: str, output: str) -> None:
    assert outcome(command, output) is None


@pytest.mark.parametrize(
    ("command", "packages"),
    [
        ("npm install --save-dev vitest@2 @types/node", ["vitest@2", "@types/node"]),
        ("cargo add tokio --features macros,rt", ["tokio"]),
        ("pip install -r requirements.txt -U", []),
        ("uv add --group dev 'pytest>=8'", ["pytest>=8"]),
        ("go mod tidy", []),
    ],
)
def test_the_packages_of_a_command_are_those_it_names(command: str, packages: list[str]) -> None:
    assert packages_of(command) == packages


@pytest.mark.parametrize("noise", [" ", "a/", "+ ", "🍺 a/", "* [new tag] ", "https://", "asset a.js "])
def test_a_long_output_is_read_in_linear_time(noise: str) -> None:
    # Nothing is timed: what takes the square of it runs into the suite's timeout.
    output = noise * (200_000 // len(noise))
    for command in ("pip install a", "git push", "kubectl apply", "npm run build", "gh pr create", "alembic upgrade"):
        outcome(command, output)
