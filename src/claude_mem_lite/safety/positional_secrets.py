"""What a secret is known by when it is not its form: the spot where it stands. `commands` and `connections` list them.

Every pattern is bounded, and runs only where a sign of it occurs.

Secrets on command lines: what follows an option, and what is piped in. Called by `redact`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from claude_mem_lite.safety.prefilter import compiled
from claude_mem_lite.safety.secret_values import has_digit_and_letter, is_placeholder, looks_real

MARK = "[redacted:secret]"

_QUOTE = r"(?:\\{0,7}[\"']|&(?:quot|#x27|#39|#34);)"
# Arguments are apart by blanks, or are strings of a list: in code, or in the JSON of an event, joined by `redact`.
_PARTS = {
    "<gap>": rf"(?:[ \t]{{1,8}}(?:{_QUOTE})?|{_QUOTE},\s{{0,20}}{_QUOTE}|\n\x1e)",
    "<quote>": _QUOTE,
    # The beginning of a word; a line break before it may be an escape.
    "<start>": r"(?:\b|(?<=\\[nrt]))",
    "<blank>": r"(?:\s|\\[nrt]|\d{1,6}→){1,16}",
    "<argument>": r"(?:[^\n|;&]|\n\x1e)",
    "<value>": r"(?:(?<=\")[^\"\n\\]{3,200}|(?<=')[^'\n\\]{3,200}|[^\s\"'\\|;&,\])]{3,200})",
    "<text>": r"[^\"'\n\\]{3,200}",
    "<name>": (
        r"[\w.-]{0,60}?(?i:password|passwd|secret|token|_pass|(?:api|access|private|account|auth)[_-]?key)[\w-]{0,12}"
    ),
}
# The first letter is put before the look behind it: `re` finds a literal ten times as fast as a position.
_LITERAL_START = re.compile(r"<start>(\w)")


def _is_given(value: str) -> bool:
    return not is_placeholder(value.strip("\"'"))


@dataclass(frozen=True, slots=True)
class Spot:
    """A spot where secrets stand: the signs (see `signs`) of which one must occur, and a pattern of three groups: what
    is before, the secret, what is behind."""

    signs: tuple[str, ...]
    pattern: str
    is_secret: Callable[[str], bool]
    mark: str

    def without(self, text: str, found: set[str]) -> str:
        """The text with the mark in place of each secret in this spot; what was taken out is added to `found`."""

        def change(match: re.Match[str]) -> str:
            before, value, after = match.groups("")
            if not self.is_secret(value):
                return match[0]
            found.add(value)
            return f"{before}{self.mark}{after}"

        return compiled(self.pattern).sub(change, text)


def spot(
    signs: str,
    before: str,
    secret: str = "<value>",
    after: str = "",
    is_secret: Callable[[str], bool] = _is_given,
    mark: str = MARK,
) -> Spot:
    """A spot whose patterns are written with the names of common parts."""
    pattern = _LITERAL_START.sub(r"\1(?:(?<!\\w\1)|(?<=\\\\[nrt]\1))", f"({before})({secret})({after})")
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return Spot(tuple(signs.split("|")), pattern, is_secret, mark)


# Not a port or two: `-p8080:80`.
_NO_PORT = r"(?!\d{1,5}(?::\d{1,5})?(?:[\s\"']|$))"
_REGISTRY_CLIENTS = ("docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "oras", "helm", "oc", "az", "cf")


def _is_token(value: str) -> bool:
    return looks_real("token", value, quoted=True, tight=True)


def _is_new_password(value: str) -> bool:
    return value != "*" and not value.startswith("/")


def _is_mixed_or_hex(value: str) -> bool:
    return has_digit_and_letter(value)


def _option(word: str, command: str, flags: str) -> Spot:
    """What follows an option of a command, or is glued to it.

    The command itself does not come again in between: from there on it is tried anyway, and a text of commands would be
    read again for each."""
    return spot(word, rf"<start>{command}\b(?:(?!<start>{command}\b)<argument>){{0,200}}?(?<![\w-])(?:{flags})")


def _piped(word: str, command: str, user: str = "") -> Spot:
    return spot(
        word,
        rf"echo[ \t]{{1,8}}(?:-n[ \t]{{1,8}})?[\"']?{user}",
        after=rf"[\"']?[ \t]{{0,8}}\|[^|\n]{{0,200}}?{command}",
    )


COMMANDS: tuple[Spot, ...] = (
    spot("sshpass.", r"sshpass<gap>(?:-[ve]<gap>)?-p(?:<gap>)?"),
    _option(
        "|".join(f"{name} login." for name in _REGISTRY_CLIENTS),
        rf"(?:{'|'.join(_REGISTRY_CLIENTS)})<gap>(?:(?:acr|auth|registry)<gap>)?login",
        r"-p(?:=|<gap>)?|--password(?:=|<gap>)",
    ),
    _option("redis-cli.", "redis-cli", r"(?:-a|--pass)(?:=|<gap>)"),
    _option("mysql", r"mysql(?:dump|admin|sh|import|slap)?", rf"-p(?:<quote>)?{_NO_PORT}"),
    _option("mariadb", r"mariadb(?:-dump|-admin)?", rf"-p(?:<quote>)?{_NO_PORT}"),
    _option("mongo", r"mongo(?:sh|dump|restore|export|import)?", r"-p<gap>"),
    _option("ldap", r"ldap(?:search|modify|add|delete|whoami|passwd)", r"-w(?:<gap>)?"),
    _option("sqlcmd.", "sqlcmd", r"-P(?:<gap>)?"),
    _option("cqlsh", "cqlsh", r"-p<gap>"),
    _option("zip.|unzip.", r"(?:un)?zip", r"-P<gap>"),
    _option("7z.|7za.|7zr.", r"7z[ar]?", rf"-p(?:<quote>)?{_NO_PORT}"),
    _option("ssh-keygen.", "ssh-keygen", r"-[NP]<gap>"),
    _option(
        "storepass.|keypass.|srcstorepass.|deststorepass.",
        r"(?:keytool|jarsigner)",
        r"-(?:src|dest)?(?:store|key)pass<gap>",
    ),
    _option("openssl.", "openssl", r"-[kK]<gap>(?![\w./-]*\.(?:pem|key)\b)"),
    spot("pass:", r"\s-pass(?:in|out)?[ =]{1,4}(?:<quote>)?pass:", r"[^\s\"'\\]{3,200}"),
    _option("smbclient", "smbclient", r"(?:-U|--user)(?:=|<gap>)?[\w.\\/-]{1,60}%"),
    _option("lftp.", "lftp", r"-u<gap>[\w.@-]{1,60},"),
    _option("nmcli.", "nmcli", r"password<gap>"),
    _option("xfreerdp.|xfreerdp3.|wfreerdp.", r"[wx]freerdp3?", "/p:"),
    _option("rabbitmqctl", "rabbitmqctl", r"(?:add_user|change_password)<gap>[\w.-]{1,60}<gap>"),
    _option("wpa_passphrase", "wpa_passphrase", r"[\w-]{1,40}<gap>"),
    _option("gh secret.", "gh<gap>secret<gap>set", r"(?:-b|--body)(?:=|<gap>)"),
    spot("vault login.", r"<start>vault<gap>login<gap>(?=[\w.-]{16})"),
    spot("from-literal=", r"--from-literal(?:=|<gap>)[\w.-]{1,80}="),
    spot(
        "configure set.|config set.",
        r"config(?:ure)? set [\w./:@-]{0,100}(?:secret|[tT]oken|password|_auth)\w{0,20}<gap>",
    ),
    spot(
        "mc alias.",
        r"<start>mc<gap>alias<gap>set<gap>[\w-]{1,40}<gap>https?://[\w.:/-]{1,100}<gap>[^\s\"',]{1,60}<gap>",
    ),
    spot("htpasswd.", r"<start>htpasswd<gap>-\w{0,8}n\w{0,8}<gap>[^\s\"',]{1,100}<gap>"),
    spot(
        "htpasswd.", r"<start>htpasswd<gap>-(?!\w{0,8}n)\w{0,8}b\w{0,8}<gap>[^\s\"',]{1,200}<gap>[^\s\"',]{1,100}<gap>"
    ),
    # USER:PASSWORD
    spot(
        "curl.",
        r"(?:\s|<quote>|\n\x1e)(?:-[uU](?:=|<gap>)?|--(?:proxy-)?user(?:=|<gap>))(?:<quote>)?[^\s:\"'/]{1,60}:",
        r"(?!\d{1,10}(?:\s|$))[^\s\"'\\]{3,200}",
    ),
    _piped("sudo.", r"\bsudo[ \t]{1,8}-S"),
    _piped("stdin.", r"--(?:password-)?stdin\b"),
    _piped("with-token.", r"--with-token\b"),
    _piped("chpasswd.", r"\bchpasswd\b", user=r"[\w.-]{1,60}:"),
    spot("auth.", r"--(?:proxy-|basic-)?auth(?:=|<gap>)(?:<quote>)?[^\s:\"'/]{1,60}:", r"[^\s\"'\\]{3,200}"),
    spot(
        "*http -|*https -|*xh -",
        r"<start>(?:https?|xh)[ \t]{1,4}(?:--?[\w=-]{1,30}[ \t]{1,4}){0,6}-a<gap>(?:<quote>)?[^\s:\"'/]{1,60}:",
        r"[^\s\"'\\]{3,200}",
    ),
    spot(
        "curl.",
        r"[\s\"']-b(?:<gap>|(?=\w))(?:<quote>)?[\w.-]{1,60}=",
        r"[^\s;\"'\\]{6,2000}",
        is_secret=has_digit_and_letter,
    ),
    # Windows.
    spot(
        "net use.",
        r"<start>net<gap>use<gap>(?:\S{1,3}<gap>)?(?:(?<=[\"'])\\{2,16}[^\"'\n]{1,100}<quote>|\\{2,16}[^\s\"']{1,100})<gap>(?!/)",
    ),
    spot("net use.", r"<start>net<gap>use<gap>[^\n]{0,150}?/user:[^\s\"']{1,60}<gap>(?!/|\\)"),
    spot("net user.", r"<start>net<gap>user<gap>[\w.-]{1,60}<gap>(?!/)", is_secret=_is_new_password),
    spot("psexec.|psexec64.", r"(?i:psexec(?:64)?)(?:\.exe)?[^\n]{0,150}?[ \t]-p<gap>"),
    spot("pass:", r"/(?:pass|password|p):"),
    # Shares of a key that opens a vault.
    spot(
        "unseal.",
        r"(?i:unseal)(?s:.{1,400}?)(?<![\w+/=])",
        r"(?:[A-Za-z0-9+/]{43,44}={0,2}|[0-9a-f]{64,66})",
        r"(?![\w+/=])",
        is_secret=_is_mixed_or_hex,
    ),
    # NAME VALUE
    spot("setx.|setenv.", r"<start>(?i:set(?:x|env))<gap><name><gap>"),
    spot(
        "env.|arg.",
        r"[EA](?:NV|RG)(?:(?<![\w-][EA]..)|(?<=\\n[EA]..))[ \t]{1,8}<name>[ \t]{1,8}(?:<quote>)?",
        is_secret=_is_token,
    ),
)
