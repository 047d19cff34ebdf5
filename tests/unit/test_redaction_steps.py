"""Redaction takes time in proportion to the text: steps are counted, not seconds."""

import re
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.redaction import headers, names
from claude_mem_lite.redaction.commands import COMMANDS
from claude_mem_lite.redaction.connections import CONNECTIONS
from claude_mem_lite.redaction.formats import FORMATS, Format
from claude_mem_lite.redaction.redact import redact, redact_json
from claude_mem_lite.redaction.rules import rules_for
from claude_mem_lite.redaction.spots import Spot
from tests.planted import planted
from tests.regex_steps import Steps, is_endless
from tests.unit.own_time import own_seconds

RULES: tuple[Format | Spot, ...] = (*FORMATS, *CONNECTIONS, *COMMANDS)
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


@pytest.mark.parametrize("module", [names, headers])
def test_what_is_matched_at_every_word_of_a_text_has_an_end(module: ModuleType) -> None:
    patterns = [one for one in vars(module).values() if isinstance(one, re.Pattern)]
    assert len(patterns) >= 5
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
    tokens = {one: rules_for(one.secret) for one in planted() if one.secret == one.text}
    assert len(tokens) > 100
    kinds = {one: {found.kind for found in rules.formats} for one, rules in tokens.items() if not rules.has_jwts}
    assert [one.name for one, found in kinds.items() if one.kind not in found] == []


BIG = 64 * 1024
# Ours take two seconds at most. Twice the text would take four times as long where one is gone over again and again.
A_MOMENT_S = 8
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


@pytest.fixture
def a_moment() -> Iterator[None]:
    with own_seconds(A_MOMENT_S):
        yield


SIGNS = sorted({sign.lstrip("*").rstrip(".") or sign[-1] for signs in PATTERNS.values() for sign in signs})


@pytest.mark.usefixtures("a_moment")
@pytest.mark.parametrize("more", ["", "a", " ", "-eyJ"])
@pytest.mark.parametrize("number", range(0, len(SIGNS), 20))
def test_no_sign_repeated_takes_more_than_a_moment(number: int, more: str) -> None:
    for sign in SIGNS[number : number + 20]:
        redact((sign + more) * (BIG // 4 // len(sign + more)))


@pytest.mark.usefixtures("a_moment")
@pytest.mark.parametrize("unit", UNITS)
def test_no_large_text_takes_more_than_a_moment(unit: str) -> None:
    redact(unit * (BIG // len(unit)))


@pytest.mark.usefixtures("a_moment")
@pytest.mark.parametrize(
    "head", ["eyJaaaaaaaa", "basic", "token: ", 'password="', "-----BEGIN PRIVATE KEY-----", "sk-"]
)
@pytest.mark.parametrize("unit", [" ", "\n", "\\n", "A", "1", "a-", ".", "\\", "A\n"])
def test_no_beginning_of_a_secret_makes_a_large_text_take_more_than_a_moment(head: str, unit: str) -> None:
    redact(head + unit * (BIG // len(unit)))


@pytest.mark.usefixtures("a_moment")
def test_many_secrets_in_one_payload_take_no_more_than_a_moment() -> None:
    lines: list[JsonValue] = [f"token={number:08d}abc" for number in range(20_000)]
    assert "abc" not in str(redact_json({"lines": lines, "text": "x" * BIG}))
