# Runs claude-mem-lite with the arguments given, wherever it is: for the MCP server and the commands of the plugin.
home=${CLAUDE_MEM_LITE_HOME:-${HOME-}/.claude-mem-lite}
: "${CLAUDE_PLUGIN_ROOT:=${0%/scripts/*}}"
. "$CLAUDE_PLUGIN_ROOT/scripts/find.sh"
if find_program; then
    exec "$program" "$@"
fi
echo "The program claude-mem-lite is not installed. Install it from a clone of its repository: pipx install ." >&2
exit 1
