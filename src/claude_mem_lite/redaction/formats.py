"""Secrets that are known by their own form: tokens of well-known services and private keys.

Called by `redact` on every text an event holds. Every pattern takes time in proportion to the text, whatever it is:
`re` lets no other thread run meanwhile, so a slow one would stop the whole worker."""

import re

# A token may follow an escaped line break ("\nghp_…" inside a string that holds JSON).
_EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"


def _at_edge(literal: str, rest: str) -> str:
    """A pattern whose literal begins a word. Looked for first, back from its end: 1 ms a 500 KB instead of 15."""
    start = re.escape(literal)
    return rf"{start}(?:(?<![A-Za-z0-9_]{start})|(?<=\\[nrt]{start})){rest}"


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
            r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
        ),
        (
            "discord-webhook",
            "/webhooks/",
            r"discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks/\d{5,25}/[A-Za-z0-9_-]{20,}",
        ),
        ("teams-webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{20,}"),
        ("stripe-key", "_live_ _test_", _EDGE + r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("stripe-key", "whsec_", _at_edge("whsec_", r"[A-Za-z0-9+/=]{24,}")),
        ("google-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("google-key", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
        ("google-key", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
        ("npm-token", "npm_", _at_edge("npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])")),
        ("pypi-token", "pypi-", _at_edge("pypi-", r"[A-Za-z0-9_-]{50,}")),
        ("gitlab-token", "gl", _at_edge("gl", r"(?:pat|dt|ptt|rt|cbt|ft|soat|agent|oas|imt)-[A-Za-z0-9_-]{20,}")),
        ("huggingface-token", "hf_", _at_edge("hf_", r"[A-Za-z0-9]{30,}")),
        ("sendgrid-key", "SG.", _at_edge("SG.", r"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}")),
        ("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
        ("shopify-token", "shp", _at_edge("shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}")),
        ("databricks-token", "dapi", _at_edge("dapi", r"[a-f0-9]{32}")),
        ("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,34}"),
        ("twilio-key", "SK", _at_edge("SK", r"[0-9a-f]{32}(?![0-9A-Za-z])")),
        ("vault-token", "hvs. hvb.", _at_edge("hv", r"[sb]\.[A-Za-z0-9_-]{24,}")),
        ("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
        ("azure-key", "AccountKey= SharedAccessKey=", r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/=]{40,}"),
        ("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
        ("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{50,}"),
        ("grafana-token", "glsa_ glc_", _at_edge("gl", r"(?:sa|c)_[A-Za-z0-9+/=_]{32,}")),
        ("groq-key", "gsk_", _at_edge("gsk_", r"[A-Za-z0-9]{40,}")),
        ("xai-key", "xai-", _at_edge("xai-", r"[A-Za-z0-9]{40,}")),
        ("linear-key", "lin_", _at_edge("lin_", r"(?:api|oauth)_[A-Za-z0-9]{30,}")),
        ("notion-token", "ntn_", _at_edge("ntn_", r"[A-Za-z0-9]{40,}")),
        ("supabase-key", "sbp_", _at_edge("sbp_", r"[a-f0-9]{40}")),
        ("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
        (
            "discord-token",
            "iscord ISCORD",
            r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        ),
    )
)
_OPENAI = re.compile(_at_edge("sk-", r"[A-Za-z0-9_-]{20,}"))
_JWT_EDGE = re.compile(_EDGE)
_JWT = re.compile(r"([A-Za-z0-9_-]{11,}+)(\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){1,3})?")

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


def without_known_secrets(text: str) -> str:
    """The text with `[redacted:KIND]` in place of every secret that its form gives away."""
    if "PRIVATE KEY" in text:
        text = _without_private_keys(text)
    for kind, literals, pattern in _TOKENS:
        if any(literal in text for literal in literals):
            text = pattern.sub(f"[redacted:{kind}]", text)
    if "eyJ" in text:
        text = _without_jwts(text)
    return _OPENAI.sub(_openai_key, text) if "sk-" in text else text


def _without_jwts(text: str) -> str:
    parts: list[str] = []
    done = 0
    at = text.find("eyJ")
    while at >= 0:
        end = at + 3
        if _JWT_EDGE.match(text, at) and (found := _JWT.match(text, at)):
            # A part without a dot behind it is passed over whole: it may begin again and again ("-eyJ-eyJ…").
            end = found.end()
            if found[2]:
                parts += (text[done:at], "[redacted:jwt]")
                done = end
        at = text.find("eyJ", end)
    return "".join(parts) + text[done:] if parts else text


def _openai_key(found: re.Match[str]) -> str:
    token = found[0]
    looks_random = any(c.isdigit() for c in token) and any(c.isalpha() for c in token[3:])
    return "[redacted:openai-key]" if looks_random else token


def _without_private_keys(text: str) -> str:
    """PEM blocks out, whole or cut off at either end; a header without a body is no secret."""
    parts: list[str] = []
    at = 0
    begin, end = _BEGIN_KEY.search(text), _END_KEY.search(text)
    while begin:
        if begin.start() < at:
            begin = _BEGIN_KEY.search(text, at)
            continue
        following = _BEGIN_KEY.search(text, begin.end())
        parts.append(_without_key_tails(text[at : begin.start()]))
        while end and end.start() < begin.end():
            end = _END_KEY.search(text, end.end())
        limit = min(begin.end() + _LONGEST_KEY, following.start() if following else len(text))
        if end and end.start() < limit and _KEY_BODY.search(text, begin.end(), end.start()):
            at = end.end()
        else:
            at = _end_of_key_lines(text, begin.end())
        parts.append("[redacted:private-key]" if at > begin.end() else begin[0])
        begin = following
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
