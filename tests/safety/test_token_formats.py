"""Tests of `safety/token_formats.py`, `safety/redact.py`, `safety/secret_values.py`,
`safety/table_secrets.py` and `safety/unescaped_view.py`: every form of secret goes, wherever it stands; similar text
stays."""

import base64
import json
import random
import string

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.safety.redact import redact, redact_json
from tests.support.generated_secrets import GeneratedSecret, generated_secrets

ALL = generated_secrets()
FORMS = [one for one in ALL if one.is_form]


def parts_of(secret: str, length: int = 12) -> list[str]:
    """Pieces of a secret, none of which may be left."""
    return [secret[start : start + length] for start in range(0, len(secret) - length + 1, 4)] or [secret]


def is_gone(one: GeneratedSecret, text: str) -> bool:
    return not any(part in text or json.dumps(part)[1:-1] in text for part in parts_of(one.secret))


def test_there_are_far_more_than_eighty_forms() -> None:
    assert len(generated_secrets()) >= 300
    assert len({one.kind for one in generated_secrets()}) >= 100


@pytest.mark.parametrize("seed", range(20))
def test_no_secret_goes_by_luck(seed: int) -> None:
    assert [one.name for one in generated_secrets(seed) if not is_gone(one, redact(one.text))] == []


# A case of each form would be thousands of tests; what fails is told by its name.


def test_a_secret_goes_from_a_text_of_its_own() -> None:
    assert [one.name for one in ALL if not is_gone(one, redact(one.text))] == []


def test_a_secret_goes_from_between_other_lines_and_these_stay() -> None:
    cleaned = {one: redact(f"first line\n{one.text}\nlast line") for one in ALL}
    assert [one.name for one, text in cleaned.items() if not is_gone(one, text)] == []
    assert [one.name for one, text in cleaned.items() if not text.startswith("first line\n")] == []
    assert [one.name for one, text in cleaned.items() if not text.endswith("\nlast line")] == []


def test_a_secret_goes_from_json_inside_a_string() -> None:
    assert [one.name for one in ALL if not is_gone(one, redact(json.dumps({"output": [one.text]})))] == []


def test_a_secret_goes_from_the_members_of_an_event() -> None:
    def event(text: str) -> JsonValue:
        return {"tool_input": {"command": text}, "tool_response": [{"text": text}, [text, "b"]]}

    assert [one.name for one in ALL if not is_gone(one, json.dumps(redact_json(event(one.text))))] == []


def test_what_was_removed_is_told() -> None:
    assert [one.name for one in FORMS if f"[redacted:{one.kind}]" not in redact(one.text)] == []


@pytest.mark.parametrize(
    "around", ["({})", "\\n{}\\n", "a%3D{}", "\\u003d{}", "see {}, please", "/srv/{}/a.py", "\x1b[1;31m{}\x1b[0m"]
)
def test_a_token_is_known_wherever_it_stands(around: str) -> None:
    tokens = [one for one in FORMS if one.secret == one.text]
    assert len(tokens) > 100
    assert [one.name for one in tokens if not is_gone(one, redact(around.format(one.secret)))] == []


def test_redacting_twice_changes_nothing_more() -> None:
    def texts(one: GeneratedSecret) -> tuple[str, ...]:
        return one.text, f"first line\n{one.text}\nlast line", json.dumps({"output": [one.text]})

    cleaned = [(one.name, redact(text)) for one in ALL for text in texts(one)]
    assert [name for name, text in cleaned if redact(text) != text] == []


def test_half_a_secret_harms_nothing() -> None:
    """Texts are cut anywhere: nothing may be raised, and what is not taken for a secret stays as it is."""
    halves = [
        (one.name, text)
        for one in ALL
        for end in range(1, len(one.text), 5)
        for text in (one.text[:end], one.text[end:])
    ]
    cleaned = [(name, text, redact(text)) for name, text in halves]
    assert [name for name, text, left in cleaned if left != text and "[redacted:" not in left] == []


def test_a_token_is_known_through_the_colours_of_a_search() -> None:
    body = "a1B2" * 9
    assert redact(f"\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K{body}") == "[redacted:github-token]"


RANDOM = random.Random(5)
HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits


def some(alphabet: str, length: int) -> str:
    return "".join(RANDOM.choices(alphabet, k=length))


def uuid() -> str:
    return "-".join(some(HEX, length) for length in (8, 4, 4, 4, 12))


def encoded(length: int) -> str:
    return base64.b64encode(RANDOM.randbytes(length)).decode()


SURVIVORS = [
    f"commit {some(HEX, 40)}",
    f"index {some(HEX, 7)}..{some(HEX, 7)} 100644",
    f"{some(HEX, 32)}  dist/app.tar.gz",
    f"sha256:{some(HEX, 64)}",
    f"registry.test/shop/api@sha256:{some(HEX, 64)}",
    f'"integrity": "sha512-{encoded(64)}"',
    f"github.com/acme/shop v1.2.3 h1:{encoded(32)}",
    f"checksum = \"{some(HEX, 64)}\"",
    f"--hash=sha256:{some(HEX, 64)}",
    f"ETag: \"{some(HEX, 32)}\"",
    f"id: {uuid()}",
    f"request_id={uuid()}",
    f'"sessionId": "{uuid()}"',
    f"trace {some(HEX, 32)} span {some(HEX, 16)}",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{encoded(32)[:42]} bob@laptop",
    f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{encoded(260)} bob@laptop",
    f"SHA256:{encoded(32).rstrip('=')} (ED25519)",
    "-----BEGIN CERTIFICATE-----\n" + "\n".join(encoded(48) for _ in range(4)) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + "\n".join(encoded(48) for _ in range(4)) + "\n-----END PUBLIC KEY-----",
    f"certificate-authority-data: {base64.b64encode(b'-----BEGIN CERTIFICATE-----' + RANDOM.randbytes(90)).decode()}",
    f"data:image/png;base64,iVBORw0KGgo{encoded(300)}",
    f"expected = \"{encoded(60)}\"",
    f"assert decode('{encoded(30)}') == value",
    f"arn:aws:iam::123456789012:role/Deploy{some(ALNUM, 6)}",
    f"i-0{some(HEX, 16)} ami-0{some(HEX, 16)} vpc-{some(HEX, 8)}",
    f"pod/api-{some(HEX, 10)}-{some(HEX[:6], 5)} 1/1 Running",
    f"0x{some(HEX, 40)}",
    f"pk_live_{some(ALNUM, 24)} is the publishable one",
    f"price_1{some(ALNUM, 23)} cus_{some(ALNUM, 14)}",
    f"cache_key = \"{some(HEX, 40)}\"",
    f"primaryKey: '{some(ALNUM, 24)}'",
    f"public_key = {encoded(32)}",
    f"next_page_token: {encoded(40)}",
    f'"nextToken": "{encoded(40)}"',
    f"IDEMPOTENCY_TOKEN={uuid()}",
    f"COMMIT_SHA={some(HEX, 40)}",
    f"BUILD_ID={some(ALNUM, 24)}",
    f"IMAGE_DIGEST={encoded(32)}",
    "PYTHONPATH=/home/dev/Projects/Shop2/Src1/Lib3/Tools4/Api5",
    "/home/dev/.ssh/id_ed25519.pub",
    "test_a_token_of_a_known_form_goes_even_from_what_names_an_event_2",
    "GoogleCloudApigeeV1ListSecurityProfilesV2Response",
    "com.example.security.oauth2.TokenAuthenticationFilterRegistrationBean2",
    "class=\"sk-folding-cube-container-2 sk-cube-grid-14\"",
    "npm_config_registry npm_lifecycle_event npm_package_version",
    "glob-parent gl-matrix xoxo hf_hub_download",
    "tokens: 12345, max_tokens=4096, token_count: 50000",
    "Bearer authentication and Basic authentication are both supported",
    "Authorization: Bearer $TOKEN",
    "curl -H 'X-Api-Key: <your key>' https://api.test",
    "Set-Cookie: theme=dark; Path=/; Max-Age=31536000",
    "docker run -p 8080:80 -u 1000:1000 mysql:8",
    "mysql -h db -p shop < dump.sql",
    "sshpass -p \"$PASSWORD\" ssh host",
    "redis-cli -a ${REDIS_PASSWORD} ping",
    "sudo --stdin and docker login --password-stdin read it from a pipe",
    "NavigationControllerFactoryBean.create.withTheDefaultLocationListener(map)",
    "ModelTrainingPipelineRunner2.result.test_the_second_run_is_told_apart",
    f"example.org/{some(HEX, 24)}.min_js.{some(HEX, 32)}",
    "SSWS 00your-token-here and SSWS tokens of Okta",
    "post to https://hooks.zapier.com/hooks/catch/123/abc or hooks.zapier.com/hooks/catch/",
    "device:APA91bShort is no registration",
    "my password is wrong.",
    "our passphrase is required",
    "the password is hashed with bcrypt before it is stored",
    "password: string\n  email: string",
    "interface User {\n  password: hashed\n}",
    "connect(\n    password=getpass\n)",
    "self.password=userpassword",
    "connect(host=host, user=user, password=credential)",
    "user:pass@host is how a URL names its user: http://user:pass@host/",
    "os.getenv('API_TOKEN', 'unset')",
    "getattr(settings, 'SECRET_KEY', fallback)",
    "\"AWS::IAM::AccessKey\": \"62d91b17309e76c8\"",
    "MachineFunctionPass::getAnalysisUsage(AU);",
    "if (token == TokenKind.Identifier2Name) {",
    "while page_token := response.nextPageToken:",
    "private_key: \"_EllipticCurvePrivateKey\"",
    "ALLOW_CREDENTIALS = \"Access-Control-Allow-Credentials\"",
    "if line == \"-----BEGIN RSA PRIVATE KEY-----\": start(line)",
    "loadsAVeryLongIdentifierName(\"-----END PRIVATE KEY-----\")",
    "variable \"db_password\" {\n  type = string\n  sensitive = true\n}",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db",
    "ENV API_TOKEN must be set",
    "CREATE USER app WITH PASSWORD :password;",
]  # fmt: skip


@pytest.mark.parametrize("text", SURVIVORS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == text
    assert redact_json({"tool_response": {"stdout": text, "lines": [text, "b"]}}) == {
        "tool_response": {"stdout": text, "lines": [text, "b"]}
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["sshpass", "-p", "hunter", "ssh", "host"],
        ["sshpass", "-phunter", "ssh"],
        ["mysqldump", "-u", "root", "-phunter", "shop"],
        ["docker", "login", "-u", "bob", "-p", "hunter"],
        ["redis-cli", "-a", "hunter", "ping"],
        ["htpasswd", "-bc", "users", "bob", "hunter"],
        ["openssl", "enc", "-k", "hunter"],
        ["keytool", "-storepass", "hunter"],
    ],
)
def test_the_password_in_a_list_of_arguments_goes(arguments: list[str]) -> None:
    given: list[JsonValue] = [*arguments]
    for cleaned in (redact_json(given), redact(json.dumps(arguments)), redact(json.dumps(json.dumps(arguments)))):
        assert "hunter" not in str(cleaned)
        assert arguments[0] in str(cleaned)
    assert len(str(redact_json(given)).split(",")) == len(arguments)


def test_the_password_of_a_user_goes_from_arguments_that_do_not_name_their_command() -> None:
    assert redact_json({"command": "curl", "args": ["-u", "bob:hunter22", "-s"]}) == {
        "command": "curl", "args": ["-u", "bob:[redacted:secret]", "-s"],
    }  # fmt: skip
    assert redact_json(["docker", "run", "-u", "1000:1000"]) == ["docker", "run", "-u", "1000:1000"]


@pytest.mark.parametrize(
    ("given", "secret"),
    [
        ({"password": 12345678}, "12345678"),
        ({"token": ["abc12345xyz"]}, "abc12345xyz"),
        ({"auths": {"registry.test": {"auth": "Ym9iOmh1bnRlcjIy"}}}, "Ym9iOmh1bnRlcjIy"),
        ({"headers": {"x-functions-key": "aB3dE5gH7jK9mN1pQ3sT5vX7z=="}}, "aB3dE5gH7"),
        ({"env": {"SINK": "aB3dE5gH7jK9mN1pQ3sT5vX7z"}}, "aB3dE5gH7"),
    ],
)
def test_a_member_that_is_a_secret_goes(given: JsonValue, secret: str) -> None:
    assert secret not in str(redact_json(given))


@pytest.mark.parametrize(
    "given", [{"passed": 1200, "pass": 1200}, {"env": {"GIT_SHA": "a" * 40}}, {"auth": "required"}]
)
def test_a_member_that_is_none_stays(given: JsonValue) -> None:
    assert redact_json(given) == given
