"""Anthropic's Messages API, by the official SDK, which is imported with the first call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from claude_mem_lite.compress.model.prices import Prices
from claude_mem_lite.compress.model.provider_errors import completion, count, json_body, missing, told_plainly
from claude_mem_lite.compress.model.sdk_transport import (
    custom_headers,
    http_options,
    refuses_the_form,
    silence_sdk_logs,
)
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.models import CallLimits, Completion, JsonObject, JsonValue, Usage, text

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import OutputConfigParam

ADDRESS = "https://api.anthropic.com"


@dataclass(slots=True)
class AnthropicProvider:
    model: str
    read_key: Callable[[], str]
    prices: Prices
    base_url: str = ADDRESS
    limits: CallLimits = CallLimits()  # noqa: RUF009  frozen
    key_file: str = "api-key"
    """Where a key may be put, for who has none."""
    _knows_schemas: bool = field(default=True, init=False)
    """Models older than structured output are asked without a schema: the prompt describes the answer too."""

    @property
    def name(self) -> str:
        return f"anthropic/{self.model}"

    def check(self) -> None:
        self._key()

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:
        key = self._key()
        try:
            import anthropic
        except ImportError:
            raise missing("anthropic") from None
        silence_sdk_logs()
        with (
            told_plainly(
                self.name,
                self.base_url,
                f"{system} {user} {key}",
                self.model,
                status=anthropic.APIStatusError,
                connection=anthropic.APIConnectionError,
                any_other=anthropic.AnthropicError,
            ),
            self._client(key) as client,
        ):
            return self._read(self._ask(client, system, user, schema, max_tokens), system + user)

    def _key(self) -> str:
        key = self.read_key()
        if not key:
            raise ModelRefused(
                f"{self.name} needs a key", f"set ANTHROPIC_API_KEY, or put it into the file {self.key_file}"
            )
        return key

    def _client(self, key: str) -> "Anthropic":
        import anthropic

        dropped = dict.fromkeys(custom_headers("ANTHROPIC_CUSTOM_HEADERS"), anthropic.omit)
        return anthropic.Anthropic(
            api_key=key,
            base_url=self.base_url,
            timeout=self.limits.timeout_s,
            max_retries=0,
            default_headers={"Authorization": f"Bearer {key}", **cast(Mapping[str, str], dropped)},
            open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(**http_options(self.limits.timeout_s)),
        )

    def _ask(self, client: "Anthropic", system: str, user: str, schema: JsonObject, max_tokens: int) -> str:
        import anthropic

        by_schema = self._knows_schemas  # calls may run side by side
        form: OutputConfigParam = {"format": {"type": "json_schema", "schema": dict(schema)}}
        try:
            raw = client.messages.with_raw_response.create(
                model=self.model,
                max_tokens=max_tokens,
                system=system,
                messages=[{"role": "user", "content": user}],
                output_config=form if by_schema else anthropic.omit,
            )
        except anthropic.APIStatusError as error:
            if not by_schema or not refuses_the_form(error.status_code, error.body):
                raise
            self._knows_schemas = False
            return self._ask(client, system, user, schema, max_tokens)
        return raw.http_response.content.decode("utf-8", "replace")

    def _read(self, answer: str, sent: str) -> Completion:
        body = json_body(self.name, answer)
        usage = self._usage(body.get("usage")) or self.prices.guess(sent, answer)
        content = body.get("content")
        blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        said = "".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
        return completion(self.name, said, usage, refused=body.get("stop_reason") == "refusal")

    def _usage(self, told: JsonValue) -> Usage | None:
        """None when the server does not say: no question has no tokens."""
        took = told if isinstance(told, Mapping) else {}
        usage = self.prices.usage(
            count(took.get("input_tokens")),
            count(took.get("output_tokens")),
            count(took.get("cache_creation_input_tokens")),
            count(took.get("cache_read_input_tokens")),
        )
        return usage if usage.tokens_in else None
