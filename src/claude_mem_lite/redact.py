"""Secrets out of text, before any database or model sees it; paths, ids and hashes stay.

Called by the worker on every event it takes in. Never raises and never reports what it found."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from claude_mem_lite.models import JsonValue

# A token may follow an escaped line break ("\nghp_…" inside a string that holds JSON).
_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"

# (kind, literals of which one must occur, pattern): the literals decide, in C, whether the pattern runs at all.
_TOKENS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(literals.split()), re.compile(pattern))
    for kind, literals, pattern in (
        ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
        ("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,255}"),
        ("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
        ("aws-key", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("slack-token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
        ("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,}"),
        (
            "slack-webhook",
            "hooks.slack.com/",
            r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
        ),
        ("stripe-key", "_live_ _test_", _EDGE + r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("stripe-key", "whsec_", _EDGE + r"whsec_[A-Za-z0-9+/=]{24,}"),
        ("google-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("google-key", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
        ("google-key", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
        ("npm-token", "npm_", _EDGE + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
        ("pypi-token", "pypi-", _EDGE + r"pypi-[A-Za-z0-9_-]{50,}"),
        ("gitlab-token", "gl", _EDGE + r"gl(?:pat|dt|ptt|rt|cbt|ft|soat|agent|oas|imt)-[A-Za-z0-9_-]{20,}"),
        ("huggingface-token", "hf_", _EDGE + r"hf_[A-Za-z0-9]{30,}"),
        ("sendgrid-key", "SG.", _EDGE + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
        ("shopify-token", "shp", _EDGE + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
        ("databricks-token", "dapi", _EDGE + r"dapi[a-f0-9]{32}"),
        ("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,34}"),
        ("twilio-key", "SK", _EDGE + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
        ("vault-token", "hvs. hvb.", _EDGE + r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
        ("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
        ("azure-key", "AccountKey= SharedAccessKey=", r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/=]{40,}"),
        ("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
        ("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{50,}"),
        ("grafana-token", "glsa_ glc_", _EDGE + r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
        ("groq-key", "gsk_", _EDGE + r"gsk_[A-Za-z0-9]{40,}"),
        ("xai-key", "xai-", _EDGE + r"xai-[A-Za-z0-9]{40,}"),
        ("linear-key", "lin_", _EDGE + r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
        ("notion-token", "ntn_", _EDGE + r"ntn_[A-Za-z0-9]{40,}"),
        ("supabase-key", "sbp_", _EDGE + r"sbp_[a-f0-9]{40}"),
        ("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
        (
            "discord-token",
            "iscord ISCORD",
            r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        ),
        ("jwt", "eyJ", _EDGE + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}"),
    )
)

_OPENAI = re.compile(_EDGE + r"sk-[A-Za-z0-9_-]{20,}")
_BEARER = re.compile(r"(?i)\b(bearer|basic)[ \t]+([A-Za-z0-9._~+/-]{12,}=*)")
_AUTHORIZATION = re.compile(
    r"(?i)\b(authorization\\?[\"']?\s{0,2}[:=]\s{0,2}\\?[\"']?(?:token|apikey)[ \t]+)([^\s\"'\\]{8,})"
)
_URL_PASSWORD = re.compile(r"(://[^\s/:@\"'<>`]{0,80}:)([^\s/\"'<>`]{1,200})(@(?=[A-Za-z0-9_.\[-]))")
_URL_TOKEN = re.compile(r"(://)([A-Za-z0-9_-]{20,200})(@(?=[A-Za-z0-9_.\[-]))")
_CURL_USER = re.compile(r"((?:\s-u|\s--user)[ =]+[\"']?[^\s:\"']{1,60}:)([^\s\"']{3,200})")

_KEY_OF = (
    r"(?:api|access|secret|private|auth|signing|encryption|account|master|client|service|license|webhook|shared)"
    r"[_-]?"
)
_SUFFIX = r"(?:[_-]?(?:prod|production|dev|staging|test|live|value|key|base|base64|b64|hex|\d{1,3}))?"
_WORDS = r"password|passwd|passphrase|pwd|secret|token|credentials?"
_NAME_END = re.compile(rf"(?i)(?:{_WORDS}|_pass|{_KEY_OF}key){_SUFFIX}$")
_KEY_BEFORE = re.compile(rf"{_KEY_OF}$")
# Matched only where a secret's word was found, never searched for: a case-blind search costs 200 ms a 500 KB.
_ASSIGNMENT = re.compile(
    rf"(?i)((?:{_WORDS}|pass|key){_SUFFIX})"
    r"(\\{0,3}[\"']?[ \t]{0,4}(?:=>|:=|==|=|:)[ \t]{0,4})"
    r"(?:(\\{0,3}([\"'`]))([^\"'`\r\n]{4,500}?)(?=\\{0,3}\4)|([^\s\"'`,;&|<>(){}\[\]\\]{4,500})(?![(\[{.]))"
)
_FLAG = re.compile(
    rf"(?i)((?<![\w-])--?[a-z-]{{0,30}}(?:{_WORDS}|{_KEY_OF}key)[= ][ ]{{0,2}})([\"']?)([^\s\"']{{4,300}})"
)
_MYSQL_PASSWORD = re.compile(r"(\bmysql(?:dump|admin)?[ \t][^\n|;]{0,200}?\s-p)([^\s\"']{4,100})")
_QUICK_NAMES = ("pass", "pwd", "secret", "token", "credential", "key")

_PLACEHOLDER = re.compile(
    r"(?i)^(?:\[redacted|[$%<{#@&]|\.\.\.|…|[*x•_.#-]+$|your|my[_-]|the[_-]|some[_-]|example|sample|dummy|fake|changeme"
    r"|change[_-]me|replace|insert|enter|todo|none$|null$|nil$|undefined$|true$|false$|string$|str$|secretstr$|bytes$"
    r"|bool|int$|number$|optional|required|hidden|password$|passwort$|passwd$|secret$|token$|text$|redacted|process\.env"
    r"|os\.environ|os\.getenv|env\.|env\[|getenv|settings\.|config\.|self\.|this\.|secrets\.|vars\.|vault:|ref:|file:|arn:|https?://)"
)
_CODE_NAME = re.compile(r"[A-Za-z_][A-Za-z_]*(?:(?:\.|::|->)[A-Za-z_]\w*)*$")
_PATH_LIKE = re.compile(r"(?:\.{0,2}|~)/[\w./-]+$")

_BEGIN_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END_KEY = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{20,}")
# One line of a key, with what a diff, a numbered listing or a quoted string puts around it.
_KEY_LINE = re.compile(
    r"(?:\r|\n|\\r|\\n|\x1e)*[ \t\d→+|\"',-]{0,12}"
    r"([A-Za-z0-9+/=]+|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\r\n\\]*)?"
    r"[ \t\"',]*(?=[\r\n\x1e]|\\[nr]|\Z)"
)
_LONGEST_KEY = 64_000

_JOIN = "\n\x1e"
_DEEPEST = 200


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:KIND]`."""
    if len(text) < 8:
        return text
    if "PRIVATE KEY" in text:
        text = _without_private_keys(text)
    for kind, literals, pattern in _TOKENS:
        if any(literal in text for literal in literals):
            text = pattern.sub(f"[redacted:{kind}]", text)
    if "sk-" in text:
        text = _OPENAI.sub(_openai_key, text)
    if "://" in text:
        text = _URL_PASSWORD.sub(_url_password, text)
        text = _URL_TOKEN.sub(r"\1[redacted:password-in-url]\3", text)
    return _without_named_secrets(text)


def redact_json(value: JsonValue) -> JsonValue:
    """The same over every string of a JSON value, keys included; a list of strings is also read as one text."""
    return _json(value, 0)


def _without_named_secrets(text: str) -> str:
    # İ is the one character whose lower case is longer.
    lower = text.replace("İ", "I").lower()
    if "bearer" in lower or "basic" in lower:
        text = _BEARER.sub(_bearer, text)
    if "authorization" in lower:
        text = _AUTHORIZATION.sub(r"\1[redacted:bearer-token]", text)
    if "curl" in lower:
        text = _CURL_USER.sub(partial(_keep_placeholder, kind="secret"), text)
    if "mysql" in lower:
        text = _MYSQL_PASSWORD.sub(partial(_keep_placeholder, kind="secret"), text)
    text = _without_assignments(text, text.replace("İ", "I").lower())
    return _FLAG.sub(_flag, text) if "--" in text and any(name in lower for name in _QUICK_NAMES) else text


def _without_assignments(text: str, lower: str) -> str:
    parts: list[str] = []
    done = 0
    for at in _word_positions(lower):
        if at < done or (lower.startswith("key", at) and not _KEY_BEFORE.search(lower, max(0, at - 12), at)):
            continue
        found = _ASSIGNMENT.match(text, at)
        if found and (found[1].lower() != "pass" or text[at - 1 : at] == "_"):
            parts += (text[done:at], _assignment(found))
            done = found.end()
    return "".join(parts) + text[done:] if parts else text


def _word_positions(lower: str) -> list[int]:
    positions: list[int] = []
    for word in _QUICK_NAMES:
        at = lower.find(word)
        while at >= 0:
            positions.append(at)
            at = lower.find(word, at + len(word))
    return sorted(positions)


def _openai_key(found: re.Match[str]) -> str:
    token = found[0]
    looks_random = any(c.isdigit() for c in token) and any(c.isalpha() for c in token[3:])
    return "[redacted:openai-key]" if looks_random else token


def _url_password(found: re.Match[str]) -> str:
    if re.match(r"[$<{%*]|\[redacted", found[2]) or set(found[2]) <= set("xX*."):
        return found[0]
    return f"{found[1]}[redacted:password-in-url]{found[3]}"


def _keep_placeholder(found: re.Match[str], kind: str) -> str:
    return found[0] if _PLACEHOLDER.match(found[2]) else f"{found[1]}[redacted:{kind}]"


def _bearer(found: re.Match[str]) -> str:
    value = found[2]
    if _PLACEHOLDER.match(value) or not (any(c.isdigit() for c in value) or len(value) >= 24):
        return found[0]
    return f"{found[1]} [redacted:bearer-token]"


def _assignment(found: re.Match[str]) -> str:
    name, sign, opening, _quote, quoted, bare = found.groups()
    value = quoted if quoted is not None else bare
    if not _looks_real(name, value, quoted=quoted is not None, tight=not sign.endswith((" ", "\t"))):
        return found[0]
    return f"{name}{sign}{opening or ''}[redacted:secret]"


def _flag(found: re.Match[str]) -> str:
    if not _looks_real(found[1].strip("-= "), found[3], quoted=bool(found[2]), tight=True):
        return found[0]
    return f"{found[1]}{found[2]}[redacted:secret]"


def _looks_real(name: str, value: str, *, quoted: bool, tight: bool) -> bool:
    """Whether the value given to a secret's name is one, and no placeholder, type, reference or sentence."""
    if _PLACEHOLDER.match(value) or " " in value.strip() or _PATH_LIKE.match(value):
        return False
    if value.lower() == name.lower():
        return False
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    if "pass" in name.lower() or "pwd" in name.lower():
        if quoted:
            return len(value) >= 6 and not re.fullmatch(r"[A-Z][a-z]+", value)
        # `PASSWORD=hunter` is a setting; `password = user_input` is code.
        return (tight and name.isupper()) or not _CODE_NAME.match(value)
    if digits == len(value) or not letters:
        return False
    if quoted or tight:
        return (digits > 0 and len(value) >= 8) or (len(value) >= 20 and not re.fullmatch(r"[a-z_.-]+", value))
    mixed = digits > 0 and value.lower() != value and value.upper() != value
    return len(value) >= 12 and (digits >= 3 or (mixed and len(value) >= 16)) and not _CODE_NAME.match(value)


def _without_private_keys(text: str) -> str:
    """PEM blocks out, whole or cut off at either end; a header without a body is no secret."""
    parts: list[str] = []
    at = 0
    end = _END_KEY.search(text)
    while begin := _BEGIN_KEY.search(text, at):
        parts.append(_without_key_tails(text[at : begin.start()]))
        while end and end.start() < begin.end():
            end = _END_KEY.search(text, end.end())
        closed = end if end and end.start() - begin.end() < _LONGEST_KEY else None
        if closed and _KEY_BODY.search(text, begin.end(), closed.start()):
            at = closed.end()
        else:
            at = _end_of_key_lines(text, begin.end())
        parts.append("[redacted:private-key]" if at > begin.end() else begin[0])
    parts.append(_without_key_tails(text[at:]))
    return "".join(parts)


def _end_of_key_lines(text: str, start: int) -> int:
    """Where the body of a key without an END stops; `start` itself when no body follows."""
    at = start
    longest = 0
    while (line := _KEY_LINE.match(text, at)) and line.end() > at:
        at = line.end()
        length = len(line[1] or "")
        longest = max(longest, length)
        # Only the last line of a key is shorter than the others.
        if 0 < length < longest:
            break
    return at if longest >= 16 else start


def _without_key_tails(text: str) -> str:
    """The lines before an END whose BEGIN was cut away."""
    if "PRIVATE KEY" not in text:
        return text
    parts: list[str] = []
    at = 0
    for end in _END_KEY.finditer(text):
        lines = text[at : end.start()].rstrip("\n\x1e").split("\n")
        kept = len(lines)
        while kept and _KEY_BODY.search(lines[kept - 1]):
            kept -= 1
        if kept == len(lines):
            parts.append(text[at : end.end()])
        else:
            parts.append("\n".join([*lines[:kept], "[redacted:private-key]"]))
        at = end.end()
    return "".join(parts) + text[at:]


def _json(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return redact(value)
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, Sequence):
        strings = [item for item in value if isinstance(item, str)]
        if len(strings) == len(value):
            return _strings(strings)
        return [_json(item, depth + 1) for item in value]
    return value


def _object(value: Mapping[str, JsonValue], depth: int) -> dict[str, JsonValue]:
    named = value.get("name", value.get("key"))
    result: dict[str, JsonValue] = {}
    for key, item in value.items():
        name = named if key == "value" and isinstance(named, str) else key
        if isinstance(item, str) and _NAME_END.search(name) and _looks_real(name, item, quoted=True, tight=True):
            result[redact(key)] = "[redacted:secret]"
        else:
            result[redact(key)] = _json(item, depth + 1)
    return result


def _strings(strings: list[str]) -> list[JsonValue]:
    """A list of lines: a key spread over them is found, and what follows a `--password` is one."""
    if not strings:
        return []
    lines = redact(_JOIN.join(strings)).split(_JOIN)
    result: list[JsonValue] = []
    flag = ""
    for line in lines:
        secret = flag.startswith("-") and _NAME_END.search(flag) and _looks_real(flag, line, quoted=True, tight=True)
        result.append("[redacted:secret]" if secret else line)
        flag = line
    return result
