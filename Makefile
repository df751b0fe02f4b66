# Has one target for each task of a developer. You need a Swift toolchain; everything else is installed if the system has apt.

.PHONY: help demo program dist deb image release test-packages test-store test-drivers bench-drivers cli-reference example plugin test test-inspector bench-inspector interop pictures lint check docs crash stress stress-files stress-client bench-client sanitize fuzz samples format bench bench-http2 bench-websocket soak bench-readers bench-instructions bench-stalls bench-streams bench-posts bench-rules bench-isolation example-ahc example-live example-http-types seeds seeds-sanitize alamofire-pages clean

# The sources of the examples, without their build folders.
EXAMPLE = $(addprefix Examples/PetShop/,Package.swift Sources Tests) $(addprefix Examples/Seeds/,Package.swift Sources Tests) \
	$(addprefix Examples/HTTPTypes/,Package.swift Tests)

## Lists the targets.
help:
	@awk '/^## /{text=substr($$0,4)} /^[a-z-]+:/{if(text)printf "make %-16s %s\n",substr($$1,1,length($$1)-1),text; text=""}' Makefile

## Records some requests to a local server, replays them and compares the answers, in clear and over HTTPS.
demo:
	@sh scripts/demo.sh

## Builds the release program, .build/release/wiretape.
program:
	@sh scripts/setup.sh build
	sh scripts/release.sh --product wiretape -Xlinker -s
	sh scripts/release.sh --product wiretape-clock -Xlinker -s

PROGRAM = .build/release/wiretape

## Makes the tarball with completions, manual pages, a list of components and checksums, in .build/dist.
dist:
	@sh scripts/setup.sh build
	sh scripts/release.sh --product wiretape
	sh scripts/release.sh --product wiretape-clock
	sh packaging/dist.sh $(PROGRAM)

## Makes the package for Debian 12 and newer, in .build/dist.
deb:
	@sh scripts/setup.sh package
	sh scripts/release.sh --product wiretape
	sh scripts/release.sh --product wiretape-clock
	sh packaging/deb.sh $(PROGRAM)

## Makes the container image with buildah, in .build/dist.
image:
	@sh scripts/setup.sh image
	sh scripts/release.sh --product wiretape
	sh scripts/release.sh --product wiretape-clock
	sh packaging/image.sh $(PROGRAM)

## Dates the changelog, commits, tags, and makes all artefacts, but publishes nothing: make release VERSION=1.2.3; DRY_RUN=1 changes nothing.
release:
	@sh packaging/release.sh "$(VERSION)" $(if $(DRY_RUN),--dry-run)

## Installs the package on a bare Debian in a folder, runs it and removes it, and checks the image's files; needs root: make test-packages ARGS=trixie.
test-packages:
	@sh scripts/setup.sh package
	sh packaging/test.sh $(ARGS)

## Runs the tests of the drivers for pytest, Node, JUnit and Go; options: make test-drivers ARGS='python node'.
test-drivers:
	@sh scripts/setup.sh drivers
	swift build --product wiretape
	sh Drivers/test.sh "$$(swift build --show-bin-path)/wiretape" $(ARGS)

## Tests push, pull, collection, faults and kills against moto, rclone, localbucket, Ceph and OpenStack Swift, which it installs; options: make test-store ARGS='--storm 600 --seed 2'.
test-store:
	@sh scripts/setup.sh store
	swift build --product wiretape $(SWIFT_BUILD)
	python3 Tests/Store/histories.py --wiretape "$$(swift build --show-bin-path)/wiretape" --rounds 20
	python3 Tests/Store/hostile.py --wiretape "$$(swift build --show-bin-path)/wiretape"
	python3 Tests/Store/run.py --wiretape "$$(swift build --show-bin-path)/wiretape" $(ARGS)
	python3 Tests/Store/corpus.py --wiretape "$$(swift build --show-bin-path)/wiretape"

## Measures what a driver adds to a replayed test.
bench-drivers:
	@sh scripts/setup.sh drivers
	sh scripts/release.sh --product wiretape
	sh Drivers/test.sh $(PROGRAM) bench

## Regenerates docs/cli.md from the program's help.
cli-reference:
	swift build --product wiretape
	"$$(swift build --show-bin-path)/wiretape" --experimental-dump-help | python3 packaging/help_pages.py markdown > docs/cli.md
	"$$(swift build --show-bin-path)/wiretape" config --schema > docs/wiretape.schema.json
	python3 packaging/settings_table.py docs

## Tests the example app: recorded by the proxy and replayed by the client, and the other way around; checks what it is built from.
example:
	@sh scripts/setup.sh test
	python3 scripts/check_consumer.py --self-test
	@sh scripts/example.sh

## Tests the package plugin in a package of its own: record, status, prune; and replays from a test bundle without the sources.
plugin:
	@sh scripts/setup.sh test
	@sh scripts/plugin.sh

# The proxy's tests block threads, which the client's asynchronous tests would wait for, so these run apart.
CLIENT_TESTS = '^(WiretapeTests|WiretapeTestingTests|WiretapeAlamofireTests|WiretapePluginTests|DocumentationTests)\.'

## Runs all tests; the client's, and those with time limits, run separately so that the others do not slow them down. SWIFT_BUILD has options for the build.
test:
	@sh scripts/setup.sh test
	swift build --build-tests $(SWIFT_BUILD)
	python3 scripts/check_pages.py --wiretape "$$(swift build --show-bin-path)/wiretape"
	sh scripts/test.sh '^WiretapeCLITests\.' $(CLIENT_TESTS)
	swift test --enable-swift-testing --skip-build --filter $(CLIENT_TESTS)
	swift test --enable-swift-testing --skip-build --filter CrashTests

## Tests the inspector's page in Chromium: screens, keys, safety, recordings, replays; options: make test-inspector ARGS=hostile PAGE_BROWSER=firefox.
test-inspector:
	@sh scripts/setup.sh test
	node --test Tests/TapeInspectorTests/Browser/modules.test.mjs
	swift build --product wiretape
	sh scripts/inspector.sh Tests/TapeInspectorTests/Browser/check_page.py "$$(swift build --show-bin-path)/wiretape" $(ARGS)
	sh scripts/inspector.sh Tests/TapeInspectorTests/Browser/check_workbench.py "$$(swift build --show-bin-path)/wiretape" $(ARGS)

## Records and replays real clients (svn, aws, skopeo, git, a browser and others), which it installs, and compares byte for byte; options: make interop ARGS='registry amazon'.
interop:
	@sh scripts/setup.sh interop $(ARGS)
	swift build --product wiretape $(SWIFT_BUILD)
	python3 Tests/Interop/run.py --wiretape "$$(swift build --show-bin-path)/wiretape" $(ARGS)

## Measures a release build of the inspector with 100,000 exchanges, and a recording at full rate with and without it.
bench-inspector:
	@sh scripts/setup.sh test
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	sh scripts/inspector.sh Tests/TapeInspectorTests/Browser/check_page.py "$$(swift build -c release --show-bin-path)/wiretape" quick
	sh scripts/inspector.sh Benchmarks/inspector.py "$$(swift build -c release --show-bin-path)/wiretape"

## Retakes the pictures of the inspector in README and docs.
pictures:
	@sh scripts/setup.sh test
	swift build --product wiretape
	sh scripts/inspector.sh Tests/TapeInspectorTests/Browser/pictures.py "$$(swift build --show-bin-path)/wiretape" docs/pictures

## Checks the sources without building them: imports, links, format, the list of tests.
lint:
	@sh scripts/setup.sh test
	python3 scripts/check_imports.py --self-test
	python3 scripts/check_imports.py
	python3 scripts/check_pages.py
	python3 scripts/check_snippets.py --self-test
	python3 scripts/check_xctests.py --self-test
	python3 scripts/check_xctests.py
	swift format lint --strict --parallel --recursive Package.swift Plugins Sources Tests Fuzz Benchmarks/Readers $(EXAMPLE)

CHECK = --scratch-path .build/check -Xswiftc -warnings-as-errors

## Runs the checks that must pass before a commit: lint, no warnings, tests.
check: lint
	swift test $(CHECK) --skip CrashTests --skip $(CLIENT_TESTS)
	swift test $(CHECK) --skip-build --filter $(CLIENT_TESTS)
	swift test $(CHECK) --skip-build --filter CrashTests
	sh scripts/check_isolation.sh $(CHECK)

## Counts which code blocks of Alamofire's guides compile: make alamofire-pages PAGES='Usage.md AdvancedUsage.md'.
alamofire-pages:
	swift build --target WiretapeAlamofire
	python3 scripts/check_snippets.py --swift 5 --minimum 105 --prelude Tests/DocumentationTests/Preludes/Alamofire.txt $(PAGES)

## Makes the documentation of the libraries in .build/docs, and fails on broken links; options: make docs ARGS='--traits AsyncHTTPClient'.
docs:
	sh scripts/docs.sh $(ARGS)

## Kills the recorder at 50 seeded moments under load and checks that nothing is lost that it had acknowledged.
crash:
	@sh scripts/setup.sh test
	WIRETAPE_KILLS=50 swift test --filter CrashTests

## Runs the randomised tests five times as often as make test; options: make stress ARGS='--filter AnyBody'.
stress:
	@sh scripts/setup.sh test
	WIRETAPE_STRESS=1 swift test --skip CrashTests --skip $(CLIENT_TESTS) $(ARGS)

## Runs every command against damaged, locked, linked, full and oddly named cassettes, and kills commands, for 15 minutes; options: make stress-files ARGS='--seed 2 --seconds 60'.
stress-files:
	@sh scripts/setup.sh test
	swift build --product wiretape $(SWIFT_BUILD)
	python3 Tests/WiretapeCLITests/Fixtures/stress_files.py "$$(swift build --show-bin-path)/wiretape" $(ARGS)

## Sends a thousand requests at once through the client's URLSession interception, in 50 processes of each kind; options: make stress-client ARGS=10.
stress-client:
	sh scripts/stress-client.sh $(ARGS)

## Measures replay through URLSession against a bare URLProtocol; options: make bench-client ARGS='--rounds 9'.
bench-client:
	swift build -c release --scratch-path .build/client --product ClientProbe
	$$(swift build -c release --scratch-path .build/client --show-bin-path)/ClientProbe bench $(ARGS)

## Tests the parsers and TLS under AddressSanitizer and LeakSanitizer, or with ARGS=thread the recorder under ThreadSanitizer; options: make sanitize ARGS='--filter TapeTLSTests'.
sanitize:
	@sh scripts/setup.sh test
	sh scripts/sanitize.sh $(ARGS)

## Fuzzes each parser of untrusted input for a minute; options: make fuzz ARGS='600 multipart body'.
fuzz:
	@sh scripts/setup.sh test
	sh scripts/fuzz.sh $(ARGS)

## Records and replays async-http-client; builds it first, which takes minutes.
example-ahc:
	@sh scripts/setup.sh test
	sh scripts/example-async-http-client.sh

## Tests async-http-client as the network against origins that crash a process with URLSession: trailers, client certificates, HTTP/2.
example-live:
	@sh scripts/setup.sh test
	swift test --package-path Examples/LiveTransport

## Tests WiretapeHTTPTypes, which needs a package with the trait HTTPTypes.
example-http-types:
	@sh scripts/setup.sh test
	swift test --package-path Examples/HTTPTypes

## Tests programs that exercise an HTTP client in detail: replayed, recorded again, and replayed without the server.
seeds:
	@sh scripts/setup.sh test
	sh scripts/seeds.sh

## Runs make seeds under ThreadSanitizer; builds the whole client for it, which takes minutes.
seeds-sanitize:
	@sh scripts/setup.sh test
	sh scripts/seeds.sh sanitize

## Records the sample cassettes again.
samples:
	swift build
	sh scripts/record-samples.sh

## Formats all Swift files in place.
format:
	swift format --in-place --parallel --recursive Package.swift Plugins Sources Tests Fuzz Benchmarks/Readers $(EXAMPLE)

## Measures the release build against nginx and haproxy; options: make bench ARGS='--scenarios small --rounds 1'.
bench:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/bench.py $(ARGS)

## Measures HTTP/2 against haproxy and nghttpx; options: make bench-http2 ARGS='--rounds 5'.
bench-http2:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/bench.py --scenarios http2,http2-contact,http2-held $(ARGS)

WEBSOCKET = websocket,websocket-large,websocket-burst,websocket-huge,websocket-many,websocket-held,websocket-deflated,websocket-opening

## Measures WebSockets against an opaque tunnel; options: make bench-websocket ARGS='--rounds 5'.
bench-websocket:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/bench.py --scenarios $(WEBSOCKET) $(ARGS)

## Measures how long hostile messages, bodies, filters and page clients make others wait; options: make bench-stalls ARGS='--seconds 10 ws-bomb'.
bench-stalls:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/stalls.py --wiretape "$$(swift build -c release --show-bin-path)/wiretape" $(ARGS)

## Measures the memory of open HTTP/2 streams, and of gRPC calls with many messages; options: make bench-streams ARGS='--streams 500 stalled'.
bench-streams:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/streams.py --wiretape "$$(swift build -c release --show-bin-path)/wiretape" $(ARGS)

## Measures POSTs whose head and body are sent separately; options: make bench-posts ARGS='--other PROGRAM'.
bench-posts:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/posts.py --wiretape "$$(swift build -c release --show-bin-path)/wiretape" $(ARGS)

## Measures how exactly traffic rules keep latencies and rates, over HTTP/1.
bench-rules:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/rules.py "$$(swift build -c release --show-bin-path)/wiretape"

## Holds 500 event streams open for 20 minutes and watches the memory; options: make soak ARGS='--minutes 2'.
soak:
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/soak.py $(ARGS)

## Measures what an isolation costs an unprivileged program: first contacts and downloads (Linux).
bench-isolation:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/isolation.py "$$(swift build -c release --show-bin-path)/wiretape" $(ARGS)

## Measures multipart parsing and inflating against memchr and zlib alone, and the search for secrets; options: make bench-readers ARGS=15.
bench-readers:
	@sh scripts/setup.sh test
	sh scripts/bench-readers.sh $(ARGS)

## Counts the instructions of a recorded request, which vary less between runs than times, and lists the costliest functions; options: make bench-instructions ARGS='--functions 100'.
bench-instructions:
	@sh scripts/setup.sh bench
	sh scripts/release.sh --product wiretape
	python3 Benchmarks/instructions.py --wiretape $$(swift build -c release --show-bin-path)/wiretape $(ARGS)

clean:
	rm -rf .build Examples/PetShop/.build Examples/HTTPTypes/.build .build-sanitize .build-fuzz .build-readers .build-seeds .build-seeds-thread Benchmarks/out
