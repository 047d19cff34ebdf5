# Sets `program` to the command claude-mem-lite, empty when there is none: that of the worker in use, then that of the
# checkout or the environment this plugin lies in, then what is on the path.
find_program() {
    worker=$(readlink "$home/worker-py" 2>/dev/null)
    for program in "${worker%/*}/claude-mem-lite" \
        "$CLAUDE_PLUGIN_ROOT/../../../.venv/bin/claude-mem-lite" \
        "$CLAUDE_PLUGIN_ROOT/../../../../../bin/claude-mem-lite" \
        "$(command -v claude-mem-lite 2>/dev/null)" \
        "${HOME-}/.local/bin/claude-mem-lite"; do
        case $program in
        /*) if [ -x "$program" ]; then return 0; fi ;;
        esac
    done
    program=
    return 1
}
