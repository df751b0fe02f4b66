import Foundation
import Platform
import Testing
import TapeTestSupport

/// A full disk: traffic continues, a notice and the exit code report it once, and recording resumes when there is room.
@Suite struct FullDiskTests {
    /// Whether this process may mount its own disk, which requires root.
    private static let mayMount: Bool = {
        guard let unshare = try? Programs.find("unshare"), let folder = try? TemporaryFolder() else { return false }
        return (try? ExternalProgram.run(unshare, ["-m", "mount", "-t", "tmpfs", "tmpfs", folder.path]))?.status == 0
    }()

    private static func expectGapAndResumption(_ program: ExternalProgram, cassette: String, origin: Int) throws {
        let end = try program.wait()
        #expect(end.status == 1, "\(end.errors)")
        #expect(end.errors.components(separatedBy: "traffic goes on").count == 2, "said once: \(end.errors)")
        #expect(end.errors.components(separatedBy: "recording again.").count == 2, "said once: \(end.errors)")
        let urls = try CassetteFile.urls(cassette)
        #expect(urls.last == "http://127.0.0.1:\(origin)/json?last")
        #expect(urls.count >= 5)
        try CassetteFile.expectValid(cassette)
        let replay = try Wiretape.run(["replay", cassette, "--"] + Curl.get(urls[0], urls[urls.count - 1]))
        #expect(replay.status == 0, "\(replay.errors)")
    }

    @Test(.enabled(if: Self.mayMount, "mounting takes root; the test with a file size limit runs in any case"))
    func aFullDiskIsAGapAndNoEnd() throws {
        let folder = try TemporaryFolder()
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        for name in ["disk", "copy"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
        }
        // Only these processes see the mount, and it ends with them.
        let script = """
            mount -t tmpfs -o size=1m tmpfs "$1"
            head -c 600000 /dev/zero >"$1/ballast"
            "$3" record "$1/full.json" -- python3 "$4" "$5" /proc/$$/fd/2 "$1/ballast"
            status=$?
            cp -R "$1"/full.* "$2"
            exit $status
            """
        let program = try ExternalProgram(
            try Programs.find("unshare"),
            [
                "-m", "sh", "-c", script, "sh", folder.file("disk"), folder.file("copy"), try Programs.wiretape(),
                Programs.fixture("full_disk_client.py"), "\(origin.port)",
            ], environment: Wiretape.environment())
        defer { program.stop() }
        try Self.expectGapAndResumption(program, cassette: folder.file("copy/full.json"), origin: origin.port)
    }

    #if os(Linux)
    @Test func aFileSizeLimitFromTheStartIsAnError() throws {
        let folder = try TemporaryFolder()
        let end = try ExternalProgram.run(
            try Programs.find("prlimit"), ["--fsize=10:", try Programs.wiretape(), "record", folder.file("x.json"), "--", "true"],
            environment: Wiretape.environment())
        #expect(end.status == 1, "\(end.errors)")
        #expect(!folder.exists("x.json"))
    }

    /// There is room for the key, but not for the certificate.
    @Test func halfAnAuthorityIsRemoved() throws {
        let folder = try TemporaryFolder()
        let arguments = ["ca", "show", "--ca-dir", folder.file("ca")]
        let end = try ExternalProgram.run(
            try Programs.find("prlimit"), ["--fsize=300:", try Programs.wiretape()] + arguments, environment: Wiretape.environment())
        #expect(end.status == 1 && end.errors.contains("ca/ca-cert.pem"), "\(end.errors)")
        #expect(!folder.exists("ca/ca-key.pem"))
        let next = try Wiretape.run(arguments)
        #expect(next.status == 0, "\(next.errors)")
    }

    /// Large bodies find no room while small ones do: it is still reported once.
    @Test func aDiskThatIsFullForSomeBodiesIsReportedOnce() throws {
        let folder = try TemporaryFolder()
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let script = "for n in 1 2 3 4 5 6; do \(Curl.line()) --output /dev/null \"$0/large-text?$n\" \"$0/json?$n\" || exit 9; done"
        let end = try ExternalProgram.run(
            try Programs.find("prlimit"),
            [
                "--fsize=100000:", try Programs.wiretape(), "record", folder.file("some.json"), "--", "sh", "-c", script,
                "http://127.0.0.1:\(origin.port)",
            ], environment: Wiretape.environment())
        #expect(end.status == 1, "\(end.errors)")
        #expect(end.errors.components(separatedBy: "traffic goes on").count == 2, "said once: \(end.errors)")
        #expect(end.errors.contains("6 exchanges not recorded"), "\(end.errors)")
        #expect(try CassetteFile.urls(folder.file("some.json")).filter { $0.contains("/json?") }.count == 6)
        try CassetteFile.expectValid(folder.file("some.json"))
    }

    /// Fetches until it is refused, lifts the limit, and fetches until it is accepted again.
    private static let refusedClient = """
        import http.client, os, resource, sys, time, urllib.error, urllib.request
        def status(number):
            try:
                with urllib.request.urlopen(f"{sys.argv[1]}/large-text?{number}") as answer:
                    answer.read()
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code
            except http.client.IncompleteRead:
                return "cut"
        def until(wanted):
            end = time.monotonic() + 20
            while (seen := status(time.monotonic_ns())) != wanted:
                assert time.monotonic() < end, f"{seen} and never {wanted}"
        until(507)
        resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        until(200)
        """

    @Test func aRefusingRecorderLetsExchangesInAgainWhenThereIsRoom() throws {
        let folder = try TemporaryFolder()
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let end = try ExternalProgram.run(
            try Programs.find("prlimit"),
            [
                "--fsize=100000:", try Programs.wiretape(), "record", folder.file("x.json"), "--on-disk-full", "refuse", "--", "python3",
                "-c",
                Self.refusedClient, "http://127.0.0.1:\(origin.port)",
            ], environment: Wiretape.environment())
        #expect(end.status == 1, "\(end.errors)")
        #expect(end.errors.contains("not recorded (") && !end.errors.contains("AssertionError"), "\(end.errors)")
        #expect(try CassetteFile.interactions(folder.file("x.json")).count == 1, "\(end.errors)")
        try CassetteFile.expectValid(folder.file("x.json"))
    }

    @Test func aFileSizeLimitIsAGapAndNoEnd() throws {
        let folder = try TemporaryFolder()
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let program = try ExternalProgram(
            try Programs.find("prlimit"),
            [
                "--fsize=300000:", try Programs.wiretape(), "record", folder.file("full.json"), "--", "sh", "-c",
                "exec python3 \"$0\" \"$1\" /proc/$PPID/fd/2 limit", Programs.fixture("full_disk_client.py"), "\(origin.port)",
            ], environment: Wiretape.environment())
        defer { program.stop() }
        try Self.expectGapAndResumption(program, cassette: folder.file("full.json"), origin: origin.port)
    }
    #endif

    @Test func aReadOnlyFolderIsReportedBeforeListening() throws {
        let folder = try TemporaryFolder()
        // Root may write despite the modes, but nobody can create files here.
        let place = geteuid() == 0 ? "/sys/kernel" : folder.path
        chmod(folder.path, 0o555)
        defer { chmod(folder.path, 0o755) }
        for command in ["record", "run"] {
            let end = try Wiretape.run([command, "\(place)/pets.json", "--listen", "127.0.0.1:0"])
            #expect(end.status == 1)
            #expect(end.errors.contains("\(place)/pets.json") && !end.errors.contains("listening"), "\(end.errors)")
        }
    }
}
