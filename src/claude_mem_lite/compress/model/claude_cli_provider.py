"""Claude Code as the model, by `claude -p`, with the login and the subscription of the user."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from claude_mem_lite.compress.model.provider_errors import completion, count, json_object, of_status, unreachable
from claude_mem_lite.compress.toolcalls.payload_fields import fields
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.providers import CallLimits, Completion, Usage, prices_of
from claude_mem_lite.values import frozen

# The environment of the client. Variables of the agent that started the worker stay out, and so do keys: a key in the
# environment would be billed instead of the subscription.
_PASSED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN",
    "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy",
    "http_proxy", "no_proxy",
)  # fmt: skip
_LOGIN = lazy(r"(?i)log ?in|credential|api key|authenticat|expired")
_MAX_ANSWER_LENGTH = 1_000_000
_MAX_DOLLARS = 1_000_000


@frozen
class ClaudeCliProvider:
    model: str
    environment: Mapping[str, str]
    base_url: str = ""
    limits: CallLimits = CallLimits()

    @property
    def name(self) -> str:
        return f"claude-cli/{self.model}"

    def check(self) -> None:
        self._program()

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:  # noqa: ARG002
        """Run the client without the schema, for which the client would define a tool and send a second request."""
        program = self._program()
        with tempfile.TemporaryDirectory(prefix="claude-mem-lite-") as folder:
            output = self._run([program, *self._options(system)], user, folder, max_tokens)
        return self._read(output, system + user)

    def _program(self) -> str:
        program = shutil.which("claude", path=self.environment.get("PATH", os.defpath))
        # A relative folder of PATH depends on the current folder: nobody chose such a program.
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
        """Return the output of the client, which runs in a process group so that no child outlives the timeout."""
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
                output, _ = process.communicate(user.encode("utf-8", "replace"), timeout=self.limits.timeout_s)
            except subprocess.TimeoutExpired as error:
                raise unreachable(self.name, error) from None
            finally:
                # After the end of the client, too: its children may hold its output open.
                _end_group(process)
        return output[:_MAX_ANSWER_LENGTH].decode("utf-8", "replace")

    def _read(self, output: str, sent: str) -> Completion:
        report = json_object(output)
        if report is None:
            raise ModelRefused(f"{self.name} did not print its report", "update Claude Code, or choose rules")
        usage = _usage(report, prices_of(self.model, 0.0, 0.0).guess(sent, output))
        answer = text(report.get("result"))
        if report.get("is_error") is True:
            failure = self._failure(report, answer)
            # An error without a count of tokens has cost nothing.
            failure.usage = usage if _tokens_in(report) else Usage()
            raise failure
        return completion(self.name, answer, usage, is_refused=report.get("stop_reason") == "refusal")

    def _failure(self, report: JsonObject, answer: str) -> ModelError:
        """Return the error that a report of the client means."""
        status = report.get("api_error_status")
        if isinstance(status, int) and status not in (401, 403):
            return of_status(self.name, status)
        if isinstance(status, int) or _LOGIN.search(answer):
            return ModelRefused(f"{self.name} is not logged in", "run `claude` and log in with /login")
        return ModelUnavailable(
            f"{self.name} could not be reached", "check the network, and that `claude -p hello` answers"
        )


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill the client with all of its children."""
    with suppress(ProcessLookupError, PermissionError):  # macOS raises PermissionError for a group of zombies
        os.killpg(process.pid, signal.SIGKILL)


def _usage(report: JsonObject, guess: Usage) -> Usage:
    """Return tokens and dollars as the client reports them; under a subscription, dollars are the list price."""
    if not _tokens_in(report):
        return guess
    cost = report.get("total_cost_usd")
    dollars = cost if isinstance(cost, int | float) and 0 <= cost < _MAX_DOLLARS else guess.cost_usd
    return Usage(_tokens_in(report), count(fields(report.get("usage")).get("output_tokens")), float(dollars))


def _tokens_in(report: JsonObject) -> int:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(count(fields(report.get("usage")).get(name)) for name in names)
