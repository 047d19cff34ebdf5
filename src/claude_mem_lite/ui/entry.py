"""How a browser comes by the token: for the code in a link, which opens the page once.

A browser keeps every address it was at, with what stands behind the #, and some carry that to other machines. So what
stands there is worth nothing any more once it was used."""

import hmac
import secrets
import threading

_BYTES = 32


class Entry:
    """The token of one run, and the code that the next browser is let in by. Any thread may ask."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(_BYTES)
        self._code = secrets.token_urlsafe(_BYTES)
        self._used: set[str] = set()
        self._lock = threading.Lock()

    @property
    def code(self) -> str:
        return self._code

    def enter(self, code: str) -> str | None:
        """The token, for the code in force; another holds from then on. None for any other code."""
        with self._lock:
            if not hmac.compare_digest(code.encode(errors="surrogatepass"), self._code.encode()):
                return None
            self._used.add(self._code)
            self._code = secrets.token_urlsafe(_BYTES)
            return self.token

    def was_used(self, code: str) -> bool:
        """Whether a browser was let in by this code before."""
        with self._lock:
            return code in self._used
