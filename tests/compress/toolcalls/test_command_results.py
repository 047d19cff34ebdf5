"""What commands that went well have done, by what they printed."""

import pytest

from claude_mem_lite.compress.toolcalls.commands import results_of


@pytest.mark.parametrize(
    ("command", "output", "results"),
    [
        ("pip install httpx", "Collecting httpx\nSuccessfully installed httpx-0.27.0\n", ("installed httpx-0.27.0",)),
        ("uv add orjson", "Resolved 3 packages\n + orjson==3.10.6\n", ("orjson==3.10.6",)),
        ("poetry add celery", "  - Installing vine (5.1.0)\n  - Installing celery (5.4.0)\n", ("celery (5.4.0)",)),
        ("pnpm add zod", "dependencies:\n+ zod 3.23.8\nDone in 3.4s\n", ("zod 3.23.8",)),
        ("yarn add a", "info Direct dependencies\n└─ a@1.0.0\n", ("a@1.0.0",)),
        ("cargo add tokio", "      Adding tokio v1.38.0 to dependencies\n", ("tokio v1.38.0",)),
        ("go get a.b/c", "go: upgraded a.b/c v1.0.0 => v1.1.0\n", ("a.b/c v1.0.0 => v1.1.0",)),
        ("git push", "   5c0b9aa..e61d2f4  main -> main\n", ("5c0b9aa..e61d2f4 main -> main",)),
        ("gh pr create --title 'A b'", "https://github.com/a/b/pull/3\n", ("https://github.com/a/b/pull/3",)),
    ],
)
def test_a_command_tells_what_it_did(command: str, output: str, results: tuple[str, ...]) -> None:
    found = results_of(command, output)
    assert len(found) == len(results)
    assert all(part in line for part, line in zip(results, found, strict=True)), found


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git push", "Everything up-to-date\n"),
        ("npm ci", ""),
        ("make", "cc -c a.c\n"),
        ("git tag -l", "v1.8.0\n"),
        ("python a.py", "https://github.com/a/b/pull/3\n"),
    ],
)
def test_most_commands_have_no_results(command: str, output: str) -> None:
    assert results_of(command, output) == ()


@pytest.mark.parametrize("noise", [" ", "a/", "+ ", "* [new tag] ", "https://", "1.2."])
def test_a_long_output_is_read_in_linear_time(noise: str) -> None:
    # Nothing is timed: what takes the square of it runs into the suite's timeout.
    output = noise * (200_000 // len(noise))
    for command in ("pip install a", "git push", "gh pr create"):
        results_of(command, output)
