import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct PlaceholderRenumberingTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("tape.json")
    }

    /// Records without redaction, renumbers, and returns the interactions.
    private func renumbered(
        _ fields: [String] = ["Content-Type: text/plain"], _ body: [UInt8], by amount: Int = 20
    ) throws -> (response: RecordedResponse, body: [UInt8], leaks: [CassetteLeak]) {
        let recorder = try #require(
            try Recorder(RecordingPlan(path: self.path, mode: .all, exists: false), version: "1", redaction: nil))
        _ = recorder.put(.exchange(TapedExchanges.exchange(1, fields: fields, body: body), stored: nil))
        _ = try recorder.close(keepsOld: false)
        let renumbering = try #require(
            PlaceholderRenumbering(try PlaceholderRenumbering.Found(path: self.path)) { $0 + amount })
        let outcome = try CassetteRedaction.renumber(self.path, by: renumbering, version: "1")
        let reader = try CassetteReader(path: self.path)
        let response = try #require(try reader.interaction(at: 0).response)
        let bodies = BodyReader(cassettePath: self.path)
        let wire = try response.body.map { try bodies.wireBytes(of: $0, digest: { PortableSHA256() }).bytes } ?? []
        return (response, wire, outcome.leaks)
    }

    private func text(_ text: String, type: String = "text/plain", by amount: Int = 20) throws -> String {
        let found = try self.renumbered(["Content-Type: \(type)"], Array(text.utf8), by: amount)
        #expect(found.leaks == [])
        return String(decoding: found.body, as: UTF8.self)
    }

    private static let spellings: [(old: String, new: String, type: String)] = [
        ("{{token:1}} {{password:20}}", "{{token:21}} {{password:40}}", "text/plain"),
        (
            #"{"a":"{{token:1}}","n":2002900003,"at":2002999000,"id":"2002900003x"}"#,
            #"{"a":"{{token:21}}","n":2002900023,"at":2002999000,"id":"2002900003x"}"#, "application/json"
        ),
        (
            "a=%7B%7Btoken%3A1%7D%7D&b=%7b%7Btoken:2%7d%7d", "a=%7b%7btoken:21%7d%7d&b=%7b%7btoken:22%7d%7d",
            "application/x-www-form-urlencoded"
        ),
        ("{{password:0000001}} {{s:09}}", "{{password:0000021}} {{s:29}}", "text/plain"),
        ("5ec7e700-0000-4000-8000-000000000001", "5ec7e700-0000-4000-8000-000000000021", "text/plain"),
        (
            "a.eyJhIjoxfQ.x eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.signature-removed-authorization-1---",
            "a.eyJhIjoxfQ.x eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.signature-removed-authorization-21--", "text/plain"
        ),
        ("x e3t0b2tlbjoxfX0= y", "x e3t0b2tlbjoyMX19 y", "text/plain"),
    ]

    @Test(arguments: Self.spellings)
    func everySpellingGetsTheNewNumber(_ spelling: (old: String, new: String, type: String)) throws {
        // Base64 alone does not show which placeholders there are.
        let others = spelling.type == "text/plain" ? (old: " {{token:1}}", new: " {{token:21}}") : (old: "", new: "")
        let found = try self.text(spelling.old + others.old, type: spelling.type)
        #expect(found == spelling.new + others.new)
    }

    @Test func nothingElseIsChanged() throws {
        let text = #"{"password":"hunter2hunter2","Authorization":"Bearer abcdefgh12345678","a":"{{token:1}}"}"#
        #expect(try self.text(text, type: "application/json") == text.replacing("{{token:1}}", with: "{{token:21}}"))
    }

    @Test func fieldsChecksumsAndLengthsFollow() throws {
        let old = Array(#"{"t":"{{token:9}}"}"#.utf8)
        let found = try self.renumbered(
            ["Content-Type: application/json", "Content-MD5: \(Self.md5(old))", "X-Token: {{token:9}}", "Content-Length: \(old.count)"], old
        )
        let new = Array(#"{"t":"{{token:29}}"}"#.utf8)
        #expect(found.body == new && found.leaks == [])
        #expect(found.response.headers.first("content-md5") == Self.md5(new))
        #expect(found.response.headers.first("x-token") == "{{token:29}}")
        #expect(found.response.headers.first("content-length") == "\(new.count)")
    }

    private static func md5(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        BodyChecksum.md5.value(of: bytes).withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Other bytes of a binary file must not move.
    @Test func aBinaryFileWithoutRoomKeepsItsNumberAndIsReported() throws {
        let text = String(repeating: "0123456789abcdef\u{1}", count: 20_000) + "{{token:1}}"
        let found = try self.renumbered(["Content-Type: application/octet-stream"], Array(text.utf8))
        #expect(String(decoding: found.body, as: UTF8.self) == text)
        #expect(found.leaks.map(\.placeholder.description) == ["{{token:1}}"])
    }

    @Test func withoutRoomTheNumberStaysAndIsReported() throws {
        let lines = ["Content-Type: text/plain", "Content-Range: bytes 0-30/500"]
        let found = try self.renumbered(lines, Array("{{token:1}}** {{password:2}} abcd".utf8))
        #expect(String(decoding: found.body, as: UTF8.self) == "{{token:21}}* {{password:2}} abcd")
        #expect(found.leaks.map(\.placeholder.description) == ["{{password:2}}"])
    }

    @Test func aNewNumberThatAnotherPlaceholderHasOrHadIsRefused() throws {
        var found = PlaceholderRenumbering.Found()
        Array("{{token:3}} {{password:7}}".utf8).withUnsafeBytes { found.add($0) }
        #expect(PlaceholderRenumbering(found) { $0 + 4 } == nil && PlaceholderRenumbering(found) { $0 + 5 } != nil)
        #expect(PlaceholderRenumbering(found) { _ in 9 } == nil && PlaceholderRenumbering(found) { min($0, 3) } == nil)
    }

    /// A former merge gave them higher numbers.
    @Test(arguments: [
        ("{{token:12}} {{s:0012}}", "{{token:4}} {{s:0004}}"),
        ("5ec7e700-0000-4000-8000-000000000012", "5ec7e700-0000-4000-8000-000000000004"),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.signature-removed-authorization-12--",
            "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.signature-removed-authorization-4---"
        ),
        (#"{"n":2002900012}"#, #"{"n":2002900004}"#),
    ])
    func lowerNumbersAreWrittenAsTheRecorderWritesThem(old: String, new: String) throws {
        #expect(try self.text(old + " {{token:12}}", by: -8) == new + " {{token:4}}")
    }
}
