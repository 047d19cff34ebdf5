"""Tests of `safety/redact.py`, `safety/prefilter.py`, `safety/secret_values.py` and `safety/token_formats.py`: secrets
go, everything else stays."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.models import JsonValue
from claude_mem_lite.safety.redact import is_untouched, redact, redact_json

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
@settings(max_examples=50)
@given(data=st.data())
def test_no_token_of_a_known_format_survives(kind: str, data: st.DataObject) -> None:
    secret = data.draw(TOKENS[kind])
    text = data.draw(SURROUNDINGS).format(secret)
    assert secret not in redact(text)
    assert "[redacted:" in redact(text)


@pytest.mark.parametrize("kind", TOKENS)
@settings(max_examples=50)
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
        ("BACKEND_TOKEN=Zx9kQ2wPp77aa", "Zx9kQ2wPp77aa"),
        ("exchange_token: Zx9kQ2wPp77aa", "Zx9kQ2wPp77aa"),
        ("COMPANY_KEY=Zx9kQ2wPp77aaBBccDDe", "Zx9kQ2wPp77aa"),
        ("CLIENT_TOKEN=Zx9kQ2wPp77aa", "Zx9kQ2wPp77aa"),
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
        ("APIKEY: Zx9kQ2wPp77", "Zx9kQ2wPp77"),
        ('dbPass: "Zx9kQ2wPp77"', "Zx9kQ2wPp77"),
        ("smtp_pass = 'Zx9kQ2wPp77'", "Zx9kQ2wPp77"),
        ("pass: Zx9kQ2wPp77", "Zx9kQ2wPp77"),
        ("passwd: Zx9kQ2wPp77", "Zx9kQ2wPp77"),
        ("pwd=Zx9kQ2wPp77;Server=db", "Zx9kQ2wPp77"),
        ('os.environ["API_KEY"] = "Zx9kQ2wPp77"', "Zx9kQ2wPp77"),
        ("**Password:** `hunter22`", "hunter22"),
        ("password=Zx9(kQ2)wPp77", "wPp77"),
        ("password=Zx9,kQ2wPp77", "kQ2wPp77"),
        ("connect(password=Zx9kQ2wPp77, user=x)", "Zx9kQ2wPp77"),
        ('password="Zx9\'kQ2wPp77"', "kQ2wPp77"),
        ('password="Zx9\\"kQ2wPp77"', "kQ2wPp77"),
        ('password="Zx9kQ2wPp77', "Zx9kQ2wPp77"),
        ("password=<Zx9kQ2wPp77", "Zx9kQ2wPp77"),
        ('"password": "correct horse battery staple"', "horse"),
        ('PASSWORD="my_real_password1"', "my_real_password1"),
        ("PASSWORD=your1RealPass99", "your1RealPass99"),
        ("TOKEN=the_Zx9kQ2wPp77aaBB", "Zx9kQ2wPp77aaBB"),
        ("password=$uperS3cret!", "uperS3cret"),
        ('password="#Zx9kQ2wPp77"', "Zx9kQ2wPp77"),
        ("password='@Zx9kQ2wPp77'", "Zx9kQ2wPp77"),
        ('password="boolean77Zx9"', "boolean77Zx9"),
        ('password="enterprise99"', "enterprise99"),
        ('password="None1"', "None1"),
        ('password="$2b$12$KIXQ4S8vZx9kQ2wPp77aaO"', "KIXQ4S8v"),
        ("my password is Zx9kQ2wPp77.", "Zx9kQ2wPp77"),
        ("the password for the database is hunter2!", "hunter2!"),
        ("the token is Zx9kQ2wPp77aaBBccDD", "Zx9kQ2wPp77"),
        ("<password>Zx9kQ2wPp77</password>", "Zx9kQ2wPp77"),
        ("<ns:apiKey>Zx9kQ2wPp77</ns:apiKey>", "Zx9kQ2wPp77"),
        ("sshpass -p hunter ssh host", "hunter"),
        ("sshpass -p 'two words' ssh host", "two words"),
        ("docker login -u bob -p Zx9kQ2wPp77 registry", "Zx9kQ2wPp77"),
        ("docker login -u bob --password correcthorse", "correcthorse"),
        ("redis-cli -h db -a correcthorse ping", "correcthorse"),
        ("curl -uadmin:pa55word https://x.test", "pa55word"),
        ("openssl enc -aes-256-cbc -pass pass:correcthorse", "correcthorse"),
        ("htpasswd -bc users bob correcthorse", "correcthorse"),
        ("echo correcthorse | sudo -S ls", "correcthorse"),
        ("machine api.test login bob password Zx9!kQ2wPp", "Zx9!kQ2wPp"),
        ("machine api.test\n  login bob\n  password Zx9!kQ2wPp", "Zx9!kQ2wPp"),
        ("db.test:5432:app:bob:correcthorse", "correcthorse"),
        ("postgres://u:pa/ss1234@h/db", "ss1234"),
        ("postgres://u:p@ss1234@h/db", "ss1234"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("Authorization: Zx9kQ2wPp77aaBBccDD", "Zx9kQ2wPp77aaBBccDD"),
        ("Cookie: sessionid=Zx9kQ2wPp77; theme=dark", "Zx9kQ2wPp77"),
        ("Set-Cookie: sid=Zx9kQ2wPp77; Path=/; HttpOnly", "Zx9kQ2wPp77"),
        ("https://h/p?sv=1&sig=Zx9kQ2wPp77aaBB%3D", "Zx9kQ2wPp77aaBB"),
        ("https://h/p?X-Amz-Signature=5a8753eb2c724e56", "5a8753eb2c724e56"),
        ("https://discord.com/api/webhooks/123456789012345678/" + "aB3" * 20, "aB3aB3"),
        ("https://hooks.slack.com/services/T0000/B0000/" + "aB3" * 8, "aB3aB3"),
        ("-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJl", "eyJzdWIi"),
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
        "password = get_password()",
        "password=get_password(user, 1)",
        "password: z.string().min(8),",
        "password: Optional[str] = None",
        "token: str",
        'api_key=os.environ["X"]',
        "api_key = settings.API_KEY_2",
        "if token == other:",
        "max_tokens=1000",
        "    pass\n",
        "pass: 12 of 14 tests",
        "PASS: TestLogin2Works",
        "--- PASS: TestParse64Bits (0.00s)",
        "compass: north12345",
        "bypass: a1b2c3d4",
        "tests/unit/test_token_1.py::test_password_2 PASSED",
        "The password is required and the token is expired.",
        "The password is base64-encoded, its hash is SHA-256.",
        'password: "Must be at least 8 characters"',
        'FORCE_CHANGE_PASSWORD = "FORCE_CHANGE_PASSWORD"',
        "PWD=/home/dev/my-shop",
        "password = :password",
        "password=$DB_PASSWORD",
        "password=$(cat secret.txt)",
        "password: ${{ secrets.DB }}",
        "password => $request->input('password')",
        "arn:aws:secretsmanager:us-west-2:123456789012:secret:Shop-a1b2c3",
        "http://localhost:8080/path/@scope/pkg",
        "docker run -u 1000:1000 image && curl -s https://x.test",
        "docker login images.test && docker run -p 8080:80 image",
        "basic understanding of input/output/formatting",
        "Authorization: Bearer <token>",
        'headers["Authorization"] = build_header2(user)',
        "Cookie: theme=solarized; lang=en-US",
        "hasToken=function(e){if(!e)return!1;for(var t=1)}",
        "login form password field",
        "src/app.py:1234:56:error:wrong",
        "key=Zx9kQ2wPp77aaBBccDD",
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
    # A long number may be a password.
    st.none() | st.booleans() | st.integers(-999, 999) | st.floats(allow_nan=False) | st.text(),
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


PATCH = ["-password = 'Zx9kQ2wPp77'", "+password = load()"]


def test_a_secret_that_one_member_gives_away_goes_from_its_neighbours() -> None:
    payload: JsonValue = {
        "tool_input": {"old_string": "Zx9kQ2wPp77", "new_string": "'Zx9kQ2wPp77'"},
        "tool_response": {"structuredPatch": [{"lines": PATCH}], "Zx9kQ2wPp77": ["a", "Zx9kQ2wPp77", 1]},
    }
    cleaned = redact_json(payload)
    assert "Zx9kQ2wPp77" not in str(cleaned)
    assert isinstance(cleaned, dict)
    assert cleaned["tool_input"] == {"old_string": "[redacted:secret]", "new_string": "'[redacted:secret]'"}


def test_a_secret_goes_wherever_it_stands_in_a_text_that_gives_it_away_once() -> None:
    text = "PGPASSWORD=Zx9kQ2wPp77 psql; ./connect Zx9kQ2wPp77"
    assert redact(text) == "PGPASSWORD=[redacted:secret] psql; ./connect [redacted:secret]"


@pytest.mark.parametrize("word", ["postgres", "hunter2", "correcthorse", "user_name_2", "12345678"])
def test_a_word_that_is_a_password_somewhere_stays_elsewhere(word: str) -> None:
    assert redact_json({"a": f"DB_PASSWORD={word}", "b": f"the {word} table"}) == {
        "a": "DB_PASSWORD=[redacted:secret]", "b": f"the {word} table",
    }  # fmt: skip


EVENT_NAMES = ("cwd", "session_id", "transcript_path", "hook_event_name", "tool_name", "prompt_id", "agent_id")


@pytest.mark.parametrize("key", EVENT_NAMES)
def test_what_names_an_event_is_left_to_tell_events_apart(key: str) -> None:
    named = {key: "/srv/token=abc12345xyz"}
    assert redact_json({**named, "prompt": "token=abc12345xyz"}) == {**named, "prompt": "token=[redacted:secret]"}


@pytest.mark.parametrize("key", EVENT_NAMES)
def test_a_token_of_a_known_form_goes_even_from_what_names_an_event(key: str) -> None:
    secret = "ghp_" + "a1" * 18
    assert redact_json({key: f"/srv/{secret}"}) == {key: "/srv/[redacted:github-token]"}


def test_the_names_of_events_mean_nothing_further_down() -> None:
    assert "abc12345xyz" not in str(redact_json({"tool_input": {"cwd": "/srv/token=abc12345xyz"}}))


def test_headers_are_found_by_their_keys() -> None:
    given: JsonValue = {
        "headers": {"Authorization": "Basic dXNlcjpwYXNz", "Cookie": "sid=Zx9kQ2wPp77", "Accept": "*/*"}
    }
    assert redact_json(given) == {
        "headers": {
            "Authorization": "Basic [redacted:bearer-token]",
            "Cookie": "sid=[redacted:secret]",
            "Accept": "*/*",
        }
    }


LINES = st.lists(st.one_of(*TOKENS.values(), st.text(max_size=20), st.sampled_from(["-u", "--password", "admin:a1b2"])))


@given(LINES, LINES)
@settings(max_examples=300, deadline=None)
def test_what_is_called_untouched_stays_as_it_is(texts: list[str], lines: list[str]) -> None:
    if is_untouched(texts, [lines]):
        assert redact_json({"texts": [{"text": text} for text in texts], "lines": lines}) == {
            "texts": [{"text": text} for text in texts],
            "lines": lines,
        }


def test_plain_texts_are_untouched_and_secrets_and_flags_are_not() -> None:
    assert is_untouched(["Use pnpm in web/package.json"], [["Checked by tests/test_web.py"]])
    assert not is_untouched(["ghp_" + "a1B2" * 9], [])
    assert not is_untouched([], [["-u", "admin:a1b2"]])
