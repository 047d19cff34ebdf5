# One hook of the plugin, read by the shell that the client starts, with the event as $1: it becomes the hook program of
# the data folder. Never prints nor fails; what it does when there is none is in first_run.sh.
home=${CLAUDE_MEM_LITE_HOME:-${HOME-}/.claude-mem-lite}
# Python exits with 2 when its program is missing, and 2 blocks the prompt. -O: HOME may be a folder that others share.
if [ -O "$home" ] && [ -x "$home/py" ] && [ -r "$home/claude_mem_lite/hook/hook.py" ]; then
    exec "$home/py" -I -S "$home/claude_mem_lite/hook/hook.py" "$1" 2>/dev/null
fi
if [ -r "$CLAUDE_PLUGIN_ROOT/scripts/first_run.sh" ]; then
    . "$CLAUDE_PLUGIN_ROOT/scripts/first_run.sh"
fi
exit 0
