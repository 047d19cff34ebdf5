"""Commands that print nothing but a secret, without a name or a format. Called by `redact` for shell calls with their
output, and for texts that show both."""

from collections.abc import Iterator

from claude_mem_lite.safety.unescaped_view import UnescapedView, body_of_line

# Parts of a command, in this order. Plain literals, because every text is searched for them.
_REVEALING: tuple[tuple[str, ...], ...] = (
    *(("kubectl ", "secret", f"base64 {flag}") for flag in ("-d", "-D", "--decode")),
    *(("kubectl create token",), ("kubeadm token create",), ("vault ", "-field"), ("vault print token",)),
    *(("op read ",), ("op item get ", "--fields"), ("op item get ", "--reveal"), ("pass show ",), ("bw get password",)),
    *(("lpass show ",), ("keyring get ",), ("secret-tool lookup ",), ("find-generic-password ", "-w")),
    *(("find-internet-password ", "-w"), ("get-secret-value ", "SecretString"), ("get-parameter", "--with-decryption")),
    *(("ecr get-login-password",), ("secrets versions access ",), ("print-access-token",), ("print-identity-token",)),
    *(("keyvault secret show ", "value"), ("account get-access-token",), ("gh auth token",), ("heroku config:get ",)),
    *(("doppler secrets get ", "--plain"), ("terraform output ", "-raw", "password"), ("cat ", "/run/secrets/")),
    *(("terraform output ", "-raw", "secret"), ("terraform output ", "-raw", "token"), ("cat ", ".vault-token")),
    *((command, name) for command in ("printenv ", "echo $", 'echo "$') for name in ("PASSWORD", "TOKEN", "SECRET")),
    *(("openssl rand ",), ("pwgen ",), ("sops ", "-d"), ("chamber read ", "-q")),
)  # fmt: skip
SIGNS = tuple({f"{parts[0]}." for parts in _REVEALING})
_MAX_LINES = 3
_MAX_OUTPUT = 8_000
_MAX_COMMAND = 2_000
_MIN_SECRET = 6
_PROMPTS = "$#>%"


def prints_secret(command: str) -> bool:
    """Return whether a command prints nothing but a secret."""
    return any(_has(command[:_MAX_COMMAND], parts) for parts in _REVEALING)


def is_bare(output: str) -> bool:
    """Return whether an output is a few words without blanks, each on its own line."""
    if len(output) > _MAX_OUTPUT:
        return False
    words, lines = output.split(), output.strip().splitlines()
    return 0 < len(words) <= _MAX_LINES and len(words) == len(lines) and len(output.strip()) >= _MIN_SECRET


def without_revealed(text: str, removed: set[str]) -> str:
    """Return the text without the line below such a command."""
    view = UnescapedView(text)
    parts: list[str] = []
    done = 0
    for start, end in _revealed(view.text):
        removed.add(view.text[start:end])
        start, end = view.original(start, end)
        if start >= done:
            parts += (text[done:start], "[redacted:secret]")
            done = end
    return "".join(parts) + text[done:] if parts else text


def _revealed(text: str) -> list[tuple[int, int]]:
    return sorted({span for parts in _REVEALING for span in _below(text, parts)})


def _below(text: str, parts: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    at = text.find(parts[0])
    while at >= 0:
        end = text.find("\n", at, at + _MAX_COMMAND)
        if end < 0:
            at = text.find(parts[0], at + _MAX_COMMAND)
            continue
        line = text[max(0, at - 200) : at].rpartition("\n")[2]
        is_shown = any(prompt in line for prompt in _PROMPTS)
        if is_shown and _has(text[at:end], parts) and (span := _only_word(text, end + 1)):
            yield span
        at = text.find(parts[0], end)


def _only_word(text: str, start: int) -> tuple[int, int] | None:
    """Return the only word of a line."""
    end = text.find("\n", start, start + _MAX_COMMAND)
    end = end if end >= 0 else min(len(text), start + _MAX_COMMAND)
    start = body_of_line(text, start, end)
    word = text[start:end].strip().split('"')[0].split("<")[0].rstrip("'\\`")
    if len(word) < _MIN_SECRET or any(map(str.isspace, word)):
        return None
    start = text.index(word, start)
    return start, start + len(word)


def _has(line: str, parts: tuple[str, ...]) -> bool:
    at = 0
    for part in parts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
