"""Claude Code itself as the model, by `claude -p`: its own login is used, and with it the user's subscription."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from claude_mem_lite.compress.model.prices import prices_of
from claude_mem_lite.compress.model.provider_errors import OTHER_MODEL, count, of_status, unreachable
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import CallLimits, Completion, JsonObject, JsonValue, Usage, text

# All the client gets to know. What is not here stays out: the variables of the agent that started us, and keys,
# because a key in the environment would be billed instead of the subscription.
_PASSED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN",
    "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy",
    "http_proxy", "no_proxy",
)  # fmt: skip
_LOGIN = lazy(r"(?i)log ?in|credential|api key|authenticat|expired")
_MAX_ANSWER_LENGTH = 1_000_000
_MAX_DOLLARS = 1_000_000


@dataclass(frozen=True, slots=True)
class ClaudeCliProvider:
    model: str
    environment: Mapping[str, str]
    base_url: str = ""
    limits: CallLimits = CallLimits()  # noqa: RUF009  frozen

    @property
    def name(self) -> str:
        return f"claude-cli/{self.model}"

    def check(self) -> None:
        self._program()

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:  # noqa: ARG002
        """The schema is not passed on: the client would make a tool of it, and a second request when it is not met."""
        program = self._program()
        with tempfile.TemporaryDirectory(prefix="claude-mem-lite-") as folder:
            printed = self._run([program, *self._options(system)], user, folder, max_tokens)
        return self._read(printed, system + user)

    def _program(self) -> str:
        program = shutil.which("claude", path=self.environment.get("PATH", os.defpath))
        # A folder that is not named from the root is another one wherever we are: nobody's choice of a program.
        if program is None or not os.path.isabs(program):
            raise ModelRefused(f"{self.name}: there is no claude on the PATH", "install Claude Code, or choose rules")
        return program

    def _options(self, system: str) -> list[str]:
        # `--safe-mode` leaves out hooks, plugins, CLAUDE.md and MCP servers as `--bare` does, but keeps the login:
        # `--bare` takes an API key only, never a subscription (seen in 2.1.325).
        return [
            "-p", "--safe-mode", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence",
            "--tools", "", "--output-format", "json", "--model", self.model, "--system-prompt", system,
        ]  # fmt: skip

    def _child_environment(self, max_tokens: int) -> dict[str, str]:
        kept = {name: self.environment[name] for name in _PASSED_ON if name in self.environment}
        kept |= {"ANTHROPIC_BASE_URL": self.base_url} if self.base_url else {}
        return kept | {
            "CLAUDE_MEM_LITE_INTERNAL": "1",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
            "MAX_THINKING_TOKENS": "0",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def _run(self, command: list[str], user: str, folder: str, max_tokens: int) -> str:
        """What the client printed. It runs as a group of its own, so that nothing of it outlives the time."""
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=self._child_environment(max_tokens),
                start_new_session=True,
            )
        except OSError as error:
            raise ModelRefused(f"{self.name} cannot be started: {error.strerror}", "run `claude --version`") from None
        with process:
            try:
                printed, _ = process.communicate(user.encode("utf-8", "replace"), timeout=self.limits.timeout_s)
            except subprocess.TimeoutExpired as error:
                raise unreachable(self.name, error) from None
            finally:
                # Also when it has ended: what it started may hold on, and to its output too.
                _end_group(process)
        return printed[:_MAX_ANSWER_LENGTH].decode("utf-8", "replace")

    def _read(self, printed: str, sent: str) -> Completion:
        try:
            found = json.loads(printed)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ModelRefused(f"{self.name} did not print its report", "update Claude Code, or choose rules")
        report: JsonObject = found
        usage = _usage(report, prices_of(self.model, 0.0, 0.0).guess(sent, printed))
        said = text(report.get("result"))
        if report.get("is_error") is True:
            raise self._failure(report, said, usage)
        if report.get("stop_reason") == "refusal":
            raise ModelRefused(f"{self.name} would not answer", OTHER_MODEL, usage)
        if not said.strip():
            raise ModelRefused(f"{self.name} answered nothing", OTHER_MODEL, usage)
        return Completion(said, usage)

    def _failure(self, report: JsonObject, said: str, usage: Usage) -> ModelError:
        """What an error it reports means. One that it says nothing about the cost of has cost nothing."""
        failure = self._kind_of_failure(report, said)
        failure.usage = usage if _count_in(report) else Usage()
        return failure

    def _kind_of_failure(self, report: JsonObject, said: str) -> ModelError:
        status = report.get("api_error_status")
        if isinstance(status, int) and status not in (401, 403):
            return of_status(self.name, status)
        if isinstance(status, int) or _LOGIN.search(said):
            return ModelRefused(f"{self.name} is not logged in", "run `claude` and log in with /login")
        return ModelUnavailable(
            f"{self.name} could not be reached", "check the network, and that `claude -p hello` answers"
        )


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill the client with all that it started."""
    with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        os.killpg(process.pid, signal.SIGKILL)


def _usage(report: JsonObject, guess: Usage) -> Usage:
    """Tokens and dollars as the client reports them: under a subscription, what they would have cost."""
    if not _count_in(report):
        return guess
    cost = report.get("total_cost_usd")
    dollars = cost if isinstance(cost, int | float) and 0 <= cost < _MAX_DOLLARS else guess.cost_usd
    return Usage(_count_in(report), count(_took(report).get("output_tokens")), float(dollars))


def _count_in(report: JsonObject) -> int:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(count(_took(report).get(name)) for name in names)


def _took(report: JsonObject) -> JsonObject:
    told: JsonValue = report.get("usage")
    return told if isinstance(told, Mapping) else {}
