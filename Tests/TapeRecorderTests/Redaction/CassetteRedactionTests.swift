import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct CassetteRedactionTests {
    private let folder: TemporaryFolder
    private let path: String
    private let secret = "kT7-pQ2xV9mZ4w"

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("tape.json")
    }

    /// Records without redaction.
    private func record(_ exchanges: [TapedExchange]) throws {
        let recorder = try #require(
            try Recorder(RecordingPlan(path: self.path, mode: .all, exists: false), version: "1", redaction: nil))
        for exchange in exchanges { _ = recorder.put(.exchange(exchange, stored: nil)) }
        _ = try recorder.close(keepsOld: false)
    }

    private func write(_ interaction: Interaction) throws {
        let appender = try CassetteAppender.create(self.path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &writer)
        appender.stage { $0 += writer.bytes }
        try appender.commit()
        try appender.sync()
    }

    private func redact(_ rules: RedactionRules = .standard, dryRun: Bool = false) throws -> CassetteRedaction.Outcome {
        try CassetteRedaction.redact(self.path, rules: rules, version: "1", dryRun: dryRun)
    }

    private var exchanges: [TapedExchange] {
        let filler = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        return [
            TapedExchanges.simple(1, body: "early: \(self.secret)"), TapedExchanges.simple(2),
            TapedExchanges.exchange(3, fields: ["Content-Type: image/png"], body: filler + Array(self.secret.utf8)),
            TapedExchanges.exchange(4, fields: ["Content-Type: text/plain", "X-Api-Key: \(self.secret)"], body: []),
        ]
    }

    @Test(arguments: [false, true]) func aTornEndIsReported(dryRun: Bool) throws {
        try self.record([TapedExchanges.simple(1), TapedExchanges.simple(2)])
        try self.folder.write(self.folder.read("tape.json").dropLast(60), to: "tape.json")
        var notices: [String] = []
        let outcome = try CassetteRedaction.redact(
            self.path, rules: .standard, version: "1", dryRun: dryRun, notice: { notices.append($0) })
        #expect(outcome.exchanges == 1 && notices.count == 1 && notices[0].contains("tape.json"), "\(notices)")
    }

    @Test func namesOfFieldsInACassetteCountAndStay() throws {
        func text(_ number: Int, _ name: String, _ text: String) -> ProtoField {
            ProtoField(number, name: name, .text(Array(text.utf8)))
        }
        let user = ProtoMessage(fields: [
            text(1, "name", "Jo"), text(2, "password", "hunter2"), ProtoField(3, name: "kind", .varint(2), label: "DOG"),
            ProtoField(4, name: "ids", .packed([.varint(1), .varint(2)])),
        ])
        let messages = GRPCMessages(messages: [GRPCMessage(after: 1, content: .proto(user))])
        var interaction = TapedExchanges.exchange(1, fields: ["content-type: application/grpc"], body: []).interaction
        interaction.response?.body = Body(size: messages.size, content: .grpc(messages))
        try self.write(interaction)
        #expect(try self.redact().places == 1)
        var redacted = user
        redacted.fields[1].value = .text(Array("{{password:1}}".utf8))
        let body = try RecordedExchanges.read(self.path)[0].response?.body
        #expect(body?.content == .grpc(GRPCMessages(messages: [GRPCMessage(after: 1, content: .proto(redacted))])))
        #expect(body?.size == messages.size + "{{password:1}}".count - "hunter2".count)
    }

    @Test func digestsOfChangedBodiesAreReportedWhereTheyAreNamed() throws {
        let script = "const key = {\"password\":\"\(self.secret)\"}"
        let digest = Hex.encode(BodyChecksum.sha256.value(of: Array(script.utf8)))
        let large = String(repeating: "filler ", count: 20_000)
        try self.record([
            TapedExchanges.simple(1, body: "<link href=/app.js#sha256=\(digest)>"), TapedExchanges.simple(2, body: script),
            TapedExchanges.exchange(3, fields: ["Content-Type: image/png"], body: Array("\(large)\(digest) \(large)".utf8)),
        ])
        let outcome = try self.redact()
        #expect(outcome.namedDigests.count == 1 && outcome.namedDigests.entries.first?.exchanges == [1, 3])
        let words = try #require(outcome.namedDigests.words.first)
        #expect(words.hasPrefix("exchanges 1, 3 contain the SHA-256 digest of a body that redaction changed (GET http"))
        #expect(words.contains("\"--keep body:sha256:\(digest)\""))
    }

    @Test func aBodyThatIsKeptByItsDigestStaysInMemoryAndInAFile() throws {
        let bodies = ["{\"password\":\"\(self.secret)\"}", String(repeating: "filler ", count: 20_000) + "password=\(self.secret)"]
        let digests = bodies.map { Hex.encode(BodyChecksum.sha256.value(of: Array($0.utf8))) }
        try self.record(
            bodies.enumerated().map { TapedExchanges.exchange($0 + 1, fields: ["Content-Type: text/plain"], body: Array($1.utf8)) })
        #expect(try self.redact(RedactionRules(rules: [], keep: digests.map { "body:sha256:\($0)" })).changed == 0)
        #expect(try self.redact().namedDigests.count == 0)
    }

    @Test(arguments: [false, true]) func bodiesThatCannotBeSearchedAreCounted(dryRun: Bool) throws {
        let bytes = [UInt8](repeating: 0x81, count: 40)
        try self.record([
            TapedExchanges.simple(1), TapedExchanges.exchange(2, fields: ["Content-Encoding: snappy"], body: bytes),
            TapedExchanges.exchange(3, fields: ["Content-Encoding: snappy"], body: bytes),
        ])
        let unsearched = try self.redact(dryRun: dryRun).unsearched
        #expect(unsearched.count == 2)
        #expect(unsearched.words?.contains("the first is exchange 2: not searched") == true, "\(unsearched.words ?? "")")
    }

    @Test func secretOfTheLastExchangeIsRedactedInTheFirstAndInTheFiles() throws {
        try self.record(self.exchanges)
        let before = String(decoding: try self.folder.read("tape.json"), as: UTF8.self)
        let outcome = try self.redact()
        #expect(outcome.exchanges == 4)
        #expect(outcome.changed == 3)
        #expect(outcome.places == 3)
        #expect(outcome.kinds == ["api-key": 3] || outcome.kinds == ["api-key": 2])
        #expect(outcome.leaks.isEmpty)
        for name in try self.folder.names(in: "tape.bodies") {
            #expect(try !self.folder.read("tape.bodies/\(name)").suffix(100).elementsEqual(self.secret.utf8))
        }
        #expect(try self.folder.names(in: "tape.bodies").count == 1)
        let interactions = try RecordedExchanges.read(self.path)
        #expect(interactions[0].response?.body?.content == .text(Array("early: {{api-key:1}}".utf8)))
        // An exchange without secrets stays byte for byte.
        let after = String(decoding: try self.folder.read("tape.json"), as: UTF8.self)
        let second = try #require(before.components(separatedBy: "    {\n      \"id\"").dropFirst(2).first)
        #expect(after.contains(second))
        #expect(after.contains("\n  \"redaction\": {},\n  \"interactions\": ["))
    }

    @Test func aSecondTimeNothingIsLeftToDo() throws {
        try self.record(self.exchanges)
        _ = try self.redact()
        let before = try self.folder.read("tape.json")
        let outcome = try self.redact()
        #expect(outcome.changed == 0)
        #expect(try self.folder.read("tape.json") == before)
    }

    @Test func aDryRunTellsTheSameAndChangesNothing() throws {
        try self.record(self.exchanges)
        let before = try self.folder.read("tape.json")
        let outcome = try self.redact(dryRun: true)
        #expect(outcome.changed == 3)
        #expect(outcome.places == 3)
        #expect(try self.folder.read("tape.json") == before)
    }

    @Test func aDryRunKeepsTheFilesOfARunningRecorder() throws {
        try self.record(self.exchanges)
        let part = try self.folder.write(Array("half a body".utf8), to: "tape.bodies/.part-1-1")
        _ = try self.redact(dryRun: true)
        #expect(FileManager.default.fileExists(atPath: part))
        _ = try self.redact()
        #expect(!FileManager.default.fileExists(atPath: part), "whoever has the lock may remove it")
        try self.folder.write(Array("half a body".utf8), to: "tape.bodies/.part-1-1")
        let clean = try RecordedExchanges.read(self.path)[3]
        #expect(try CassetteRedaction.secrets(in: clean, number: 4, of: self.path).isEmpty)
        #expect(FileManager.default.fileExists(atPath: part))
    }

    @Test func aTrialMakesNoFolder() throws {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: (4 << 20) + 1)
        var long = TapedExchanges.simple(1).interaction
        long.response?.body = Body(size: text.count, content: .text(text))
        try self.write(long)
        #expect(try self.redact(dryRun: true).changed == 0)
        #expect(try self.folder.names() == ["tape.json"])
    }

    @Test func aDryRunTellsWherePlaceholdersWouldBe() throws {
        try self.record(self.exchanges)
        let found = try self.redact(dryRun: true).found
        #expect(found.map(\.exchange) == [1, 3, 4])
        #expect(found.map(\.place) == ["response body", "response body", "response header x-api-key"])
        let placeholder = try #require(found.first?.placeholder)
        #expect(found.first?.excerpt == "early: \(placeholder)" && found.last?.placeholder == placeholder)
        #expect(!found.contains { $0.excerpt.contains(self.secret) })
    }

    @Test func secretsOfAnExchangeThatIsNotInTheCassetteAreFoundByItsRules() throws {
        try self.record(self.exchanges)
        var edited = try RecordedExchanges.read(self.path)[3]
        #expect(try CassetteRedaction.secrets(in: edited, number: 4, of: self.path).isEmpty, "a cassette without rules")
        _ = try self.redact()
        let clean = try RecordedExchanges.read(self.path)[3]
        #expect(try CassetteRedaction.secrets(in: clean, number: 4, of: self.path).isEmpty)
        edited.response?.headers = HeaderFields(["X-Api-Key: another-kT7-pQ2x"])
        let found = try CassetteRedaction.secrets(in: edited, number: 4, of: self.path)
        #expect(found.map(\.place) == ["response header x-api-key"] && found.map(\.exchange) == [4])
    }

    @Test func rulesAreAddedToTheCassettesAndNumbersCountOn() throws {
        try self.record([TapedExchanges.exchange(1, fields: ["X-Api-Key: \(self.secret)", "X-Mail: ann@example.com"], body: [])])
        _ = try self.redact()
        _ = try self.redact(try RedactionRules(rules: ["header:x-mail"], keep: ["jwt"]))
        let fields = try #require(try RecordedExchanges.read(self.path).first?.response?.headers)
        #expect(fields == HeaderFields(["X-Api-Key: {{api-key:1}}", "X-Mail: {{x-mail:1}}"]))
        let text = String(decoding: try self.folder.read("tape.json"), as: UTF8.self)
        #expect(text.contains("\"redaction\": { \"rules\": [\"header:x-mail\"], \"keep\": [\"jwt\"] }"))
        _ = try self.redact(try RedactionRules(rules: ["text=HTT[P]"]))
        let more = String(decoding: try self.folder.read("tape.json"), as: UTF8.self)
        #expect(more.contains("\"rules\": [\"header:x-mail\", \"text=HTT[P]\"]"))
    }
}

@Suite struct PlaceholderTallyCassetteTests {
    @Test func placeholdersInFilesCountToo() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let plan = try RecordingPlan(path: path, mode: .once, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1", redaction: nil))
        let text = String(repeating: "x ", count: 600_000) + "{{token:41}} " + String(repeating: "y ", count: 600_000)
        let fields = ["Content-Type: text/plain", "X-T: {{token:7}} {{jwt:3}}"]
        _ = recorder.put(.exchange(TapedExchanges.exchange(1, fields: fields, body: Array(text.utf8)), stored: nil))
        _ = try recorder.close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").count == 1)
        #expect(
            try PlaceholderTally(CassetteReader(path: path), path: path, digest: { PortableSHA256() }).highest == ["token": 41, "jwt": 3])
    }
}
