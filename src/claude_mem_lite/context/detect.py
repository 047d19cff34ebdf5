"""What a folder is, from a few names in its root: fast, bounded, nothing is run and no tree is walked."""

import os

# In this order: a manifest that names the language more surely comes first.
_MANIFESTS = (
    ("Cargo.toml", "rust"),
    ("go.mod", "go"),
    ("tsconfig.json", "typescript"),
    ("pyproject.toml", "python"),
    ("setup.py", "python"),
    ("requirements.txt", "python"),
    ("package.json", "javascript"),
    ("pom.xml", "java"),
    ("build.gradle", "java"),
    ("build.gradle.kts", "java"),
    ("Gemfile", "ruby"),
    ("CMakeLists.txt", "c++"),
)


def main_language(root: str) -> str:
    """The language a project is mainly written in, by its manifest; '' when there is none."""
    return next((language for name, language in _MANIFESTS if os.path.isfile(os.path.join(root, name))), "")
