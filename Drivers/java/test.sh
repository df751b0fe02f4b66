#!/bin/sh
# Compiles the driver and its tests with Debian's junit5 (apt-get install junit5), and runs them. WIRETAPE names the program.
set -eu
cd "$(dirname "$0")"
jars=$(ls /usr/share/java/junit-jupiter-api.jar /usr/share/java/junit-jupiter-engine.jar /usr/share/java/junit-jupiter-params.jar \
    /usr/share/java/junit-platform-*.jar /usr/share/java/apiguardian-api.jar /usr/share/java/opentest4j.jar \
    /usr/share/java/univocity-parsers.jar /usr/share/java/picocli.jar 2>/dev/null | grep -v standalone | tr '\n' ':')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
javac -Xlint:-options -d "$work/classes" -cp "$jars" src/main/java/org/wiretape/junit5/*.java src/test/java/org/wiretape/junit5/*.java
mkdir "$work/cassettes"
unset CI
WIRETAPE_FOLDER=$work/cassettes java -Dcases="$(cd ../cases && pwd)" -cp "$work/classes:$jars" \
    org.junit.platform.console.ConsoleLauncher --disable-banner -c org.wiretape.junit5.DriverTest
