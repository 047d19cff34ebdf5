# Each target sets up what it needs in a local .venv (and .e2e for the real clients).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CLAUDE_CODE_VERSION := 2.1.325
CODEX_VERSION := 0.166.0
COPILOT_VERSION := 1.0.102
GEMINI_CLI_VERSION := 0.61.0
OPENCODE_VERSION := 1.18.33
AXE_VERSION := 4.14.0
CLIENT := .e2e/.claude-code-$(CLAUDE_CODE_VERSION)
CODEX := .e2e/codex/.codex-$(CODEX_VERSION)
COPILOT := .e2e/copilot/.copilot-$(COPILOT_VERSION)
GEMINI := .e2e/gemini/.gemini-cli-$(GEMINI_CLI_VERSION)
OPENCODE := .e2e/opencode/.opencode-$(OPENCODE_VERSION)
AXE := .e2e/axe/.axe-$(AXE_VERSION)
BROWSER := .e2e/.chromium
NPM_INSTALL := npm install --no-save --no-audit --no-fund --loglevel=error

.PHONY: demo test lint e2e bench bench-scale bench-prompts bench-page bench-harm bench-code bench-sessions release-check clean

demo: $(READY)
	@$(BIN)/python -m demo

# Compiled tests are kept whatever the environment says: to compile them anew takes each process a quarter of a minute.
# Files start in the order of tests/conftest.py: by default files with few tests, some of them long, would start last.
test: lint
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m "not e2e" -n auto --dist loadfile --no-loadscope-reorder

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

e2e: $(READY) $(CLIENT) $(CODEX) $(COPILOT) $(GEMINI) $(OPENCODE) $(AXE) $(BROWSER)
	$(BIN)/python -m pytest -m e2e tests/e2e -n auto --dist loadfile

# The built wheel, run by uvx, pipx and pip with every Python that is found: some minutes.
release-check: $(READY)
	$(BIN)/python -m tools.release

# AGAINST: the checkout of another version with its own .venv, to compare with; DATA: folders of recorded sessions for imports.
bench: $(READY)
	$(BIN)/python -m benchmarks$(if $(AGAINST),.compare "$(AGAINST)" $(DATA))

# Fills homes of up to 1,000,000 memories: about 6 GB of disk for a while, and half an hour.
bench-scale: $(READY)
	$(BIN)/python -m benchmarks.scale

# Fills a home of 100,000 memories: about 600 MB of disk for a while, and five minutes.
bench-prompts: $(READY)
	$(BIN)/python -m benchmarks.prompt_speed

# The same home, in a real browser: Chromium has to be there.
bench-page: $(READY)
	$(BIN)/python -m benchmarks.page_speed

# Plants harmful memories among 4,400 others, each beside a good one with the same words.
bench-harm: $(READY)
	$(BIN)/python -m benchmarks.harm

# Makes a repository of 20,000 files and 10,000 memories about them: about ten minutes.
bench-code: $(READY)
	$(BIN)/python -m benchmarks.anchored

# DATA: a folder of recorded sessions, as benchmarks/README.md tells. All parts run, whatever one of them says.
bench-sessions: $(READY)
	@test -n "$(DATA)" || { echo "make bench-sessions DATA=FOLDER needs a folder of recorded sessions (benchmarks/README.md)"; exit 1; }
	@failed=0; for part in retrieval compression facts cost code injection prompts silence outcomes import_transcripts false_alarms redaction; do \
		$(BIN)/python -m benchmarks.$$part "$(DATA)" || failed=1; done; exit $$failed

clean:
	rm -rf $(VENV) .e2e dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; run make PYTHON=/path/to/python3")'
	@echo "Setting up $(VENV) (once; about a minute) …"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

$(CLIENT):
	@command -v npm >/dev/null || { echo "make e2e runs the real Claude Code client and needs npm (Node.js 18 or newer) to install it"; exit 1; }
	@echo "Installing the Claude Code client $(CLAUDE_CODE_VERSION) into .e2e (about 350 MB, once) …"
	@rm -rf .e2e/node_modules .e2e/.claude-code-* && mkdir -p .e2e
	@$(NPM_INSTALL) --prefix .e2e @anthropic-ai/claude-code@$(CLAUDE_CODE_VERSION)
	@touch $(CLIENT)

# Each in a folder of its own: npm takes away what the last of several installs into one did not ask for.
$(CODEX):
	@command -v npm >/dev/null || { echo "make e2e runs the real Codex CLI and needs npm (Node.js 18 or newer) to install it"; exit 1; }
	@echo "Installing Codex CLI $(CODEX_VERSION) into .e2e/codex (about 440 MB, once) …"
	@rm -rf .e2e/codex && mkdir -p .e2e/codex
	@$(NPM_INSTALL) --prefix .e2e/codex @openai/codex@$(CODEX_VERSION)
	@touch $(CODEX)

$(COPILOT):
	@command -v npm >/dev/null || { echo "make e2e runs the real Copilot CLI and needs npm (Node.js 20 or newer) to install it"; exit 1; }
	@echo "Installing Copilot CLI $(COPILOT_VERSION) into .e2e/copilot (about 190 MB, once) …"
	@rm -rf .e2e/copilot && mkdir -p .e2e/copilot
	@$(NPM_INSTALL) --prefix .e2e/copilot @github/copilot@$(COPILOT_VERSION)
	@touch $(COPILOT)

$(GEMINI):
	@command -v npm >/dev/null || { echo "make e2e runs the real Gemini CLI and needs npm (Node.js 20 or newer) to install it"; exit 1; }
	@echo "Installing Gemini CLI $(GEMINI_CLI_VERSION) into .e2e/gemini (about 100 MB, once) …"
	@rm -rf .e2e/gemini && mkdir -p .e2e/gemini
	@$(NPM_INSTALL) --prefix .e2e/gemini @google/gemini-cli@$(GEMINI_CLI_VERSION)
	@touch $(GEMINI)

$(OPENCODE):
	@command -v npm >/dev/null || { echo "make e2e runs the real OpenCode and needs npm (Node.js 18 or newer) to install it"; exit 1; }
	@echo "Installing OpenCode $(OPENCODE_VERSION) into .e2e/opencode (about 350 MB, once) …"
	@rm -rf .e2e/opencode && mkdir -p .e2e/opencode
	@$(NPM_INSTALL) --prefix .e2e/opencode opencode-ai@$(OPENCODE_VERSION)
	@touch $(OPENCODE)

$(AXE):
	@command -v npm >/dev/null || { echo "make e2e looks at pages with axe-core and needs npm (Node.js 18 or newer) to install it"; exit 1; }
	@rm -rf .e2e/axe && mkdir -p .e2e/axe
	@$(NPM_INSTALL) --prefix .e2e/axe axe-core@$(AXE_VERSION)
	@touch $(AXE)

# The browser is a package of the system's: where that is not Debian's, or nobody may install, it has to be there.
$(BROWSER):
	@mkdir -p .e2e
	@if [ -x "$$CHROMIUM" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium (about 400 MB, once) …"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else echo "make e2e opens pages in Chromium: install it, or set CHROMIUM to its path"; exit 1; fi
	@touch $(BROWSER)
