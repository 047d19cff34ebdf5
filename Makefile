# Each target sets up what it needs in a local .venv (and .e2e for the real client).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CLAUDE_CODE_VERSION := 2.1.325
CLIENT := .e2e/.claude-code-$(CLAUDE_CODE_VERSION)

.PHONY: demo test lint e2e bench bench-scale bench-prompts bench-harm bench-code bench-sessions clean

demo: $(READY)
	@$(BIN)/python -m demo

test: lint
	$(BIN)/python -m pytest -m "not e2e" -n auto --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

e2e: $(READY) $(CLIENT)
	$(BIN)/python -m pytest -m e2e tests/e2e

bench: $(READY)
	$(BIN)/python -m benchmarks

# Fills homes of up to 1,000,000 memories: about 6 GB of disk for a while, and half an hour.
bench-scale: $(READY)
	$(BIN)/python -m benchmarks.scale

# Fills a home of 100,000 memories: about 600 MB of disk for a while, and five minutes.
bench-prompts: $(READY)
	$(BIN)/python -m benchmarks.prompt_speed

# Plants harmful memories among 4,400 others, each beside a good one with the same words.
bench-harm: $(READY)
	$(BIN)/python -m benchmarks.harm

# Makes a repository of 20,000 files and 10,000 memories about them: about ten minutes.
bench-code: $(READY)
	$(BIN)/python -m benchmarks.anchored

# DATA: a folder of recorded sessions, as benchmarks/README.md tells. All parts run, whatever one of them says.
bench-sessions: $(READY)
	@test -n "$(DATA)" || { echo "make bench-sessions DATA=FOLDER needs a folder of recorded sessions (benchmarks/README.md)"; exit 1; }
	@failed=0; for part in retrieval compression facts cost code injection prompts silence outcomes corrections import_transcripts false_alarms redaction; do \
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
	@rm -rf .e2e && mkdir -p .e2e
	@npm install --prefix .e2e --no-save --no-audit --no-fund --loglevel=error @anthropic-ai/claude-code@$(CLAUDE_CODE_VERSION)
	@touch $(CLIENT)
