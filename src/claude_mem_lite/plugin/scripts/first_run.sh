# What a hook of the plugin does where no data folder is ready: has one made in the background, then hands it the event.
# Where the program is missing, or cannot make it, the person is told when a session starts, once a day at most.
event=$1
payload=$(cat 2>/dev/null) # the client reports a pipe that was closed unread
if [ -n "${CLAUDE_MEM_LITE_INTERNAL-}" ] || [ -e "$home/off" ] || [ "$home" = /.claude-mem-lite ]; then
    exit 0
fi
if [ -e "$home" ] && ! [ -O "$home" ]; then
    exit 0
fi
. "$CLAUDE_PLUGIN_ROOT/scripts/find.sh"
marks=${CLAUDE_PLUGIN_DATA:-${TMPDIR:-/tmp}/claude-mem-lite-plugin-$(id -u)}
day=$(date +%Y-%m-%d)
hour=$(date +%Y-%m-%dT%H)
missing="The plugin claude-mem-lite is on, but its program is not installed, so nothing is remembered. Install it \
from a clone of its repository: pipx install . (or: uv tool install .). Then start a new session."
failing="The plugin claude-mem-lite could not make its data folder ready, so nothing is remembered. To see why, run: \
claude-mem-lite doctor"

# Marks are empty folders: one is made by one process only, and no link that somebody laid out is followed.
mark() {
    mkdir -p "$marks"
    rmdir "$marks/$1"-* 2>/dev/null
    mkdir "$marks/$1-$2" 2>/dev/null
}

tell() {
    if [ "$event" = SessionStart ] && ! [ -d "$marks/told-$day" ] && mark told "$day"; then
        printf '{"systemMessage":"%s"}\n' "$1"
    fi
}

# The event waits for its folder in the memory of this process, never in a file. Its answer would come too late: with
# stdout closed, what the hook cannot print does not count as given.
prepare() {
    trap '' HUP INT TERM
    if "$program" plugin --prepare >/dev/null; then
        printf '%s' "$payload" | "$home/py" -I -S "$home/claude_mem_lite/hook/hook.py" "$event" >&-
    else
        mark failed "$hour"
    fi
}

if ! find_program; then
    tell "$missing"
elif [ -d "$marks/failed-$hour" ]; then
    tell "$failing"
else
    prepare </dev/null >/dev/null 2>&1 &
fi
exit 0
