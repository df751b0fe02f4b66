import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Signals end the run, never the cassette.
@Suite struct SignalTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    /// Fetches once, says so, and ends with 7 when it is told to.
    private static let client = """
        import signal, sys, urllib.request
        def told(number, frame):
            print("told", number, flush=True)
            sys.exit(7)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, told)
        urllib.request.urlopen(sys.argv[1]).read()
        print("ready", flush=True)
        while True:
            signal.pause()
        """

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func theCommandGetsTheSignalAndTheCassetteIsClosed(_ signal: Int32) throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/json"
        let wiretape = try Wiretape.start(["record", self.cassette, "--", "python3", "-c", Self.client, url])
        defer { wiretape.stop() }
        try wiretape.said("ready")
        let end = try wiretape.end(with: signal)
        #expect(end.status == 7)
        #expect(end.outputText == "ready\ntold \(signal)\n")
        #expect(end.errors.contains("recorded 1 exchange (") && end.errors.contains("in \(self.cassette)."), "\(end.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url])
        try CassetteFile.expectValid(self.cassette)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func withoutACommandTheSignalEndsTheRun(_ signal: Int32) throws {
        let recorder = try Wiretape.listening(["record", self.cassette])
        defer { recorder.program.stop() }
        let end = try recorder.program.end(with: signal)
        #expect(end.status == 0)
        #expect(end.errors.contains("recorded 0 exchanges (0 B) in \(self.cassette)."), "\(end.errors)")
        try CassetteFile.expectValid(self.cassette)
    }

    @Test func whatIsInFlightAtTheEndIsCutAndRecordedAsCut() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/stall"
        let recorder = try Wiretape.listening(["record", self.cassette, "--grace", "0"])
        defer { recorder.program.stop() }
        let client = try ExternalProgram(
            try Programs.find("curl"), ["-q", "--silent", "--no-buffer", "--proxy", "http://127.0.0.1:\(recorder.port)", "--noproxy", "", url])
        defer { client.stop() }
        try client.said("first octets")
        let end = try recorder.program.end()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try client.wait().status == 18, "curl: a partial file")
        let interaction = try #require(try CassetteFile.interactions(self.cassette).first)
        #expect((interaction["outcome"] as? [String: Any])?["cut"] as? String == "recorder")
        #expect(((interaction["response"] as? [String: Any])?["body"] as? [String: Any])?["complete"] as? Bool == false)
        try CassetteFile.expectValid(self.cassette)
    }
}
