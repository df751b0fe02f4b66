import Foundation
import Platform
import TapeTestSupport
import Testing

/// Commands that are interrupted, or get unusable input: they end, and leave the old file or the new one.
@Suite(.serialized) struct InterruptedCommandsTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// A HAR with large bodies, which get their own files.
    private func archive(_ count: Int) throws -> String {
        let text = String(repeating: "0123456789abcdef", count: 2000)
        let entries = (0..<count).map {
            #"{"startedDateTime": "2026-11-28T10:00:00.000Z", "time": 1, "request": {"method": "GET", "url": "http://h/\#($0)", "httpVersion": "HTTP/1.1", "headers": []}, "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [{"name": "Content-Type", "value": "image/png"}], "content": {"mimeType": "image/png", "text": "\#($0)\#(text)"}}, "timings": {"send": 0, "wait": 1, "receive": 0}}"#
        }
        let path = self.folder.file("in.har")
        try self.folder.write(Array(#"{"log": {"version": "1.2", "entries": [\#(entries.joined(separator: ","))]}}"#.utf8), to: "in.har")
        return path
    }

    @Test func anImportThatIsKilledLeavesNothingUnderItsName() throws {
        let archive = try self.archive(1500)
        let program = try Wiretape.start(["import", archive, "--output", self.folder.file("out.json")])
        defer { program.stop() }
        // The folder of bodies is created with the first body.
        _ = try Deadline.wait(for: "the first body") { try self.folder.names().contains { $0.hasPrefix("out") } ? true : nil }
        program.send(SIGKILL)
        #expect(try program.wait().status == 128 + SIGKILL)
        #expect(try !self.folder.names().contains("out.json"))
        let again = try Wiretape.run(["import", archive, "--output", self.folder.file("out.json")])
        #expect(again.status == 0, "\(again.errors)")
        let verified = try Wiretape.run(["verify", self.folder.file("out.json")])
        #expect(verified.status == 0, "\(verified.errors)")
        // The bodies that the first import wrote may still be there.
        let left = try self.folder.names().filter { !["in.har", "out.json", "out.bodies", "out.new.json"].contains($0) }
        #expect(left.isEmpty, "\(left)")
    }

    @Test func anExportedRequestAlwaysHasATypeOfItsBody() throws {
        let cassette = """
            {
              "wiretape": 2,
              "interactions": [
                {
                  "id": 1, "started": "2026-11-28T10:00:00.000000Z",
                  "request": { "method": "POST", "url": "http://h/", "headers": ["Content-Length: 2"], "body": { "size": 2, "text": "ab" } },
                  "response": { "status": 204, "reason": "No Content", "headers": [] }
                }
              ]
            }
            """
        try self.folder.write(Array(cassette.utf8), to: "post.json")
        let export = try Wiretape.run(["export", self.folder.file("post.json"), "--har"])
        #expect(export.status == 0, "\(export.errors)")
        let har = try #require(try JSONSerialization.jsonObject(with: Data(export.outputText.utf8)) as? [String: Any])
        let entries = try #require((har["log"] as? [String: Any])?["entries"] as? [[String: Any]])
        let posted = (entries.first?["request"] as? [String: Any])?["postData"] as? [String: Any]
        #expect((posted?["mimeType"] as? String)?.isEmpty == false, "\(export.outputText)")
    }

    @Test(arguments: [200, 404, 101]) func anInterimAnswerWithAFinalStatusIsRefused(status: Int) throws {
        let cassette = """
            {
              "wiretape": 2,
              "interactions": [
                {
                  "id": 1, "started": "2026-11-28T10:00:00.000000Z",
                  "request": { "method": "GET", "url": "http://h/", "headers": [] },
                  "interim": [{ "status": \(status), "reason": "", "headers": [] }],
                  "response": { "status": 204, "reason": "No Content", "headers": [] }
                }
              ]
            }
            """
        try self.folder.write(Array(cassette.utf8), to: "interim.json")
        let verified = try Wiretape.run(["verify", self.folder.file("interim.json")])
        #expect(
            verified.status != 0 && (verified.errors + verified.outputText).contains("interim.status"),
            "\(verified.errors)\(verified.outputText)")
        let replay = try Wiretape.run(["replay", self.folder.file("interim.json"), "--"] + Curl.get("http://h/"))
        #expect(replay.status != 0, "\(replay.errors)")
    }

    /// The first signal waits for requests under way; the second one ends the process, and every acknowledged exchange is in the file.
    @Test func aSecondSignalEndsAtOnce() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let path = self.folder.file("two.json")
        let recorder = try Wiretape.listening(["record", path, "--grace", "600"])
        defer { recorder.program.stop() }
        let done = try ExternalProgram.run(
            try Programs.find("curl"), ["-sS", "-x", "http://127.0.0.1:\(recorder.port)", "http://127.0.0.1:\(origin.port)/item?n=0"])
        #expect(done.status == 0)
        // An origin that accepts the connection and never answers.
        let silent = try SilentListener()
        let waiting = try ExternalProgram(
            try Programs.find("curl"), ["-sS", "-x", "http://127.0.0.1:\(recorder.port)", "http://127.0.0.1:\(silent.port)/"])
        defer { waiting.stop() }
        try silent.accept()
        // Two signals that arrive together may count as one, so the recorder gets more of them.
        _ = try Deadline.wait(for: "the end of the recorder") {
            recorder.program.send(SIGINT)
            return recorder.program.hasEnded ? true : nil
        }
        let end = try recorder.program.wait()
        #expect(end.errors.contains("ended before"), "\(end.errors)")
        try CassetteFile.expectValid(path)
        #expect(try CassetteFile.urls(path).contains("http://127.0.0.1:\(origin.port)/item?n=0"))
    }
}

/// A socket that accepts connections and sends nothing.
private final class SilentListener {
    private let socket: Int32
    let port: Int

    init() throws {
        self.socket = Platform.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.socket
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound && listen(descriptor, 4) == 0)
        self.port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits for a connection.
    func accept() throws {
        try #require(Platform.accept(self.socket, nil, nil) >= 0)
    }

    deinit { close(self.socket) }
}
