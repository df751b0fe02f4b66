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

@Suite struct CassetteLeakScanTests {
    private let secret = "kT7-pQ2xV9mZ4w"

    /// A cassette recorded without redaction.
    private func record(_ folder: TemporaryFolder, _ exchanges: [TapedExchange]) throws -> String {
        let path = folder.file("tape.json")
        let recorder = try #require(
            try Recorder(RecordingPlan(path: path, mode: .all, exists: false), version: "1", redaction: nil))
        for exchange in exchanges { _ = recorder.put(.exchange(exchange, stored: nil)) }
        return try recorder.close(keepsOld: false)
    }

    private func leaks(_ path: String) throws -> [CassetteLeak] {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array(self.secret.utf8), kind: "jwt")
        return try CassetteLeakScan(path: path, vault: vault, digest: { PortableSHA256() }).leaks()
    }

    @Test func secretsAreFoundInTheTextAndInItsFiles() throws {
        let folder = try TemporaryFolder()
        let filler = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let path = try self.record(
            folder,
            [
                TapedExchanges.simple(1), TapedExchanges.simple(2, body: "it is \(self.secret)."),
                TapedExchanges.exchange(3, fields: ["Content-Type: image/png"], body: filler + Array(self.secret.utf8)),
            ])
        let leaks = try self.leaks(path)
        #expect(leaks.map(\.exchange) == [2, 3])
        let lines = String(decoding: try folder.read("tape.json"), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains(self.secret) }) + 1
        #expect(leaks.first?.place == "line \(line)")
        #expect(leaks.last?.place.hasPrefix("\"tape.bodies/") == true)
        #expect(leaks.last?.place.hasSuffix(" byte 100000") == true)
        #expect(!leaks.description.contains(self.secret))
    }

    @Test func aScanEndsWithItsBudgetAndCountsWhatItDidNotReach() throws {
        let folder = try TemporaryFolder()
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000) + Array(self.secret.utf8)
        let path = try self.record(
            folder,
            [
                TapedExchanges.simple(1, body: "it is \(self.secret)."),
                TapedExchanges.exchange(2, fields: ["Content-Type: image/png"], body: long), TapedExchanges.simple(3, body: self.secret),
            ])
        let vault = SecretVault()
        _ = vault.placeholder(for: Array(self.secret.utf8), kind: "jwt")
        let budget = SearchBudget()
        // The time is over once the second exchange's file is opened.
        let scan = try CassetteLeakScan(path: path, vault: vault, within: budget) {
            budget.cancel()
            return PortableSHA256()
        }
        let (leaks, unchecked) = try scan.found()
        #expect(leaks.map(\.exchange) == [1] && unchecked == 2)
        let (none, all) = try CassetteLeakScan(path: path, vault: vault, within: budget) { PortableSHA256() }.found()
        #expect(none.isEmpty && all == 3, "no time at all")
    }

    @Test func aPlaceIsReportedOnce() throws {
        let folder = try TemporaryFolder()
        let path = try self.record(folder, [TapedExchanges.simple(1, body: Array(repeating: self.secret, count: 5).joined(separator: " "))])
        #expect(try self.leaks(path).count == 1)
    }

    @Test func aRuleThatSpellsTheSecretIsALeakOfTheBeginning() throws {
        let folder = try TemporaryFolder()
        let path = try self.record(folder, [])
        var text = String(decoding: try folder.read("tape.json"), as: UTF8.self)
        text = text.replacingOccurrences(of: "  \"interactions\"", with: "  \"x\": \"\(self.secret)\",\n  \"interactions\"")
        try folder.write(Array(text.utf8), to: "tape.json")
        #expect(try self.leaks(path).map(\.description) == ["the cassette's beginning, line 4: the value of {{jwt:1}} (plain)"])
    }

    private func write(_ interaction: Interaction, to path: String) throws {
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &writer)
        appender.stage { $0 += writer.bytes }
        try appender.commit()
        try appender.sync()
    }

    @Test func secretsAreFoundInBodiesThatAreNotDecodedYet() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        var maker = InteractionMaker(store: store, digest: { PortableSHA256() })
        let text = Array("it is \(self.secret).".utf8)
        let wire = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) })
        let exchange = TapedExchanges.exchange(1, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: wire)
        try self.write(maker.interaction(of: exchange, mayDecode: false), to: path)
        try store.syncAll()
        let leaks = try self.leaks(path)
        #expect(leaks.map(\.exchange) == [1] && leaks.first?.spelling == .compressed)
        #expect(leaks.first?.place.hasPrefix("\"tape.bodies/") == true)
    }

    /// Its codings are kept, and its bytes are searched.
    @Test func secretsAreFoundInABodyThatThereWasNoTimeToSearch() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        var maker = InteractionMaker(store: store, digest: { PortableSHA256() })
        let bytes = [UInt8](repeating: 0xff, count: 100_000) + Array(self.secret.utf8)
        var interaction = try maker.interaction(
            of: TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: bytes), mayDecode: false)
        UnsearchedNote.add(to: &interaction)
        try self.write(interaction, to: path)
        try store.syncAll()
        let leaks = try self.leaks(path)
        #expect(leaks.map(\.exchange) == [1] && leaks.first?.place.hasSuffix(" byte 100000") == true, "\(leaks)")
    }

    @Test func secretsAreFoundInOriginalBytes() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        var sink = BodyStoreSink(store: try BodyStore(cassettePath: path), digest: { PortableSHA256() })
        let bytes = Array("it is \(self.secret).".utf8)
        let original = try sink.store(fileExtension: "br") { piece in try bytes.withUnsafeBytes { try piece($0) } }
        var interaction = TapedExchanges.exchange(1, fields: ["Content-Type: text/plain", "Content-Encoding: br"], body: []).interaction
        interaction.response?.body = Body(
            size: bytes.count, codings: [.brotli], content: .text(Array("it is {{jwt:1}}.".utf8)), original: original,
            sha256: original.sha256)
        try self.write(interaction, to: path)
        let leaks = try self.leaks(path)
        #expect(leaks.map(\.exchange) == [1] && leaks.first?.place == "\"\(original.path)\" byte 6", "\(leaks)")
    }

    @Test func secretsAreFoundInMessagesThatStayedCompressed() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let text = Array("it is \(self.secret).".utf8)
        let coded = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) })
        let fields = ["content-type: application/grpc", "grpc-encoding: gzip"]
        var interaction = TapedExchanges.exchange(1, fields: fields, body: []).interaction
        let messages = [
            GRPCMessage(isCompressed: true, content: .binary(coded)),
            GRPCMessage(isCompressed: true, content: .text([]), coding: .gzip(nil, header: .plain), original: .bytes(coded)),
        ]
        interaction.response?.body = Body(size: 0, content: .grpc(GRPCMessages(messages: messages)))
        try self.write(interaction, to: path)
        #expect(try self.leaks(path).map(\.place) == ["message 1 byte 6", "message 2 byte 6"])
    }

    @Test func cassetteWithoutSecretsHasNoLeaks() throws {
        let folder = try TemporaryFolder()
        #expect(try self.leaks(self.record(folder, [TapedExchanges.simple(1)])).isEmpty)
    }
}

@Suite struct CassetteLeakTests {
    @Test func aLeakNamesThePlaceAndKindButNeverTheValue() {
        let placeholder = Placeholder(kind: "jwt", number: 2)
        let leak = CassetteLeak(exchange: 7, place: "line 120", placeholder: placeholder, spelling: .base64)
        #expect(leak.description == "exchange 7, line 120: the value of {{jwt:2}} (base64)")
        let early = CassetteLeak(exchange: nil, place: "line 3", placeholder: placeholder, spelling: .plain)
        #expect(early.description == "the cassette's beginning, line 3: the value of {{jwt:2}} (plain)")
    }
}
