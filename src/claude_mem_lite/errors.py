"""Everything this package raises on purpose.

MemoryLiteError
├── PayloadError        an event that cannot be read; its reason is kept with it
├── ConfigError         a setting that is wrong, with the place where it stands
├── SettingsError       an agent's settings file that must not be touched
│   └── SettingsChanged     it was written by another program at the same moment
├── SchemaTooNew        a database written by a newer version
├── NotFound            no memory, session or event by that id
├── Ambiguous           an id prefix that fits more than one
├── InvalidRequest      a request to the worker that is not as its handler declares it
├── ModelError          a model gave no usable answer; `usage` says what it took all the same
│   ├── ModelUnavailable    trying again may help: connection, rate limit, 5xx, time out
│   └── ModelRefused        it will not: 4xx, no key, an unusable answer
├── WorkerUnavailable   nobody answers on the socket
│   ├── WorkerSilent        somebody is there, but does not answer in time
│   └── WorkerEnded         it ended before it could answer, mostly to have a database recovered
│       └── CommandNotAccepted  and has nothing of what it was told to do: the next one can be told
└── WorkerRefused       the worker answered with an error
"""

from pathlib import Path

from claude_mem_lite.models import Usage


class MemoryLiteError(Exception):
    """Base of the tree; `next_step` tells the user what to do about it."""

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


class InvalidRequest(MemoryLiteError):
    """Says where and why."""

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
        """Nobody knows what it took: it was sent, and no answer came."""


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


def joined(told: str, next_step: str) -> str:
    """What happened and what to do about it, in one line."""
    if told.endswith("?"):  # as one that asks what was meant
        return f"{told} {next_step[:1].upper()}{next_step[1:]}".rstrip()
    return f"{told}; {next_step}" if next_step else told


def unreadable(path: Path | str, error: OSError) -> MemoryLiteError:
    """For a path that the user has chosen."""
    return MemoryLiteError(f"{path} cannot be read: {_reason(error)}", "choose one that you can read")


def unwritable(path: Path | str, error: OSError) -> MemoryLiteError:
    """For a path that the user has chosen."""
    return MemoryLiteError(f"{path} cannot be written: {_reason(error)}", "choose one that you can write")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
