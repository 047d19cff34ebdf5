"""Command line as `python -m claude_mem_lite`, for machines without the program on the path."""

from claude_mem_lite.cli.entry import run

if __name__ == "__main__":
    run()
