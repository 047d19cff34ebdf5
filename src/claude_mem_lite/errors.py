"""Everything this package raises on purpose.

MemoryLiteError
├── PayloadError        an event that cannot be read; its reason is kept with it
├── ConfigError         a setting that is wrong, with the place where it stands
├── SettingsError       an agent's settings file that must not be touched
│   └── SettingsChanged     it was written by another program at the same moment
├── SchemaTooNew        a database written by a newer version
├── NotFound            no memory, session or event by that id
├── Ambiguous           an id prefix that fits more than one
├── WorkerUnavailable   nobody answers on the socket
└── WorkerRefused       the worker answered with an error
"""


class MemoryLiteError(Exception):
    """Base of the tree; `next_step` tells the user what to do about it."""

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.message}; {self.next_step}" if self.next_step else self.message


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


class WorkerUnavailable(MemoryLiteError):
    pass


class WorkerRefused(MemoryLiteError):
    pass
