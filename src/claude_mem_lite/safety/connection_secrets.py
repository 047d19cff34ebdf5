"""Secrets in URLs, connection strings, files of programs, and calls of code and databases. Called by `redact`."""

import binascii
import re

from claude_mem_lite.safety.positional_secrets import Spot, spot
from claude_mem_lite.safety.secret_values import has_digit_and_letter, is_random, looks_real

_IN_URL = "[redacted:password-in-url]"
_URL_PLACEHOLDER = re.compile(
    r"(?i)\$[{(]|\$\w+$|[<{]|%[(s]|\[redacted|[x*.]+$|\d{1,5}/|(?:pass|password|passwd|pwd|secret|token|xyz)$"
)


def is_user_and_password(value: str) -> bool:
    """Whether it is base64 of `user:password`, as in a Basic header or docker's settings."""
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4), strict_mode=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _is_url_password(value: str) -> bool:
    # A number before a slash is a port, and the @ stands in the path.
    return not _URL_PLACEHOLDER.match(value)


def _is_password(value: str) -> bool:
    return looks_real("password", value, quoted=True, tight=True)


def _is_mixed(value: str) -> bool:
    return value.lower() != value and value.upper() != value


def is_made_by_machine(value: str) -> bool:
    """Whether a value needs no name to be taken for a secret, if only it is given to a variable."""
    return is_random(value, 24) and sum(map(str.isdigit, value)) >= 3


CONNECTIONS: tuple[Spot, ...] = (
    spot(
        "*://",
        r"://(?!\[redacted)[^\s/:@\"'<>`]{0,80}:",
        r"(?:(?!://)[^\s\"'<>`]){3,200}?",
        r"@(?=[A-Za-z0-9_.\[\]${}%-]{1,255}+(?!@))",
        _is_url_password,
        _IN_URL,
    ),
    spot("*://", "://", r"[A-Za-z0-9_-]{20,200}", r"@(?=[A-Za-z0-9_.\[-])", mark=_IN_URL),
    spot(
        "sig=|signature=|security-token=",
        r"(?i:(?<=[?&;])(?:sig|signature|x-(?:amz|goog)-(?:signature|security-token))=)",
        r"[A-Za-z0-9%+/=_.~-]{8,4096}",
    ),
    spot("jdbc:oracle:", r"jdbc:oracle:\w{1,8}:[\w$.-]{1,60}/", r"[^\s@\"'\\]{3,100}", "@", _is_url_password, _IN_URL),
    spot("*@tcp(|*@unix(", r":(?<=[\w.-]:)", r"[^\s@:\"'\\/]{3,100}", r"@(?:tcp|unix)\(", _is_url_password, _IN_URL),
    spot("auth plain.", r"AUTH PLAIN ", r"[A-Za-z0-9+/]{8,400}={0,2}"),
    spot("psk=", r"<start>psk[ \t]{0,2}=[ \t]{0,2}(?:<quote>)?", r"[^\s\"'\\]{8,64}"),
    spot("sqlplus.", r"<start>sqlplus<gap>(?:-\w{1,3}<gap>){0,3}[\w$.-]{1,60}/", r"[^\s@\"'\\/]{3,100}"),
    # Files: netrc, pgpass, redis.conf, npmrc, docker's config.json, AWS credentials without names.
    spot(
        "machine login.",
        r"<start>machine<blank>\S{1,100}<blank>login<blank>\S{1,100}<blank>password<blank>",
        r"[^\s\\]{3,200}",
    ),
    spot(
        "login password.|user password.|username password.",
        r"[LlUu](?i:ogin|ser|sername)<blank>[\w.@+-]{1,100}<blank>(?:(?:and|with)\s)?password<blank>",
        r"(?=\S{0,200}[\d!@#$%^&*+=~])(?=\S{0,20}\w)\S{6,200}",
    ),
    spot("honeycomb-team.", r"(?i:honeycomb-team)(?:<quote>)?\s{0,2}:\s{0,2}(?:<quote>)?", r"[A-Za-z0-9]{20,64}"),
    spot(
        "*:5432:|*:5433:|*:6432:|*:*:|pgpass.",
        r"(?:^|(?<=[\s→+\"'-])|(?<=\\n))[\w.*][\w.*-]{0,99}:(?:\d{4,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:",
        r"[^\s:\"'\\]{4,200}",
    ),
    # A jar of cookies.
    spot(
        "*\tTRUE\t|*\tFALSE\t|*\\tTRUE\\|*\\tFALSE\\",
        r"(?:TRUE|FALSE)(?:\t|\\{1,7}t)/[^\s\\]{0,80}(?:\t|\\{1,7}t)(?:TRUE|FALSE)(?:\t|\\{1,7}t)\d{1,12}(?:\t|\\{1,7}t)[\w.-]{1,80}(?:\t|\\{1,7}t)",
        r"[^\s\"'\\]{6,4096}",
        is_secret=has_digit_and_letter,
    ),
    spot("requirepass.|masterauth.", r"(?:requirepass|masterauth)<gap>"),
    spot(
        "auth.",
        r"auth(?:(?<=_auth)[ \t]{0,4}=[ \t]{0,4}(?:<quote>)?|<quote>\s{0,4}:\s{0,4}<quote>)",
        r"[A-Za-z0-9+/]{8,4000}={0,2}",
        is_secret=is_user_and_password,
    ),
    spot(
        "akia|asia|abia|acca|redacted:aws-key]",
        r"\[redacted:aws-key\](?s:.{1,160}?)(?<![A-Za-z0-9/+=])",
        r"[A-Za-z0-9/+]{40}",
        r"(?![A-Za-z0-9/+=])",
        _is_mixed,
    ),
    spot(
        "variable default.",
        r"variable <quote><name><quote>\s{0,4}\{[^{}]{0,300}?default\s{0,4}=\s{0,4}<quote>",
        "<text>",
        is_secret=_is_password,
    ),
    # Any variable that is given what no person can have written, unless it tells a hash, a path or an id.
    spot(
        "*=",
        r"=(?<=[A-Z_][A-Z0-9_][A-Z0-9_]=)(?<!SHA\d=)(?<!SHA\d\d\d=)(?<!HASH=)(?<!DIGEST=)(?<!SUM=)(?<!PATH=)(?<!_ID=)(?:<quote>)?",
        r"[A-Za-z0-9+/_-]{24,200}+={0,2}",
        r"(?![\w.:(/+-])",
        is_made_by_machine,
    ),
    # SQL, PowerShell, and calls with a user and a password.
    spot(
        "identified.",
        r"(?i:\b(?:user|to)\b(?:(?!\buser\b|\bto\b)[^;\n]){0,160}?\bidentified (?:with \S{1,60} )?(?:by|as)) <quote>",
        "<text>",
    ),
    spot("securestring.", r"(?i:ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?)<quote>", "<text>"),
    *(
        spot(sign, rf"{call}\(\s{{0,20}}<quote>[^\"'\n\\]{{1,80}}<quote>,\s{{0,20}}<quote>", "<text>")
        for sign, call in (
            ("basicauth.|httpbasicauth.|setbasicauth.", "BasicAuth"),
            ("basic_auth.", "basic_auth"),
            ("networkcredential.", "NetworkCredential"),
            ("auth.", r"auth[ \t]{0,2}=[ \t]{0,2}"),
            ("login.", r"\.login"),
            ("usernamepasswordcredentials.", "UsernamePasswordCredentials"),
        )
    ),
    spot(
        "getconnection.|mysqli.|mysqli_connect.",
        r"(?:getConnection|mysqli(?:_connect)?)\([^,\n]{1,200},\s{0,20}<quote>[^\"'\n\\]{1,80}<quote>,\s{0,20}<quote>",
        "<text>",
    ),
    spot(
        "mnemonic.|phrase.|seedphrase.",
        r"(?i:mnemonic|(?:seed|recovery)[ _-]?phrase)(?:<quote>)?\s{0,3}(?:=|:|is)\s{0,3}[\"'`]?",
        r"(?:[a-z]{3,8} ){11,23}[a-z]{3,8}",
    ),
)
