"""git and gh: what was recorded, and what did not go through."""

from tests.cases.case import Case, bash, bash_failed, edit

RATES = "RATES = {'EUR': 1.0}\n\n\ndef convert(amount, currency):\n    return amount * RATES[currency]\n"

CONFLICT = """Auto-merging shop/cart.py
CONFLICT (content): Merge conflict in shop/cart.py
Auto-merging shop/rates.py
Automatic merge failed; fix conflicts and then commit the result.
"""
REBASE = """Rebasing (1/3)\rRebasing (2/3)\rAuto-merging shop/rates.py
CONFLICT (content): Merge conflict in shop/rates.py
error: could not apply 4be1f09... Cache the rates for an hour
hint: Resolve all conflicts manually, mark them as resolved with
hint: "git add/rm <conflicted_files>", then run "git rebase --continue".
Could not apply 4be1f09... Cache the rates for an hour
"""
REJECTED = """To github.com:acme/shop.git
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'github.com:acme/shop.git'
hint: Updates were rejected because the remote contains work that you do not
hint: have locally. This is usually caused by another repository pushing to
hint: the same ref.
"""
PUSHED = """To github.com:acme/shop.git
   5c0b9aa..e61d2f4  main -> main
"""
HOOK = """ruff.....................................................................Failed
- hook id: ruff
- exit code: 1

shop/rates.py:1:1: F401 [*] `json` imported but unused
Found 1 error.
[*] 1 fixable with the `--fix` option.

mypy.....................................................................Passed
"""

CASES = (
    Case(
        "a commit closes the work",
        "Support francs and commit",
        [
            edit("shop/rates.py", RATES, "{'EUR': 1.0}", "{'EUR': 1.0, 'CHF': 0.94}"),
            bash(
                'git add -A && git commit -m "feat(rates): support Swiss francs" '
                '-m "Shops in Basel asked for prices in CHF."',
                "[main 8d1c0fe] feat(rates): support Swiss francs\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
            ),
        ],
        "Committed.",
        facts=(
            "support Swiss francs",
            "8d1c0fe",
            "Shops in Basel asked for prices in CHF.",
            "shop/rates.py",
            "'CHF': 0.94",
        ),
    ),
    Case(
        "a first commit with a message from a here-document",
        "commit this as the first version",
        [
            bash(
                "git commit -F - <<'EOF'\nImport the price list as CSV\n\nThe ERP exports it every night.\n\n"
                "🤖 Generated with an assistant\n\nCo-Authored-By: Someone <noreply@example.com>\nEOF",
                "[main (root-commit) 0a4f7d2] Import the price list as CSV\n 14 files changed, 902 insertions(+)\n"
                " create mode 100644 README.md\n create mode 100644 shop/prices.py\n",
            )
        ],
        facts=("Import the price list as CSV", "0a4f7d2", "The ERP exports it every night."),
        never=("Co-Authored-By", "noreply@example.com", "Generated with"),
    ),
    Case(
        "an amended commit",
        "amend the last commit with a better message",
        [
            bash(
                'git commit --amend -m "fix: keep the session when the token is renewed"',
                "[fix/session 77be012] fix: keep the session when the token is renewed\n"
                " Date: Wed Mar 4 09:12:44 2026 +0100\n 2 files changed, 9 insertions(+), 3 deletions(-)\n",
            )
        ],
        facts=("keep the session when the token is renewed", "77be012", "fix/session"),
    ),
    Case(
        "a commit is held up by a hook",
        "commit the rates",
        [
            bash_failed('git commit -am "Cache the rates for an hour"', HOOK),
            edit("shop/rates.py", "import json\n" + RATES, "import json\n", ""),
            bash(
                'git commit -am "Cache the rates for an hour"',
                "ruff.....................................................................Passed\n"
                "mypy.....................................................................Passed\n"
                "[main 4be1f09] Cache the rates for an hour\n 1 file changed, 6 insertions(+)\n",
            ),
        ],
        facts=("Cache the rates for an hour", "4be1f09", "F401", "`json` imported but unused"),
    ),
    Case(
        "two commits in one turn",
        "Commit the fix and the docs apart",
        [
            bash(
                'git add shop && git commit -m "Fix rounding of refunds" && git add docs && '
                'git commit -m "Explain refunds in the guide"',
                "[main 1f00aa1] Fix rounding of refunds\n 1 file changed, 2 insertions(+), 2 deletions(-)\n"
                "[main 1f00aa2] Explain refunds in the guide\n 1 file changed, 20 insertions(+)\n",
            )
        ],
        facts=("Fix rounding of refunds", "1f00aa1", "Explain refunds in the guide", "1f00aa2"),
    ),
    Case(
        "a merge stops at a conflict",
        "merge origin/main into my branch",
        [bash_failed("git merge origin/main", CONFLICT)],
        "There is a conflict in the cart that needs your decision.",
        facts=("git merge origin/main", "Merge conflict in shop/cart.py"),
    ),
    Case(
        "a rebase stops at a conflict",
        "rebase onto main",
        [bash_failed("git rebase main", REBASE)],
        facts=("Merge conflict in shop/rates.py", "4be1f09", "Cache the rates for an hour"),
    ),
    Case(
        "a push is rejected, then goes through",
        "push it",
        [
            bash_failed("git push origin main", REJECTED),
            bash("git pull --rebase origin main", "Successfully rebased and updated refs/heads/main.\n"),
            bash("git push origin main", "", PUSHED),
        ],
        "Pushed after a rebase.",
        facts=("main -> main (fetch first)", "git pull --rebase origin main", "e61d2f4"),
    ),
    Case(
        "a commit is picked onto a release branch",
        "Bring the rounding fix to the 1.8 release",
        [
            bash("git switch release/1.8", "Switched to branch 'release/1.8'\n"),
            bash(
                "git cherry-pick -x 1f00aa1",
                "[release/1.8 90cd3b1] Fix rounding of refunds\n Date: Tue Mar 3 17:01:10 2026 +0100\n"
                " 1 file changed, 2 insertions(+), 2 deletions(-)\n",
            ),
        ],
        "The fix is on `release/1.8` now.",
        facts=("Fix rounding of refunds", "90cd3b1", "release/1.8", "1f00aa1"),
    ),
    Case(
        "a commit is reverted",
        "Revert the caching of rates, it serves old prices over the weekend",
        [
            bash(
                "git revert --no-edit 4be1f09",
                '[main c2d9e88] Revert "Cache the rates for an hour"\n Date: Wed Mar 4 10:20:03 2026 +0100\n'
                " 1 file changed, 6 deletions(-)\n",
            )
        ],
        facts=("Cache the rates for an hour", "c2d9e88", "old prices over the weekend"),
    ),
    Case(
        "a release is tagged",
        "Tag the release 1.8.0 and push the tag",
        [
            bash("git tag -a v1.8.0 -m 'Release 1.8.0'"),
            bash(
                "git push origin v1.8.0",
                "",
                "To github.com:acme/shop.git\n * [new tag]         v1.8.0 -> v1.8.0\n",
            ),
        ],
        "Tagged and pushed.",
        facts=("v1.8.0", "git tag -a v1.8.0"),
    ),
    Case(
        "work is stashed",
        "put my half-done work aside, I have to look at main",
        [
            bash(
                'git stash push -m "half a coupon form"',
                "Saved working directory and index state On coupons: half a coupon form\n",
            ),
            bash("git switch main", "Switched to branch 'main'\n"),
        ],
        "Your work is in the stash.",
        facts=("half a coupon form",),
    ),
    Case(
        "a pull request is opened",
        "Open a PR for the branch",
        [
            bash("git push -u origin coupons", "", "To github.com:acme/shop.git\n * [new branch] coupons -> coupons\n"),
            bash(
                'gh pr create --title "Redeem coupons at checkout" --body "$(cat <<\'EOF\'\n## Summary\n'
                '- a coupon is checked when the order is placed\nEOF\n)"',
                "https://github.com/acme/shop/pull/318\n",
                "Creating pull request for coupons into main in acme/shop\n",
            ),
        ],
        "The pull request is open.",
        facts=("Redeem coupons at checkout", "https://github.com/acme/shop/pull/318"),
    ),
)
