"""`python -m claude_mem_lite.worker`: how hooks and the command line start the worker."""

import sys

from claude_mem_lite.paths import find_home
from claude_mem_lite.worker.process import run

if __name__ == "__main__":
    sys.exit(run(find_home()))
