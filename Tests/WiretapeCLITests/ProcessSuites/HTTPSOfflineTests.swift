import Foundation
import Testing
import TapeTestSupport

#if os(Linux)
/// A replay of HTTPS opens no connection and resolves no name, as observed from outside the process.
@Suite struct HTTPSOfflineTests {
    /// Two exchanges with "https://origin.test/", a name that cannot be resolved.
    private static func cassette(in folder: TemporaryFolder) throws -> String {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let cassette = folder.file("recorded.json")
        let end = try Wiretape.run(
            ["record", cassette, "--upstream-ca", origins.certificates.authority, "--"]
                + Curl.get(origins.url(.good), origins.url(.good, "bytes.bin")))
        try #require(end.status == 0, "\(end.errors)")
        let text = String(decoding: try folder.read("recorded.json"), as: UTF8.self)
        let renamed = text.replacingOccurrences(of: "https://localhost:\(origins.port(.good))/", with: "https://origin.test/")
        return try folder.write(renamed.utf8, to: "offline.json")
    }

    private static let urls = ["https://origin.test/pets.json", "https://origin.test/bytes.bin"]
    private static let bodies = Array(Nginx.pets.utf8) + Array(0...255)

    private static func unshared(_ command: [String]) throws -> ExternalProgram.Ended {
        try ExternalProgram.run(
            try Programs.find("unshare"), ["--user", "--map-root-user", "--net", "python3", Programs.fixture("offline.py")] + command)
    }

    @Test(.enabled("network namespaces are forbidden") { try Self.unshared(["true"]).status == 0 })
    func aReplayNeedsNoRoutes() throws {
        let folder = try TemporaryFolder()
        let cassette = try Self.cassette(in: folder)
        let end = try Self.unshared([try Programs.wiretape(), "replay", cassette, "--"] + Curl.get() + Self.urls)
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.output == Self.bodies)
        #expect(end.errors.contains("replayed 2 of 2 exchanges"), "\(end.errors)")
    }

    // MARK: System calls

    /// The system calls with which a proxy contacts others while `client` talks to it, one per line.
    private static func calls(_ arguments: [String], client: (_ port: Int) throws -> Void) throws -> [String] {
        let folder = try TemporaryFolder()
        let trace = folder.file("trace")
        // -D: the tracer is the grandchild, so that signals reach the proxy.
        let proxy = try ExternalProgram(
            try Programs.find("strace"),
            ["-D", "-f", "-qq", "-o", trace, "-e", "trace=connect,sendto,sendmsg,sendmmsg,exit_group", try Programs.wiretape()] + arguments
                + ["--listen", "127.0.0.1:0"])
        defer { proxy.stop() }
        try client(try proxy.port())
        #expect(try proxy.end().status == 0, "\(proxy.errors)")
        return try Deadline.wait(for: "the end of the trace") {
            let text = String(decoding: try folder.read("trace"), as: UTF8.self)
            return text.contains("exit_group(") ? text.components(separatedBy: "\n") : nil
        }
    }

    private static let mayTrace =
        (try? ExternalProgram.run(try Programs.find("strace"), ["-qq", "-o", "/dev/null", "true"]).status) == 0

    private static func reachesOut(_ call: String) -> Bool { call.contains("sa_family=AF_INET") }

    @Test(.enabled("strace is not installed or not permitted") { Self.mayTrace })
    func aReplayMakesNoConnectionAndAsksNoNameServer() throws {
        let folder = try TemporaryFolder()
        let cassette = try Self.cassette(in: folder)
        let calls = try Self.calls(["replay", cassette]) { port in
            let curl = Curl.get() + ["--insecure", "--proxy", "http://127.0.0.1:\(port)"] + Self.urls
            let end = try ExternalProgram.run(try Programs.find(curl[0]), Array(curl.dropFirst()))
            #expect(end.output == Self.bodies, "\(end.errors)")
        }
        #expect(!calls.contains { Self.reachesOut($0) }, "\(calls)")
    }

    /// Shows that the test above would detect a connection.
    @Test(.enabled("strace is not installed or not permitted") { Self.mayTrace })
    func aRecordingIsSeenToConnect() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let calls = try Self.calls(["record", folder.file("new.json"), "--upstream-ca", origins.certificates.authority]) { port in
            let curl = Curl.get() + ["--insecure", "--proxy", "http://127.0.0.1:\(port)", origins.url(.good)]
            let end = try ExternalProgram.run(try Programs.find(curl[0]), Array(curl.dropFirst()))
            #expect(end.status == 0, "\(end.errors)")
        }
        #expect(calls.contains { $0.contains("connect(") && Self.reachesOut($0) }, "\(calls)")
    }
}
#endif
