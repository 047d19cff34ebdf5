"""`python -m claude_mem_lite`: the command line, where its program is not on the path."""

from claude_mem_lite.cli.entry import run

if __name__ == "__main__":
    run()
