#!/bin/sh
# Runs a script that drives the inspector's page in Chromium, with tools that it installs into .build/inspector: inspector.sh SCRIPT
# [ARGUMENT …]
set -eu
tools=.build/inspector
if [ ! -x $tools/bin/python ]; then
    python3 -m venv $tools
    $tools/bin/pip install --quiet --disable-pip-version-check playwright==1.65.2 axe-playwright-python==0.1.8
fi
exec $tools/bin/python "$@"
