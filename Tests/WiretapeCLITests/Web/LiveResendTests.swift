import CassetteFormat
import CassetteModel
import CassetteStore
import Foundation
import TapeBytes
import TapeInspector
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct LiveResendTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private struct Sent {
        var status: Int?
        var changes: [String] = []
        var notes: [String] = []
        var wasThere = false
    }

    /// Sends the only exchange of a cassette.
    private func send(
        _ interaction: Interaction, unsafe: Bool = false, ports: ClosedPorts = ClosedPorts(), stopped: Bool = false
    ) throws -> Sent {
        try? FileManager.default.removeItem(atPath: self.path)
        try RecordedExchanges.write([interaction], to: self.path)
        let before = try self.folder.read("pets.json")
        let resend = LiveResend(upstreamTLS: try UpstreamTLSOptions.parse([]), ports: ports)
        let work = WorkCancellation()
        if stopped { work.cancel() }
        var sent = Sent()
        var answer = ""
        try work.run {
            try resend.send(.init(interaction: interaction, recorded: interaction, path: self.path, allowsUnsafe: unsafe)) { found in
                sent = Sent(status: found.interaction?.response?.status, changes: found.changes.map(\.place), notes: found.notes)
                answer = found.path
                sent.wasThere = FileManager.default.fileExists(atPath: answer)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: answer), "nothing of it stays")
        #expect(try self.folder.read("pets.json") == before && self.folder.names() == ["pets.json"])
        return sent
    }

    @Test func theAnswerIsComparedWithTheRecordedOne() throws {
        let origin = try DriftingOrigin(["a": "now"])
        defer { origin.stop() }
        let recorded = Interaction.sample(1, at: 0, "GET", origin.url("a"), body: Body(size: 4, content: .text(Array("then".utf8))))
        let sent = try self.send(recorded)
        #expect(sent.status == 200 && sent.wasThere && sent.notes.isEmpty && sent.changes.contains("response body"), "\(sent)")
        #expect(try origin.takeRequests().count == 1)
    }

    @Test func requestThatCheckSkipsIsNotSent() throws {
        let origin = try DriftingOrigin(["a": "now"])
        defer { origin.stop() }
        let post = Interaction.sample(1, at: 0, "POST", origin.url("a"))
        do {
            _ = try self.send(post)
            Issue.record("it was sent")
        } catch let refusal as SendService.NotSent {
            #expect(refusal.isUnsafe)
        }
        var secret = Interaction.sample(1, at: 0, "GET", origin.url("a"))
        secret.request.headers.append(name: "Authorization", value: "Bearer {{access_token:1}}")
        do {
            _ = try self.send(secret)
            Issue.record("it was sent")
        } catch let refusal as SendService.NotSent {
            #expect(
                !refusal.isUnsafe && refusal.reason.hasSuffix("write the value in the editor, and send from there"), "\(refusal.reason)")
        }
        #expect(try origin.takeRequests().isEmpty)
        #expect(try self.send(post, unsafe: true).status != nil)
        #expect(try origin.takeRequests().count == 1)
    }

    @Test func nothingIsSentToAPortOfThisProcess() throws {
        let origin = try DriftingOrigin(["a": "now"])
        defer { origin.stop() }
        let ports = ClosedPorts()
        ports.add(.init(port: origin.port))
        let sent = try self.send(.sample(1, at: 0, "GET", origin.url("a")), ports: ports)
        #expect(sent.status == nil && sent.notes.contains { $0.contains("is this proxy itself") }, "\(sent)")
        #expect(try origin.takeRequests().isEmpty)
    }

    @Test func nothingIsSentOnceThePageHasStopped() throws {
        let origin = try DriftingOrigin(["a": "now"])
        defer { origin.stop() }
        let sent = try self.send(.sample(1, at: 0, "GET", origin.url("a")), stopped: true)
        #expect(sent.status == nil && !sent.notes.isEmpty, "\(sent)")
    }
}
