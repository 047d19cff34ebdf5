"""The key of a provider: from the variable that its SDK uses, else from the file `api-key` in the home."""

import os
import stat
from collections.abc import Mapping

from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.paths import Home

_LONGEST = 4_096


def read_key(variable: str, home: Home, environment: Mapping[str, str]) -> str:
    """The key, '' when there is none. ModelRefused for a file that others can read, and for what cannot be a key."""
    place, key = variable, environment.get(variable, "").strip()
    if not key:
        place, key = str(home.api_key), _from_file(home)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelRefused(f"what {place} holds is no key", "put the key there, and nothing else")
    return key


def _from_file(home: Home) -> str:
    path = home.api_key
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ModelRefused(f"{path} cannot be read: {error.strerror}", "make it a plain file of yours") from None
    with open(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise ModelRefused(f"{path} is not a file of yours", "put the key into a plain file of your own")
        if found.st_mode & 0o077:
            raise ModelRefused(f"{path} can be read by others", f"run `chmod 600 {path}`")
        return file.read(_LONGEST).decode("utf-8", "replace").strip()
