#!/bin/sh
# Is there what sparkanon needs, and if not, what to do about it. $1: the Python to use.
python="$1"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "sparkanon needs Python 3.11 or newer; '$python' is not. Try: make PYTHON=python3.12 ..." >&2
    exit 1
}
java_of() { [ -n "$JAVA_HOME" ] && echo "$JAVA_HOME/bin/java" || echo java; }
major() { "$(java_of)" -version 2>&1 | sed -nE 's/.*version "([0-9]+).*/\1/p' | head -n 1; }
found=$(major)
if [ -z "$found" ] || [ "$found" -lt 17 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Java 17 is missing: installing openjdk-17-jre-headless ..."
        apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless >/dev/null
        found=$(major)
    fi
fi
if [ -z "$found" ] || [ "$found" -lt 17 ]; then
    echo "sparkanon needs Java 17 or newer (found: ${found:-none})." >&2
    echo "Debian/Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17;" >&2
    echo "or set JAVA_HOME to one you have." >&2
    exit 1
fi
