"""Providers that call an API by its official SDK: Anthropic's Messages API, and the chat API of OpenAI and of the many
servers that speak it. The first call imports the SDK.

Requests go to the configured address, with the configured key, and nowhere else."""

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol, TypedDict, cast
from urllib.parse import urlsplit

from claude_mem_lite.compress.model.provider_errors import (
    CHECK,
    SdkErrors,
    completion,
    convert_errors,
    count,
    json_object,
)
from claude_mem_lite.compress.toolcalls.payload_fields import fields
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.providers import CallLimits, Completion, Prices, Usage

if TYPE_CHECKING:
    from anthropic.types import OutputConfigParam
    from openai.types.chat.completion_create_params import ResponseFormat

# Requests to this machine use no proxy, whatever the environment names.
_PAST_PROXIES: dict[str, None] = {"all://localhost": None, "all://127.0.0.1": None, "all://[::1]": None}
# A hundred times the longest requested answer.
_MAX_ANSWER_BYTES = 1_000_000
_SDK_LOGGERS = ("anthropic", "openai", "httpx", "httpx2", "httpcore", "httpcore2")
_UNKNOWN_FORM = lazy(r"(?i)format|schema|json|structured|grammar|output_config|extra (?:input|field)|unexpected")
ANTHROPIC_ADDRESS = "https://api.anthropic.com"
OPENAI_ADDRESS = "https://api.openai.com/v1"


def is_loopback(address: str) -> bool:
    """Return whether an address is one of this machine."""
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


class _Response(Protocol):
    _content: bytes
    """Attribute that the HTTP library returns as the content, once set."""

    def iter_bytes(self) -> Iterator[bytes]: ...


def read_in_bounds(response: _Response, timeout_s: float) -> None:
    """Read a response before the SDK does: the timeout of the SDK applies to each chunk, and a server may send chunks
    for ever or until memory is full."""
    deadline = Deadline.after(timeout_s)
    read = bytearray()
    for piece in response.iter_bytes():
        read += piece
        if len(read) > _MAX_ANSWER_BYTES or deadline.is_past():
            raise TimeoutError("the answer does not come to an end")
    response._content = bytes(read)


class HttpOptions(TypedDict):
    """Arguments of the HTTP client of an SDK."""

    follow_redirects: bool
    mounts: dict[str, None]
    event_hooks: dict[str, list[Callable[[_Response], None]]]


def http_options(timeout_s: float) -> HttpOptions:
    """Return options without redirects, with a limit of time for the whole response."""
    return {
        "follow_redirects": False,
        "mounts": _PAST_PROXIES,
        "event_hooks": {"response": [partial(read_in_bounds, timeout_s=timeout_s)]},
    }


def silence_sdk_logs() -> None:
    """Keep logs of the SDKs out of the worker's log: an environment variable can make them log whole requests."""
    for name in _SDK_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def custom_headers(variable: str) -> list[str]:
    """Return the names of the headers, except Authorization, that an SDK adds for another server.

    Read from `os.environ`, as the SDK does, not from the environment of the caller."""
    lines = os.environ.get(variable, "").split("\n")
    names = [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]
    return [name for name in names if name and name.lower() != "authorization"]


def refuses_form(status: int, body: object) -> bool:
    """Return whether a server refused a request because of the requested form of the answer."""
    return status in (400, 422) and _UNKNOWN_FORM.search(str(body)[:4_000]) is not None


@dataclass(slots=True)
class SdkProvider(ABC):
    """Requests of one SDK; subclasses send them and read the fields of the response."""

    package: ClassVar[str]
    address: ClassVar[str]
    last_form: ClassVar[int]
    """Number of the form that every server accepts: the prompt alone describes the answer."""
    placeholder_key: ClassVar[str] = ""
    """Key for a server of the user that needs none; '' when every server needs a key."""

    model: str
    read_key: Callable[[], str]
    prices: Prices
    base_url: str
    limits: CallLimits = CallLimits()  # noqa: RUF009  frozen
    key_file: str = "api-key"
    """File for a key, named in the error of a missing key."""
    _form: int = field(default=0, init=False)
    """Form of the answer to ask for: the first that no response has refused, a schema to begin with."""

    @property
    def name(self) -> str:
        return f"{self.package}/{self.model}"

    def check(self) -> None:
        self._key()

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:
        key = self._key()
        try:
            errors = self._errors()
        except ImportError:
            raise ModelRefused(
                f"the package {self.package} is not installed", "install claude-mem-lite again"
            ) from None
        silence_sdk_logs()
        with convert_errors(self.name, self.base_url, f"{system} {user} {key}", self.model, errors):
            form = self._form  # another thread may change the attribute
            while True:
                try:
                    response = self._send(key, form, system, user, schema, max_tokens)
                    break
                except errors.status as error:
                    if form == self.last_form or not refuses_form(error.status_code, error.body):
                        raise
                    form = self._form = max(self._form, form + 1)
        return self._read(response.decode("utf-8", "replace"), system + user)

    def _key(self) -> str:
        key = self.read_key() or ("" if self.base_url == self.address else self.placeholder_key)
        if not key:
            variable = f"{self.package.upper()}_API_KEY"
            raise ModelRefused(f"{self.name} needs a key", f"set {variable}, or put it into the file {self.key_file}")
        return key

    def _headers(self, key: str, omit: object) -> Mapping[str, str]:
        """Return the headers of a request; `omit` removes those that the environment of the SDK adds."""
        dropped = dict.fromkeys(custom_headers(f"{self.package.upper()}_CUSTOM_HEADERS"), omit)
        return {"Authorization": f"Bearer {key}", **cast(Mapping[str, str], dropped)}

    def _read(self, response: str, sent: str) -> Completion:
        body = json_object(response)
        if body is None:
            raise ModelRefused(f"{self.name} answered with something that is not its JSON", CHECK)
        usage = self._usage(fields(body.get("usage")))
        answer, is_refused = self._answer(body)
        # Every request has tokens: zero means that the server does not report them.
        usage = usage if usage.tokens_in else self.prices.guess(sent, response)
        return completion(self.name, answer, usage, is_refused=is_refused)

    @abstractmethod
    def _errors(self) -> SdkErrors:
        """Return the exceptions of the SDK; ImportError when the SDK is not installed."""

    @abstractmethod
    def _send(self, key: str, form: int, system: str, user: str, schema: JsonObject, max_tokens: int) -> bytes:
        """Return the body of the response to one request."""

    @abstractmethod
    def _answer(self, body: JsonObject) -> tuple[str, bool]:
        """Return the text of the model, and whether the model refused to answer."""

    @abstractmethod
    def _usage(self, counts: JsonObject) -> Usage:
        """Return tokens and cost by the counts of the response."""


@dataclass(slots=True)
class AnthropicProvider(SdkProvider):
    package = "anthropic"
    address = ANTHROPIC_ADDRESS
    last_form = 1
    """Models older than structured output are asked without a schema."""

    def _errors(self) -> SdkErrors:
        import anthropic

        return SdkErrors(anthropic.APIStatusError, anthropic.APIConnectionError, anthropic.AnthropicError)

    def _send(self, key: str, form: int, system: str, user: str, schema: JsonObject, max_tokens: int) -> bytes:
        import anthropic

        by_schema: OutputConfigParam = {"format": {"type": "json_schema", "schema": dict(schema)}}
        with anthropic.Anthropic(
            api_key=key,
            base_url=self.base_url,
            timeout=self.limits.timeout_s,
            max_retries=0,
            default_headers=self._headers(key, anthropic.omit),
            open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(**http_options(self.limits.timeout_s)),
        ) as client:
            raw = client.messages.with_raw_response.create(
                model=self.model,
                max_tokens=max_tokens,
                system=system,
                messages=[{"role": "user", "content": user}],
                output_config=anthropic.omit if form else by_schema,
            )
            return raw.http_response.content

    def _answer(self, body: JsonObject) -> tuple[str, bool]:
        content = body.get("content")
        blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        answer = "".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
        return answer, body.get("stop_reason") == "refusal"

    def _usage(self, counts: JsonObject) -> Usage:
        names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return self.prices.usage(*(count(counts.get(name)) for name in names))


@dataclass(slots=True)
class OpenAiProvider(SdkProvider):
    package = "openai"
    address = OPENAI_ADDRESS
    last_form = 2
    placeholder_key = "no-key"
    """The SDK requires a key, local servers do not."""

    def _errors(self) -> SdkErrors:
        import openai

        return SdkErrors(openai.APIStatusError, openai.APIConnectionError, openai.OpenAIError)

    def _send(self, key: str, form: int, system: str, user: str, schema: JsonObject, max_tokens: int) -> bytes:
        import openai

        # OpenAI's newer models refuse `max_tokens`; other servers know nothing else.
        is_openai = self.base_url == OPENAI_ADDRESS
        with openai.OpenAI(
            api_key=key,
            base_url=self.base_url,
            timeout=self.limits.timeout_s,
            max_retries=0,
            default_headers=self._headers(key, openai.omit),
            http_client=openai.DefaultHttpxClient(**http_options(self.limits.timeout_s)),
        ) as client:
            raw = client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                max_completion_tokens=max_tokens if is_openai else openai.omit,
                max_tokens=openai.omit if is_openai else max_tokens,
                response_format=_response_format(form, schema) or openai.omit,
            )
            return raw.http_response.content

    def _answer(self, body: JsonObject) -> tuple[str, bool]:
        choices = body.get("choices")
        choice = fields(choices[0]) if isinstance(choices, list) and choices else {}
        message = fields(choice.get("message"))
        is_refused = choice.get("finish_reason") == "content_filter" or bool(text(message.get("refusal")))
        return text(message.get("content")), is_refused

    def _usage(self, counts: JsonObject) -> Usage:
        """Return tokens and cost; cached tokens count in full, because discounts differ between servers."""
        return self.prices.usage(count(counts.get("prompt_tokens")), count(counts.get("completion_tokens")))


def _response_format(form: int, schema: JsonObject) -> "ResponseFormat | None":
    """Return the format for a form: by schema, as any JSON object, or none."""
    forms: tuple[ResponseFormat | None, ...] = (
        {"type": "json_schema", "json_schema": {"name": "memories", "strict": True, "schema": dict(schema)}},
        {"type": "json_object"},
        None,
    )
    return forms[form]
