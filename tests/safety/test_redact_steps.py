"""Redaction takes time in proportion to the text: steps are counted, not seconds."""

import importlib
import pkgutil
import random
import re
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from benchmarks.slow_tokens import repeated, texts

from claude_mem_lite import safety
from claude_mem_lite.lazy_regex import Lazy
from claude_mem_lite.models import JsonValue
from claude_mem_lite.safety import named_secrets, nearby_secrets
from claude_mem_lite.safety.positional_secrets import Spot, spots
from claude_mem_lite.safety.redact import redact, redact_json, rules_for
from claude_mem_lite.safety.token_formats import Format, formats
from tests.support.generated_secrets import generated_secrets
from tests.support.regex_steps import Count, Steps, is_endless

RULES: tuple[Format | Spot, ...] = (*formats(), *spots())
PATTERNS = {one.pattern: one.signs for one in RULES}
PLAIN_UNITS = ("a", "A1", "-", " ", "\n", "=", '"', ":", "a/", "\\n")
LENGTH = 100


@pytest.fixture
def deep_stack() -> Iterator[None]:
    """The matcher that counts goes one call deeper for each character."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_twice_the_text_takes_a_pattern_about_twice_the_steps(pattern: str) -> None:
    steps = Steps(pattern)
    signs = [sign.lstrip("*").rstrip(".") or sign[-1] for sign in PATTERNS[pattern][:2]]
    units = [*PLAIN_UNITS, *(sign + more for sign in signs for more in ("", "a", " ", "A1-", '"', "=", ":a@"))]
    for unit in units:
        once = steps.over(unit * (LENGTH // len(unit) + 1))
        twice = steps.over(unit * (2 * LENGTH // len(unit) + 1))
        assert twice <= 2.5 * once + 100, (unit, once, twice)


@pytest.mark.parametrize("module", [named_secrets, nearby_secrets])
def test_what_is_matched_at_every_word_of_a_text_has_an_end(module: ModuleType) -> None:
    patterns = [one for one in vars(module).values() if isinstance(one, re.Pattern | Lazy)]
    assert len(patterns) >= 4
    assert [one.pattern for one in patterns if is_endless(one.pattern)] == []


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("pattern", ["a+b", "a{3,}b", "(?:a{2,}+)?b", "[a-z]*@"])
def test_the_counter_tells_a_pattern_that_goes_over_a_text_again_and_again(pattern: str) -> None:
    steps = Steps(pattern)
    assert steps.over("a" * 200) > 3 * steps.over("a" * 100)


@pytest.mark.usefixtures("deep_stack")
def test_the_counter_tells_a_bounded_pattern() -> None:
    steps = Steps("a{3,200}b")
    assert steps.over("a" * 200) < 2.2 * steps.over("a" * 100)


def test_a_text_without_a_sign_needs_no_rule() -> None:
    rules = rules_for("def add(a, b):\n    return a + b  # 12 of 14")
    assert (rules.formats, rules.spots, rules.words, rules.has_keys, rules.has_jwts) == ([], [], [], False, False)


def test_the_signs_of_a_format_are_in_every_secret_of_it() -> None:
    tokens = {one: rules_for(one.secret) for one in generated_secrets() if one.secret == one.text}
    assert len(tokens) > 100
    kinds = {one: {found.kind for found in rules.formats} for one, rules in tokens.items() if not rules.has_jwts}
    assert [one.name for one, found in kinds.items() if one.kind not in found] == []


UNITS = [
    "-eyJ", "eyJ", "eyJaaaaaaaa-", "eyJaaaaaaaa.", "sk-ant-", "sk-", "ghp_", "github_pat_", "AKIA", "xoxb-",
    "xapp-1-", "hooks.slack.com/services/", "discord.com/api/webhooks/12345/", "_live_", "sk_live_", "whsec_", "AIza",
    "ya29.", "npm_", "pypi-", "glpat-", "hf_", "-SG.aaaaaaaaaaaaaaaaaaaa", "SG.", "shpat_", "dapi", "123456789:AA",
    "1", "SK", "hvs.", "AccountKey=", "ATATT3", "glsa_", "discord MNO", "discord M.", "://:", "://a:@", "://a:@a",
    "://a:b/", "@a", "a:", "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----A\n",
    "-----END PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----",
    "AAAAAAAAAAAAAAAAAAA\n-----BEGIN PRIVATE KEY-----", "Comment: \n", "token=", "token=()", "token=a)a",
    "token=a(a)a", "pwd=\"", "pwd='\"", "pwd=\\\"", "key", "secretkey", "api_key:    ", "pass", "password is ",
    "password a b c d ", "password password ", "<password>", "<password>aaaa<", "<password", " --token ", " --",
    " --a-", "-", "bearer ", "basic ", "basic aaaa", "authorization: token ", "authorization:", "cookie=",
    "cookie: a=b;", "cookie: ", "curl -u a:", "mysql ", "mysql -", "redis-cli ", "redis-cli -a", "sshpass -p ",
    "docker login ", "docker login -p", "htpasswd -b a ", "echo a | sudo -S", "sudo -s echo ", "login a password ",
    "login ", " pass:", "a:5432:a:a:", "a-:5432:", "pgpass -a", "?sig=", "&signature=a", "\\", "\\n", "\"", "'", " ",
    "\n", "\n ", "=", ":", "(", ")", "a", "A", "aA1", "a.", "a/", "a_", "İ", "漢",
]  # fmt: skip
SIZE = 800
MAX_STEPS_PER_CHARACTER = 800
"""At 5 ns a step, the largest event takes two seconds."""
REDACTION = [importlib.import_module(f"{safety.__name__}.{one.name}") for one in pkgutil.iter_modules(safety.__path__)]
HEADS = (
    "eyJaaaaaaaa",
    "basic",
    "token: ",
    'password="',
    "-----BEGIN PRIVATE KEY-----",
    "sk-",
    "password is ",
    "| password |\n",
)
FILLINGS = (" ", "\n", "\\n", "A", "1", "a-", ".", "\\", "A\n", "|", "a|a\n")


def assert_in_proportion(count: Count, head: str, unit: str) -> None:
    """Twice the text takes about twice the steps of all rules together, and not many for a character."""
    steps: list[int] = []
    for size in (SIZE, 2 * SIZE):
        count.taken = 0
        redact(head + repeated(unit, size))
        steps.append(count.taken)
    assert steps[1] <= 2.6 * steps[0] + 20 * SIZE, (head, unit, steps)
    assert steps[1] <= MAX_STEPS_PER_CHARACTER * 2 * SIZE, (head, unit, steps)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("number", range(0, len(UNITS), 15))
def test_no_repeated_text_is_gone_over_again_and_again(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, REDACTION)
    for unit in UNITS[number : number + 15]:
        assert_in_proportion(count, "", unit)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("seed", range(6))
def test_no_tokens_of_the_rules_are_gone_over_again_and_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, REDACTION)
    drawn = random.Random(seed).sample(list(texts(seed, pairs=2_000, triples=2_000)), 12)
    for unit in drawn:
        assert_in_proportion(count, "", unit)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("head", HEADS)
def test_no_beginning_of_a_secret_has_what_follows_gone_over_again_and_again(
    head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Count(monkeypatch, REDACTION)
    for unit in FILLINGS:
        assert_in_proportion(count, head, unit)


def test_many_secrets_in_one_payload_all_go() -> None:
    lines: list[JsonValue] = [f"token={number:08d}abc" for number in range(20_000)]
    assert "abc" not in str(redact_json({"lines": lines, "text": "x" * 64 * 1024}))
