"""The chat API of OpenAI and of the many that speak it, by the official SDK, imported with the first call."""

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
    from openai import OpenAI
    from openai.types.chat.completion_create_params import ResponseFormat

ADDRESS = "https://api.openai.com/v1"
# Servers at home want no key, the SDK does.
_NO_KEY = "no-key"


@dataclass(slots=True)
class OpenAiProvider:
    model: str
    read_key: Callable[[], str]
    prices: Prices
    base_url: str = ADDRESS
    limits: CallLimits = CallLimits()  # noqa: RUF009  frozen
    key_file: str = "api-key"
    """Where a key may be put, for who has none."""
    _form: int = field(default=0, init=False)
    """How the answer is asked for: by schema, as a JSON object, or in words alone, the first that the server knows."""

    @property
    def name(self) -> str:
        return f"openai/{self.model}"

    def check(self) -> None:
        self._key()

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:
        key = self._key()
        try:
            import openai
        except ImportError:
            raise missing("openai") from None
        silence_sdk_logs()
        with (
            told_plainly(
                self.name,
                self.base_url,
                f"{system} {user} {key}",
                self.model,
                status=openai.APIStatusError,
                connection=openai.APIConnectionError,
                any_other=openai.OpenAIError,
            ),
            self._client(key) as client,
        ):
            return self._read(self._ask(client, system, user, schema, max_tokens), system + user)

    def _key(self) -> str:
        key = self.read_key()
        if not key and self.base_url == ADDRESS:
            raise ModelRefused(
                f"{self.name} needs a key", f"set OPENAI_API_KEY, or put it into the file {self.key_file}"
            )
        return key or _NO_KEY

    def _client(self, key: str) -> "OpenAI":
        import openai

        dropped = dict.fromkeys(custom_headers("OPENAI_CUSTOM_HEADERS"), openai.omit)
        return openai.OpenAI(
            api_key=key,
            base_url=self.base_url,
            timeout=self.limits.timeout_s,
            max_retries=0,
            default_headers={"Authorization": f"Bearer {key}", **cast(Mapping[str, str], dropped)},
            http_client=openai.DefaultHttpxClient(**http_options(self.limits.timeout_s)),
        )

    def _ask(self, client: "OpenAI", system: str, user: str, schema: JsonObject, max_tokens: int) -> str:
        import openai

        at = self._form  # calls may run side by side
        form = _forms(schema)[at]
        # OpenAI's newer models refuse `max_tokens`; others know nothing else.
        is_openai = self.base_url == ADDRESS
        try:
            raw = client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                max_completion_tokens=max_tokens if is_openai else openai.omit,
                max_tokens=openai.omit if is_openai else max_tokens,
                response_format=form or openai.omit,
            )
        except openai.APIStatusError as error:
            if form is None or not refuses_the_form(error.status_code, error.body):
                raise
            self._form = max(self._form, at + 1)
            return self._ask(client, system, user, schema, max_tokens)
        return raw.http_response.content.decode("utf-8", "replace")

    def _read(self, answer: str, sent: str) -> Completion:
        body = json_body(self.name, answer)
        usage = self._usage(body.get("usage")) or self.prices.guess(sent, answer)
        choices = body.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        choice = first if isinstance(first, Mapping) else {}
        told = choice.get("message")
        message = told if isinstance(told, Mapping) else {}
        said = text(message.get("content"))
        refused = choice.get("finish_reason") == "content_filter" or bool(text(message.get("refusal")))
        return completion(self.name, said, usage, refused=refused)

    def _usage(self, told: JsonValue) -> Usage | None:
        """None when the server does not say: no question has no tokens.

        Tokens read from a cache are counted in full: who discounts them, and by how much, differs."""
        took = told if isinstance(told, Mapping) else {}
        usage = self.prices.usage(count(took.get("prompt_tokens")), count(took.get("completion_tokens")))
        return usage if usage.tokens_in else None


def _forms(schema: JsonObject) -> "tuple[ResponseFormat | None, ...]":
    by_schema: ResponseFormat = {
        "type": "json_schema",
        "json_schema": {"name": "memories", "strict": True, "schema": dict(schema)},
    }
    return by_schema, {"type": "json_object"}, None
