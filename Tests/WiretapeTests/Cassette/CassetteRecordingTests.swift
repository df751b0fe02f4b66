import CassetteModel
import CassetteStore
import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct CassetteRecordingTests {
    @Test func drainHandlerIsCalledAtOnceIfThereIsRoom() throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let recording = try #require(cassette.recording)
        let calls = Guarded(0)
        recording.whenDrained { calls.withLock { $0 += 1 } }
        recording.waitUntilDrained()
        #expect(calls.withLock { $0 } == 1)
        #expect(recording.nextID() == 1)
        #expect(recording.nextID() == 2)
        try cassette.close()
    }

    @Test func aSecretThatIsLeftIsAnErrorThatNamesItsPlace() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        // A secret in a field is found in the host name too, where nothing is redacted.
        let transport = RecordingTransport(cassette, around: StubTransport { _ in .response() })
        _ = try await transport.exchange("GET", "http://s3cr3t-0123456789abcdef.test/", headers: [("X-Api-Key", "s3cr3t-0123456789abcdef")])
        do {
            try cassette.close()
            let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
            #expect(!text.contains("s3cr3t-0123456789abcdef"))
        } catch let error as CassetteError {
            #expect(error.code == .secretsLeft)
            #expect(error.message.contains("exchange 1"))
            #expect(throws: CassetteError.self) { try cassette.close() }
        }
    }

    @Test func anExchangeThatBeginsAfterTheEndIsNotAwaited() throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let recording = try #require(cassette.recording)
        try cassette.close()
        let request = TransportRequest.make("GET", "http://a.test/")
        let tape = ExchangeTape(request, recording: recording, clock: ContinuousClock())
        #expect(!tape.take(.head(HTTPSession.Response(url: request.url, status: 200))).isFull)
        for _ in 0..<16 { #expect(!tape.take(.chunk(Data(count: 1 << 20))).isFull) }
        #expect(!tape.take(.end).isFull)
        #expect(recording.recordedCount == 0)
    }
}

@Suite struct TokensOfAnAppTests {
    private static func segment(_ json: String) -> String {
        Data(json.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static let token =
        Self.segment(#"{"alg":"HS256","typ":"JWT"}"#) + "." + Self.segment(#"{"sub":"bori@a.test","exp":1790000000,"roles":["owner"]}"#)
        + ".c2lnbmF0dXJlLW9mLWFub3RoZXI"

    private struct Login: Decodable { var access_token: String }

    /// Logs in, reads the token's expiry, and uses the token.
    private func expiry(through session: HTTPSession) async throws -> Int {
        let login = try await session.post("http://a.test/login", json: ["user": "bori"], as: Login.self)
        var payload = String(login.access_token.split(separator: ".")[1]).replacingOccurrences(of: "-", with: "+").replacingOccurrences(
            of: "_", with: "/")
        while payload.utf8.count % 4 != 0 { payload += "=" }
        let claims = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: payload))) as? [String: Any]
        #expect(claims?["sub"] is String && claims?["roles"] is [String])
        let pets = try await session.get("http://a.test/pets", headers: [.authorization(bearerToken: login.access_token)])
        #expect(pets == Data("[]".utf8))
        return try #require(claims?["exp"] as? Int)
    }

    @Test func anAppThatReadsItsTokenReplays() async throws {
        let folder = try TemporaryFolder()
        let origin = StubTransport { request in
            guard request.url.path == "/pets" else { return .json(#"{"access_token":"\#(Self.token)"}"#) }
            return .json("[]", status: request.headers["Authorization"] == "Bearer \(Self.token)" ? 200 : 401)
        }
        let recording = try Cassette(folder.file("a.json"), mode: .once)
        #expect(try await self.expiry(through: HTTPSession(transport: RecordingTransport(recording, around: origin))) == 1_790_000_000)
        try recording.close()
        let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
        #expect(text.contains("signature-removed-access_token-1") && !text.contains(Self.token) && !text.contains("{{"))
        let replay = try Cassette(folder.file("a.json"))
        #expect(try await self.expiry(through: HTTPSession.patient(replay)) == 1_790_000_000)
        #expect(replay.verdict.hits == 2 && replay.verdict.misses == 0)
        try replay.close()
        var settings = Cassette.Settings()
        settings.refreshDates = true
        let later = try Cassette(folder.file("a.json"), settings: settings, now: Date().addingTimeInterval(86_400 * 30))
        let moved = try await self.expiry(through: HTTPSession.patient(later))
        #expect((1_790_000_000 + 86_400 * 30 - 60...1_790_000_000 + 86_400 * 30 + 60).contains(moved))
        #expect(later.verdict.hits == 2 && later.verdict.misses == 0)
    }

    private struct Visit: Codable {
        var session_id: UUID
        var pin: String
    }

    /// Decodes a UUID and a string of four to twelve characters, and sends both back in its own spelling.
    @Test func anAppThatDecodesUUIDsAndChecksLengthsReplays() async throws {
        let folder = try TemporaryFolder()
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e"
        let origin = StubTransport { request in
            guard request.url.path == "/visit" else {
                let isOwn = request.url.path == "/visits/\(id.uppercased())" && request.headers["X-Session-Id"] == id.uppercased()
                return .json("[]", status: isOwn ? 200 : 404)
            }
            return .json(#"{"session_id":"\#(id)","pin":"bori-41-miso"}"#)
        }
        func run(_ session: HTTPSession) async throws {
            let visit = try await session.get("http://a.test/visit", as: Visit.self)
            #expect(visit.pin.count == "bori-41-miso".count)
            let own = visit.session_id.uuidString
            #expect(try await session.get("http://a.test/visits/\(own)", headers: ["X-Session-Id": own]) == Data("[]".utf8))
        }
        var settings = Cassette.Settings()
        settings.redact = ["json:/pin", "json:/session_id"]
        settings.keep = ["shape:uuid", "shape:length"]
        let recording = try Cassette(folder.file("a.json"), mode: .once, settings: settings)
        try await run(HTTPSession(transport: RecordingTransport(recording, around: origin)))
        try recording.close()
        let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
        #expect(text.contains("5ec7e700-0000-4000-8000-000000000001") && text.contains("{{pin:0001}}"))
        #expect(!text.lowercased().contains(id) && !text.contains("bori-41"))
        let replay = try Cassette(folder.file("a.json"))
        try await run(HTTPSession.patient(replay))
        #expect(replay.verdict.hits == 2 && replay.verdict.misses == 0)
        try replay.close()
    }
}
