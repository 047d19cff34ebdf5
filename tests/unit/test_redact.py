"""Secrets go, everything else stays."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.models import JsonValue
from claude_mem_lite.redact import redact, redact_json

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def letters(alphabet: str, length: int) -> st.SearchStrategy[str]:
    return st.text(alphabet=alphabet, min_size=length, max_size=length)


def token(prefix: str, alphabet: str, length: int, suffix: str = "") -> st.SearchStrategy[str]:
    return letters(alphabet, length).map(lambda body: f"{prefix}{body}{suffix}")


TOKENS: dict[str, st.SearchStrategy[str]] = {
    "github-token": token("ghp_", ALNUM, 36) | token("gho_", ALNUM, 36) | token("github_pat_", ALNUM + "_", 82),
    "anthropic-key": token("sk-ant-api03-", ALNUM + "_-", 93, "AA"),
    "aws-key": token("AKIA", string.ascii_uppercase + string.digits, 16),
    "openai-key": token("sk-proj-", ALNUM, 48).map(lambda key: key[:-2] + "a1"),
    "slack-token": token("xoxb-1234567890-", ALNUM, 24),
    "stripe-key": token("sk_live_", ALNUM, 24) | token("rk_test_", ALNUM, 24),
    "google-key": token("AIza", ALNUM + "_-", 35),
    "npm-token": token("npm_", ALNUM, 36),
    "pypi-token": token("pypi-AgEIcHlwaS5vcmc", ALNUM + "_-", 80),
    "gitlab-token": token("glpat-", ALNUM + "_-", 20),
    "huggingface-token": token("hf_", ALNUM, 34),
    "sendgrid-key": token("SG.", ALNUM, 22).flatmap(lambda key: token(f"{key}.", ALNUM, 43)),
    "vault-token": token("hvs.", ALNUM, 24),
    "twilio-key": token("SK", HEX, 32),
    "jwt": token("eyJ", ALNUM, 20).flatmap(lambda head: token(f"{head}.eyJ", ALNUM, 30, ".c2lnbmF0dXJl")),
}
SURROUNDINGS = st.sampled_from(
    ["{}", "key {} end", '{{"v": "{}"}}', "a\n{}\nb", "x={}", "run --with {}", "\\n{}\\n", "({})"]
)


@pytest.mark.parametrize("kind", TOKENS)
@given(data=st.data())
def test_no_token_of_a_known_format_survives(kind: str, data: st.DataObject) -> None:
    secret = data.draw(TOKENS[kind])
    text = data.draw(SURROUNDINGS).format(secret)
    assert secret not in redact(text)
    assert "[redacted:" in redact(text)


@pytest.mark.parametrize("kind", TOKENS)
@given(data=st.data())
def test_a_token_is_replaced_by_its_kind(kind: str, data: st.DataObject) -> None:
    assert redact(data.draw(TOKENS[kind])) == f"[redacted:{kind}]"


PEM = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"
LINE = "MIIEowIBAAKCAQEA7bq9Zk1xPq0mN8vRf3TzXyQeWc5uLhGjKdSaVbMnOpRtYuIo"


@pytest.mark.parametrize(
    "text",
    [
        PEM.format("\n".join([LINE] * 6)),
        PEM.format("\n".join([LINE] * 6)).replace("\n", "\\n"),
        "\n".join(f"+{line}" for line in PEM.format("\n".join([LINE] * 3)).split("\n")),
        "\n".join(f"   {n}→{line}" for n, line in enumerate(PEM.format("\n".join([LINE] * 3)).split("\n"), 1)),
        PEM.format("\n".join([LINE] * 6))[:300],
        PEM.format("\n".join([LINE] * 6))[60:],
        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + LINE + "\nAAAA=\n-----END OPENSSH PRIVATE KEY-----",
    ],
)
def test_a_private_key_goes_however_it_is_written_and_wherever_it_was_cut(text: str) -> None:
    cleaned = redact(f"before\n{text}\nafter")
    assert LINE[10:40] not in cleaned
    assert "[redacted:private-key]" in cleaned
    assert cleaned.startswith("before")
    assert cleaned.endswith("after")


def test_a_private_key_split_over_the_lines_of_a_patch_goes() -> None:
    lines: list[JsonValue] = [f"+{line}" for line in PEM.format("\n".join([LINE] * 3)).split("\n")]
    cleaned = redact_json({"structuredPatch": [{"lines": [" a", *lines, " b"]}]})
    assert LINE not in str(cleaned)
    assert "' a'" in str(cleaned)
    assert "' b'" in str(cleaned)


def test_the_header_of_a_key_alone_is_no_secret() -> None:
    text = 'if line == "-----BEGIN RSA PRIVATE KEY-----":\n    start(line)'
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("PASSWORD=hunter", "hunter"),
        ("DB_PASSWORD=correcthorse", "correcthorse"),
        ('"password": "hunter2"', "hunter2"),
        ("password: hunter22", "hunter22"),
        ("const apiKey = 'a8f5f167f44f4964e6c998dee827110c'", "a8f5f167f44f4964e6c998dee827110c"),
        ('{\\"api_key\\": \\"abcd1234efgh\\"}', "abcd1234efgh"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz", "wJalrXUtnFEMI"),
        ("export AUTH_TOKEN=9f86d081884c7d65", "9f86d081884c7d65"),
        ("deploy --token abcdef123456 --fast", "abcdef123456"),
        ("postgres://app:s3cr3t@db.local:5432/shop", "s3cr3t"),
        ("https://x-access-token:v1abcdef@github.com/a/b", "v1abcdef"),
        ("Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"),
        ("curl -u admin:pa55word https://x.test", "pa55word"),
        ("mysqldump -u root -phunter22 shop", "hunter22"),
        ("PGPASSWORD=foo123 psql -h db", "foo123"),
        ("AccountKey=" + "Zm9v" * 20 + "==", "Zm9v" * 20),
    ],
)
def test_a_value_given_to_a_secret_name_goes(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "api_key = ${API_KEY}",
        'api_key: "<your-key>"',
        'token = os.environ["TOKEN"]',
        "password: str",
        "def login(password: str, token: Token) -> bool:",
        "token = self.next_token()",
        "secret = get_secret(name)",
        'password="xxxxxx"',
        "max_tokens=4096",
        "token_count: 50000",
        "tokens used: 12345678",
        'if token == "refresh":',
        "password = user_input",
        "password: process.env.DB_PASSWORD",
        '<input type="password" placeholder="Password">',
        "postgres://app:${PASSWORD}@db/shop",
        "the secret: keep functions small",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "session 5cbacec1-269b-41fe-b142-bc45467f4b07",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "/home/dev/shop/src/auth/token.py",
        'class="sk-fading-circle-container"',
        "git@github.com:acme/shop.git",
        "https://example.com/a?b=c",
    ],
)
def test_code_placeholders_ids_and_paths_survive(text: str) -> None:
    assert redact(text) == text


def test_a_secret_is_found_by_the_key_of_its_object() -> None:
    assert redact_json({"env": {"password": "hunter2"}, "n": 3}) == {"env": {"password": "[redacted:secret]"}, "n": 3}


def test_a_secret_is_found_by_the_name_beside_its_value() -> None:
    given: JsonValue = [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "DB_HOST", "value": "localhost"}]
    assert redact_json(given) == [
        {"name": "DB_PASSWORD", "value": "[redacted:secret]"},
        {"name": "DB_HOST", "value": "localhost"},
    ]


def test_the_argument_after_a_password_flag_goes() -> None:
    assert redact_json(["login", "--password", "hunter2", "--user", "bob"]) == [
        "login", "--password", "[redacted:secret]", "--user", "bob",
    ]  # fmt: skip


def test_secrets_in_keys_go() -> None:
    secret = "ghp_" + "a1" * 18
    assert secret not in str(redact_json({secret: [secret, {secret: 1}]}))


@given(st.text())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def shape(value: JsonValue) -> object:
    """A value with its texts taken out: what redaction has to leave alone."""
    if isinstance(value, str):
        return str
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    return [shape(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_json_keeps_its_shape_and_its_types(value: JsonValue) -> None:
    assert shape(redact_json(value)) == shape(value)


def test_what_is_nested_beyond_reason_is_cut_off_and_not_kept_unread() -> None:
    value: JsonValue = [{"password": "hunter2"}]
    for _ in range(900):
        value = [value, 1]
    cleaned = redact_json(value)
    depth = 0
    while isinstance(cleaned, list):
        cleaned = cleaned[0]
        depth += 1
    assert cleaned is None
    assert 100 < depth < 900


@given(st.text(alphabet="-BEGINDPRVATKYAa1+/= \n:\"'=pasword", max_size=400))
def test_redacting_what_nearly_is_a_secret_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)
