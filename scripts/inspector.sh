#!/bin/sh
# Runs a script that drives the inspector's page in Chromium, or in Firefox with PAGE_BROWSER=firefox, with tools that it installs into
# .build/inspector: inspector.sh SCRIPT [ARGUMENT …]
set -eu
case ${PAGE_BROWSER:-chromium} in
    chromium) tools=.build/inspector playwright=1.65.2 ;;
    # Newer ones send a command of WebDriver BiDi that Debian's Firefox does not have.
    firefox) tools=.build/inspector-firefox playwright=1.64.0 ;;
    *)
        echo "inspector: PAGE_BROWSER is $PAGE_BROWSER; it can be chromium or firefox" >&2
        exit 64
        ;;
esac
if [ ! -x $tools/bin/python ]; then
    python3 -m venv $tools
    $tools/bin/pip install --quiet --disable-pip-version-check playwright==$playwright axe-playwright-python==0.1.8
fi
exec $tools/bin/python "$@"
