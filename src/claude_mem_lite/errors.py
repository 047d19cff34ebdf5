"""Exceptions that this package raises on purpose.

MemoryLiteError
├── PayloadError        an event that cannot be read; stored with the reason
├── ConfigError         a wrong setting, with its file and key
├── SettingsError       an agent's settings file that must not be changed
│   └── SettingsChanged     another program wrote the file at the same moment
├── SchemaTooNew        a database written by a newer version
├── NotFound            no memory, session or event with this id
├── Ambiguous           an id prefix that matches several
├── ControlSession      a session without memories, in the user's experiment, asks for memories
├── InvalidRequest      a request to the worker that does not fit its handler
├── ModelError          a model gave no usable answer; `usage` is the cost
│   ├── ModelUnavailable    a retry may help: connection, rate limit, 5xx, time out
│   └── ModelRefused        a retry cannot help: 4xx, no key, an unusable answer
├── WorkerUnavailable   no answer on the socket
│   ├── WorkerSilent        connected, but no answer in time
│   └── WorkerEnded         the worker ended before the answer, mostly to recover a database
│       └── CommandNotAccepted  the command was not stored: the next worker can be asked
└── WorkerRefused       the worker answered with an error
"""

from pathlib import Path

from claude_mem_lite.providers import Usage


class MemoryLiteError(Exception):
    """Base of the tree; `next_step` tells the user what to do."""

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return joined(self.message, self.next_step)


class PayloadError(MemoryLiteError):
    pass


class ConfigError(MemoryLiteError):
    pass


class SettingsError(MemoryLiteError):
    pass


class SettingsChanged(SettingsError):
    pass


class SchemaTooNew(MemoryLiteError):
    pass


class NotFound(MemoryLiteError):
    pass


class Ambiguous(MemoryLiteError):
    pass


class ControlSession(MemoryLiteError):
    pass


class InvalidRequest(MemoryLiteError):
    """Error with the place and the reason."""

    def __init__(self, why: str, *where: str | int) -> None:
        super().__init__(f"{'.'.join(map(str, where))}: {why}")


class ModelError(MemoryLiteError):
    def __init__(
        self,
        message: str,
        next_step: str = "",
        usage: Usage = Usage(),  # noqa: B008  frozen
        *,
        may_have_cost: bool = False,
    ) -> None:
        super().__init__(message, next_step)
        self.usage = usage
        self.may_have_cost = may_have_cost
        """True if a request was sent and no answer came, so that the cost is unknown."""


class ModelUnavailable(ModelError):
    pass


class ModelRefused(ModelError):
    pass


class WorkerUnavailable(MemoryLiteError):
    pass


class WorkerSilent(WorkerUnavailable):
    pass


class WorkerEnded(WorkerUnavailable):
    pass


class CommandNotAccepted(WorkerEnded):
    pass


class WorkerRefused(MemoryLiteError):
    pass


def joined(message: str, next_step: str) -> str:
    """Return message and next step as one line."""
    if message.endswith("?"):  # the message itself asks a question
        return f"{message} {next_step[:1].upper()}{next_step[1:]}".rstrip()
    return f"{message}; {next_step}" if next_step else message


def unreadable(path: Path | str, error: OSError) -> MemoryLiteError:
    """Return the error for a path that the user chose."""
    return MemoryLiteError(f"{path} cannot be read: {_reason(error)}", "choose one that you can read")


def unwritable(path: Path | str, error: OSError) -> MemoryLiteError:
    """Return the error for a path that the user chose."""
    return MemoryLiteError(f"{path} cannot be written: {_reason(error)}", "choose one that you can write")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
