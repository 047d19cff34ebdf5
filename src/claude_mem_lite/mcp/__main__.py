"""`python -m claude_mem_lite.mcp`: the same as `claude-mem-lite mcp`."""

import sys

from claude_mem_lite.mcp.server import main

if __name__ == "__main__":
    sys.exit(main())
