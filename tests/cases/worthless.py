"""Turns that leave nothing to remember."""

from tests.cases.case import Case, bash, bash_failed, read, tool, tool_failed

CASES = (
    Case("a greeting", "hi there", [], "Hello! What shall we work on?", memories=0),
    Case(
        "looking around",
        "what is in this folder?",
        [
            bash("ls -la", "total 48\ndrwxr-xr-x 8 dev dev 4096 Mar  4 10:00 .\n-rw-r--r-- 1 dev dev 911 README.md\n"),
            bash("cat README.md", "# Shop\n\nA shop.\n"),
            bash("git status --short", " M shop/cart.py\n"),
        ],
        "A small shop with a README.",
        memories=0,
    ),
    Case(
        "reading and searching",
        "open the cart",
        [
            read("shop/cart.py", "class Cart:\n    pass\n"),
            tool("Grep", {"pattern": "Cart"}, {"mode": "files_with_matches", "filenames": ["shop/cart.py"]}),
            bash("rg -n Cart shop | head", "shop/cart.py:1:class Cart:\n"),
        ],
        "There it is.",
        memories=0,
    ),
    Case(
        "a search that finds nothing",
        "do we use celery?",
        [bash_failed("grep -rn celery shop", "", 1)],
        "No.",
        memories=0,
    ),
    Case(
        "a file that is not there",
        "show me the config",
        [
            tool_failed("Read", {"file_path": "/home/dev/shop/config.yml"}, "File does not exist."),
            bash_failed("cat config.yml", "cat: config.yml: No such file or directory"),
        ],
        "There is none.",
        memories=0,
    ),
    Case(
        "an edit that did not fit",
        "rename it",
        [
            tool_failed(
                "Edit",
                {"file_path": "/home/dev/shop/a.py", "old_string": "x", "new_string": "y"},
                "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
            )
        ],
        "I could not find it.",
        memories=0,
    ),
    Case(
        "the user says no",
        "clean up",
        [
            tool_failed(
                "Bash",
                {"command": "rm -rf data"},
                "The user doesn't want to proceed with this tool use. The tool use was rejected",
            )
        ],
        "I leave it.",
        memories=0,
    ),
    Case(
        "thanks",
        "thanks, that's all",
        [],
        "You're welcome!",
        memories=0,
    ),
    Case(
        "a server is started in the background",
        "start the dev server",
        [bash("npm run dev", "", run_in_background=True, backgroundTaskId="b118vp15m")],
        "It runs in the background.",
        memories=0,
    ),
)
