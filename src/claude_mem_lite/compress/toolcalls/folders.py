"""The folder a tool worked in, and how paths are written as seen from the root of its checkout."""

import posixpath
from dataclasses import dataclass

from claude_mem_lite.compress.prose.clean import storable
from claude_mem_lite.models import Event


@dataclass(frozen=True, slots=True)
class Folder:
    """A working folder, and where it stands in its checkout: nothing at the root."""

    path: str
    inside: str = ""

    @property
    def root(self) -> str:
        """The root of the checkout, spelt as the client spells its folders."""
        path = self.path.rstrip("/")
        return path.removesuffix(f"/{self.inside}") if self.inside else path

    def name(self, path: str) -> str:
        """A path as seen from the root, when it is inside the checkout; else as it was given."""
        path = storable(path)
        if not self.root or path.startswith("~"):
            return path
        whole = path if path.startswith("/") else f"{self.path.rstrip('/')}/{path}"
        whole = posixpath.normpath(whole) if "/." in whole or "//" in whole else whole
        return whole[len(self.root) + 1 :] if whole.startswith(f"{self.root}/") else path

    def shorten(self, text: str) -> str:
        """A text with the paths in it as seen from the root."""
        return text.replace(f"{self.root}/", "") if len(self.root) > 1 else text


def folder_of(event: Event) -> Folder:
    return Folder(event.cwd, event.inside)
