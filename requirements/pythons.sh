#!/bin/sh
# Prints the interpreters that Everfold runs on, newest first, one of each version: those on the PATH, and with --all
# those of pyenv too. An interpreter that does not start, or has no venv module, is left out.
for minor in 14 13 12 11; do
    candidates="python3.$minor python3 python"
    if [ "$1" = --all ]; then
        candidates="$candidates $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python 2>/dev/null | sort -rV)"
    fi
    for python in $candidates; do
        if "$python" -c "import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != (3, $minor))" >/dev/null 2>&1; then
            echo "$python"
            break
        fi
    done
done
