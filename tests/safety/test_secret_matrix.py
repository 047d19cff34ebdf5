"""Secrets of two hundred kinds in thirty carriers, taken in as the worker does: no stored text holds any of them."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from claude_mem_lite.export_format import FIELDS, to_object
from claude_mem_lite.inbox.payload import to_stored
from claude_mem_lite.models import JsonValue, Memory, SymbolChange
from claude_mem_lite.safety.clean_import import cleaned
from claude_mem_lite.safety.redact import redact, redact_json, texts_of
from tests.support.generated_secrets import generated_secrets
from tests.support.secret_carriers import CARRIERS
from tests.support.secret_kinds import Kind, kinds

KINDS = kinds()
# What is not told apart, as docs/privacy.md says: by carrier, how the kind begins.
STAYS = {
    "Python repr": (
        *("user,password,role", "id,email,api_key", '"name";"passwort"', "host,port", "email;secret", "service,token"),
        *('"id","user_name"', "static SECRET: &", "await page.locator('input[type=", "cy.get('input[name="),
    ),
    "commit message": ("curl -b 'session",),
    "HTML": ('net use X: "',),
    "JSON in JSON": ("see ｇｈｐ",),
    "JSON thrice": ("see ｇｈｐ",),
    **dict.fromkeys(("log", "container log", "quoted mail"), ('smtp_password = """\n',)),
}
STAYS_ANYWHERE = ("restic --password-command",)


def parts_of(secret: str) -> list[str]:
    """Pieces of a secret, none of which may be left; a password is one."""
    return [secret] if len(secret) < 20 else [secret[start : start + 12] for start in range(0, len(secret) - 11, 3)]


def is_left(secret: str, value: JsonValue) -> bool:
    stored = "\n".join(texts_of(value))
    return any(part in stored or json.dumps(part)[1:-1] in stored for part in parts_of(secret))


def stays(kind: Kind, carrier: str) -> bool:
    return kind.text.startswith((*STAYS.get(carrier, ()), *STAYS_ANYWHERE))


def test_there_are_two_hundred_kinds_and_twenty_carriers() -> None:
    assert len({kind.name for kind in KINDS}) >= 200
    assert len(CARRIERS) >= 20


@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_secret_is_stored_whatever_carries_it(carrier: str) -> None:
    left = [
        kind.name
        for kind in KINDS
        if not stays(kind, carrier) and is_left(kind.secret, json.loads(to_stored(CARRIERS[carrier](kind.text))))
    ]
    assert left == []


def test_what_carries_a_secret_stays_otherwise() -> None:
    event = CARRIERS["standard output"]("password: Sommer2024x")
    assert "start\npassword: [redacted:secret]\nend" in to_stored(event).encode().decode("unicode_escape")


def memory_with(field: str, text: str) -> Memory:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    plain = Memory(
        id="abcd",
        kind="gotcha",
        title="A title",
        summary="",
        created_at=now,
        last_seen_at=now,
        scope="universal",
        project="shop",
    )
    if field == "symbols":
        return replace(plain, symbols=(SymbolChange(text, "name", "modified"), SymbolChange("a.py", text, "new")))
    if field == "scope":
        return replace(plain, scope=f"project:{text}")
    is_list = isinstance(getattr(plain, field), tuple)
    return replace(plain, **{field: ("plain", text) if is_list else text})  # type: ignore[arg-type]  # by its type


def is_text(field: str) -> bool:
    """Whether a field of a record may hold any text; the others are numbers, times, or one of a few words."""
    plain = memory_with("title", "A title")
    return isinstance(getattr(plain, field), str | tuple | None) and field not in ("id", "kind", "status", "origin")


@pytest.mark.parametrize("field", [field for field in FIELDS if is_text(field)])
def test_no_secret_of_a_record_is_imported_whichever_field_holds_it(field: str) -> None:
    known = [(one.name, one.text, one.secret) for one in generated_secrets()] + [
        (kind.name, kind.text, kind.secret) for kind in KINDS if not kind.text.startswith(STAYS_ANYWHERE)
    ]
    left = [name for name, text, secret in known if is_left(secret, to_object(cleaned(memory_with(field, text))[0]))]
    assert left == []


@pytest.mark.parametrize(
    "text",
    [
        "    --- PASS: TestParseScopeFromName/core127 (0.00s)",
        "- `JWT_PUBLIC_KEY` + `JWT_PRIVATE_KEY`: Base64-decoded Ed25519 keys",
        "- [x] Retry tests pass: `run src/tests/retry-v2.test.ts`",
        "- Your **1Password SSH agent is locked** (no answer)",
        'placeholder="ghp_xxxxxxxxxxxxxxxxxxxx"',
        'def hashed(\n    password: str, method: str = "scrypt", length: int = 16\n)',
        "r'Error_InvalidPassword|Error_InvalidName|'\nr'Error_ModuleNotFound|Error_Second|'",
        "user, password, role = read(line)\nadmin, reader, owner = names",
        "| name | password |\n|---|---|\n| type | string |",
        "| max_tokens | 4096 |\n| password | required |",
        "The password is stored as SHA-256 in users.v2 since 2026-01-01.",
        "the password to the vault is in 1Password",
        "Das Passwort ist zu kurz, mindestens 12 Zeichen",
        "Le mot de passe est obligatoire (8 caractères)",
        "La contraseña es obligatoria",
        "密码是必填项，至少8位",
        "パスワードは必須です（8文字以上）",
        "password:\n  type: string\n  minLength: 8",
        "password:\n  description of the field",
        "expect(getByLabelText('Password')).toBeVisible()",
        "page.fill('#password', process.env.PASSWORD)",
        "kubectl get secret db -o yaml | grep name",
        "$ kubectl get secret | base64 -d\nerror: unable to read the output",
        "日本語の文章：ＡＢＣ（テスト）、１２３",
        "https://example.test/x_ghp_docs/about",
        "credentials: see docs/setup.md",
        "login: admin / see the vault",
    ],
)
def test_what_only_reads_like_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_what_a_command_prints_that_reads_a_secret_goes() -> None:
    def event(command: str, stdout: str) -> JsonValue:
        return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"stdout": stdout}}

    command = "kubectl get secret db -o jsonpath='{.data.pw}' | base64 -d"
    assert "plainword" not in str(redact_json(event(command, "plainword\n")))
    assert "plainword" in str(redact_json(event("cat notes", "plainword\n")))
    assert "three words here" in str(redact_json(event(command, "three words here")))


@pytest.mark.parametrize("hidden", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad"])
def test_a_token_goes_with_what_is_not_seen_between_its_letters(hidden: str) -> None:
    token = "ghp_" + "aB3dE5gH7j" * 4
    assert redact(f"see {hidden.join(token)} there") == "see [redacted:github-token] there"


def test_a_token_goes_with_wide_letters_in_it() -> None:
    token = "ghp_" + "aB3dE5gH7j" * 4
    wide = "".join(chr(ord(letter) + 0xFEE0) if number % 3 == 0 else letter for number, letter in enumerate(token))
    assert redact(f"see {wide} there") == "see [redacted:github-token] there"
