import Foundation
import TapeTestSupport
import Testing

/// Calls of Google's Python library, with and without threads, whose clients wait for answers: recorded, and replayed without the server.
@Suite(.enabled("grpcio is not there, and PyPI cannot be reached") { PythonPackages.python != nil })
struct GRPCTests {
    private static let script = Programs.fixture("grpc_talks.py")
    /// Every kind of call: one and many messages on both sides, a server that speaks first, one that ends early, one that receives nothing,
    /// a client that waits for the head, and one that cancels.
    private static let talks = [
        "get:a", "list:b", "add:x:y:z", "ping:a:b:c", "greet:rex:bo", "two:a:b", "deaf", "wait:q:r", "cancel:m:n",
    ]

    private func client(_ kind: String, _ port: Int, _ talks: [String]) throws -> [String] {
        [try #require(PythonPackages.python), Self.script, kind, "\(port)"] + talks
    }

    private func serve(_ options: String...) throws -> (program: ExternalProgram, port: Int) {
        let server = try ExternalProgram(try #require(PythonPackages.python), [Self.script, "serve"] + options)
        return (server, try server.port())
    }

    private func replay(
        _ cassette: String, options: [String] = [], environment: [String: String] = [:], _ command: [String]
    ) throws -> ExternalProgram.Ended {
        try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused"] + options + ["--"] + Self.with(environment, command))
    }

    private static func with(_ environment: [String: String], _ command: [String]) -> [String] {
        environment.isEmpty ? command : ["env"] + environment.map { "\($0)=\($1)" } + command
    }

    @Test(arguments: ["sync", "aio"])
    func everyKindOfCallIsReplayed(kind: String) throws {
        let (server, port) = try self.serve()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("talks.json")
        let command = try self.client(kind, port, Self.talks)
        let direct = try ExternalProgram.run(command[0], Array(command.dropFirst()))
        #expect(direct.outputText.contains("who is there?") && direct.outputText.contains("two are enough"), "\(direct.errors)")
        let recorded = try Wiretape.run(["record", cassette, "--"] + command)
        #expect(recorded.status == 0 && recorded.outputText == direct.outputText, "\(recorded.outputText)\(recorded.errors)")
        server.stop()
        let replayed = try self.replay(cassette, command)
        #expect(replayed.status == 0 && replayed.outputText == direct.outputText, "\(replayed.outputText)\(replayed.errors)")
        try CassetteFile.expectValid(cassette)
    }

    @Test(arguments: ["sync", "aio"])
    func inTLSAsWell(kind: String) throws {
        let certificates = try TLSCertificates()
        let (server, port) = try self.serve(certificates.certificate("good"), certificates.key("good"))
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("talks.json")
        // The library reads a file of roots if it gets its path.
        let command = ["sh", "-c", "TALK_ROOTS=$SSL_CERT_FILE exec \"$@\"", "sh"] + (try self.client(kind, port, Self.talks))
        let recorded = try Wiretape.run(["record", cassette, "--upstream-ca", certificates.authority, "--"] + command)
        #expect(recorded.status == 0 && recorded.outputText.contains("two are enough"), "\(recorded.outputText)\(recorded.errors)")
        server.stop()
        let replayed = try self.replay(cassette, command)
        #expect(replayed.status == 0 && replayed.outputText == recorded.outputText, "\(replayed.outputText)\(replayed.errors)")
    }

    @Test(arguments: ["sync", "aio"])
    func fiftyAtOnceOnOneConnectionGetTheirOwnAnswers(kind: String) throws {
        let (server, port) = try self.serve()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("talks.json")
        let command = Self.with(["TALK_TOGETHER": "1"], try self.client(kind, port, (0..<50).map { "ping:a\($0):b\($0):c\($0)" }))
        let recorded = try Wiretape.run(["record", cassette, "--"] + command)
        #expect(recorded.status == 0 && recorded.outputText.contains("pong c49"), "\(recorded.outputText)\(recorded.errors)")
        server.stop()
        let replayed = try self.replay(cassette, command)
        #expect(replayed.status == 0 && replayed.outputText == recorded.outputText, "\(replayed.outputText)\(replayed.errors)")
    }

    /// The library shows our text to its user.
    @Test func aMissNamesTheDifferences() throws {
        let (server, port) = try self.serve()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("talks.json")
        let recorded = try Wiretape.run(["record", cassette, "--"] + self.client("sync", port, ["ping:a:b:c"]))
        #expect(recorded.status == 0, "\(recorded.errors)")
        server.stop()
        let other = try self.replay(cassette, try self.client("sync", port, ["ping:a:b:x"]))
        #expect(other.status == 3 && other.outputText.contains("pong b") && other.outputText.contains("FAILED_PRECONDITION"))
        #expect(other.outputText.contains("gRPC message 3"), "\(other.outputText)")
        let more = try self.replay(cassette, try self.client("aio", port, ["ping:a:b:c:d"]))
        #expect(more.status == 3 && more.outputText.contains("message 4 was not recorded"), "\(more.outputText)")
        let fewer = try self.replay(cassette, try self.client("sync", port, ["ping:a"]))
        #expect(fewer.status == 3 && fewer.outputText.contains("the client ended after 1 message"), "\(fewer.outputText)")
        let left = try self.replay(cassette, try self.client("sync", port, ["cancel:a"]))
        #expect(left.status == 4 && left.errors.contains("the client left after 1 message, the recorded one sent 3"), "\(left.errors)")
        let mixed = try self.replay(cassette, options: ["--conversation", "any"], try self.client("sync", port, ["ping:b:c:a"]))
        #expect(mixed.status == 0 && mixed.outputText.contains("pong c"), "\(mixed.outputText)\(mixed.errors)")
    }

    /// A call that exceeded its client's deadline does so again, and nobody waits for it.
    @Test func aDeadlineIsReplayed() throws {
        let (server, port) = try self.serve()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("talks.json")
        let command = try self.client("sync", port, ["slow:a", "get:b"])
        let short = Self.with(["TALK_SECONDS": "1"], command)
        let recorded = try Wiretape.run(["record", cassette, "--"] + short)
        #expect(recorded.status == 0 && recorded.outputText.contains("DEADLINE_EXCEEDED"), "\(recorded.outputText)\(recorded.errors)")
        server.stop()
        let clock = ContinuousClock()
        let start = clock.now
        let replayed = try self.replay(cassette, command)
        #expect(replayed.status == 0 && replayed.outputText.contains("DEADLINE_EXCEEDED"), "\(replayed.outputText)\(replayed.errors)")
        // Its client would wait for 20 s.
        #expect(clock.now - start < .seconds(15))
        let late = try self.replay(cassette, options: ["--latency", "5s"], Self.with(["TALK_SECONDS": "0.5"], command))
        #expect(late.outputText.components(separatedBy: "DEADLINE_EXCEEDED").count == 3, "\(late.outputText)\(late.errors)")
    }
}
