import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct ExchangeRedactionTests {
    private let folder: TemporaryFolder
    private let store: BodyStore
    private let redactor = Redactor()
    private let secret = "kT7-pQ2xV9mZ4w"

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = try BodyStore(cassettePath: self.folder.file("tape.json"))
    }

    private var redaction: ExchangeRedaction { ExchangeRedaction(redactor: self.redactor, store: self.store, digest: { PortableSHA256() }) }

    private func interaction(_ fields: [String]) -> Interaction {
        TapedExchanges.exchange(1, fields: fields, body: []).interaction
    }

    /// A body that is too large for memory, with words in the middle.
    private func large(_ words: String) throws -> CapturedBody {
        let spool = OpenSpool(try self.store.makeSpool(), digest: PortableSHA256())
        let filler = [UInt8](repeating: UInt8(ascii: "a"), count: ExchangeRedaction.memoryLimit)
        for piece in [filler, Array(words.utf8), filler] { try spool.write(piece) }
        return CapturedBody(.spool(spool), arrival: nil, isComplete: true)
    }

    private func bytes(_ body: CapturedBody?) throws -> [UInt8] { try #require(try body?.wire(upTo: .max)).bytes }

    @Test func aBodyInBlocksIsRedactedWithItsHeadAndItsLengthFits() throws {
        let size = 2 * ExchangeRedaction.memoryLimit + 2 + self.secret.utf8.count
        var interaction = self.interaction(["Content-Type: text/plain", "Content-Length: \(size)", "X-Api-Key: \(self.secret)"])
        var request: CapturedBody?
        var response: CapturedBody? = try self.large(" \(self.secret) ")
        let outcome = try self.redaction.redact(&interaction, request: &request, response: &response)
        let bytes = try self.bytes(response)
        #expect(outcome.response.isBodyChanged)
        #expect(bytes.dropFirst(ExchangeRedaction.memoryLimit).starts(with: " {{api-key:1}} ".utf8))
        #expect(
            interaction.response?.headers
                == HeaderFields([
                    "Content-Type: text/plain", "Content-Length: \(bytes.count)", "X-Api-Key: {{api-key:1}}",
                ]))
        // The file with the secret is gone, and the other has no name yet where the system supports unnamed files.
        #expect(try self.folder.names(in: "tape.bodies").count <= 1)
    }

    @Test func secretOfALargeBodyIsRedactedInTheHeadToo() throws {
        var interaction = self.interaction(["Content-Type: text/plain"])
        interaction.request.url = "http://h/\(self.secret)"
        var request: CapturedBody? = CapturedBody(.memory(Array("is \(self.secret) there?".utf8)), arrival: nil, isComplete: true)
        var response: CapturedBody? = try self.large(" {\"access_token\": \"\(self.secret)\"} ")
        _ = try self.redaction.redact(&interaction, request: &request, response: &response)
        #expect(interaction.request.url == "http://h/{{access_token:1}}")
        #expect(try self.bytes(request) == Array("is {{access_token:1}} there?".utf8))
    }

    @Test func withoutSecretsBodiesStayWhereTheyAre() throws {
        var interaction = self.interaction(["Content-Type: text/plain"])
        var request: CapturedBody?
        var response: CapturedBody? = try self.large(" nothing ")
        guard case .spool(let before) = try #require(response).place else { return }
        let outcome = try self.redaction.redact(&interaction, request: &request, response: &response)
        #expect(!outcome.request.isChanged && !outcome.response.isChanged)
        guard case .spool(let after) = try #require(response).place else {
            Issue.record("the body was moved")
            return
        }
        #expect(before === after)
        #expect(interaction == self.interaction(["Content-Type: text/plain"]))
    }

    @Test(arguments: [false, true]) func aBodyThatWasCleanIsSearchedAgainOnceMoreIsKnown(isLarge: Bool) throws {
        let redaction = self.redaction
        let words = String(repeating: "so it goes ", count: 500) + self.secret
        func body() throws -> CapturedBody {
            isLarge ? try self.large(words) : CapturedBody(.memory(Array(words.utf8)), arrival: nil, isComplete: true)
        }
        func isRedacted(_ fields: [String]) throws -> Bool {
            var interaction = self.interaction(["Content-Type: text/plain"] + fields)
            var request: CapturedBody?
            var response: CapturedBody? = try body()
            let outcome = try redaction.redact(&interaction, request: &request, response: &response)
            let bytes = try self.bytes(response)
            #expect(outcome.response.isBodyChanged == !String(decoding: bytes, as: UTF8.self).contains(self.secret))
            return outcome.response.isBodyChanged
        }
        #expect(try !isRedacted([]))
        #expect(try !isRedacted([]))
        #expect(try isRedacted(["X-Api-Key: \(self.secret)"]))
        #expect(try isRedacted([]))
    }

    @Test func whileItIsNotRedactedOnlyTheOwnerCanReadABody() throws {
        let spool = OpenSpool(try self.store.makeSpool(), digest: PortableSHA256())
        try spool.write([1])
        // Nobody finds it at all if it has no name.
        guard let name = try self.folder.names(in: "tape.bodies").first else { return }
        let attributes = try FileManager.default.attributesOfItem(atPath: self.folder.file("tape.bodies/\(name)"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
}

@Suite struct SearchedBodiesTests {
    private static let bytes = [UInt8](repeating: 7, count: SearchedBodies.smallest)

    private func key(_ bytes: [UInt8] = Self.bytes, _ fields: [String] = ["Content-Type: text/plain"], isComplete: Bool = true)
        -> SearchedBodies.Key?
    {
        SearchedBodies.Key(CapturedBody(.memory(bytes), arrival: nil, isComplete: isComplete), HeaderFields(fields))
    }

    @Test func knowsABodyAgainAsLongAsNoMoreSecretsAreKnown() {
        let searched = SearchedBodies()
        searched.insert(self.key(), at: 3)
        #expect(searched.contains(self.key(), at: 3))
        #expect(!searched.contains(self.key(), at: 4))
        searched.insert(self.key(), at: 4)
        #expect(searched.contains(self.key(), at: 4))
        #expect(!searched.contains(self.key(), at: 3))
    }

    @Test(arguments: [
        (Self.bytes + [0], ["Content-Type: text/plain"], true), (Self.bytes, ["Content-Type: application/json"], true),
        (Self.bytes, ["Content-Type: text/plain", "Content-Encoding: gzip"], true), (Self.bytes, [], true),
        (Self.bytes, ["Content-Type: text/plain"], false),
    ])
    func bodiesThatASearchWouldTreatDifferentlyHaveDifferentKeys(bytes: [UInt8], fields: [String], isComplete: Bool) {
        let searched = SearchedBodies()
        searched.insert(self.key(), at: 0)
        #expect(!searched.contains(self.key(bytes, fields, isComplete: isComplete), at: 0))
    }

    @Test func bodyWithChunkExtensionsIsSearchedEachTime() {
        func key(_ line: String?, last: String? = nil) -> SearchedBodies.Key? {
            let pieces = [Arrival.Piece(at: 0, size: Self.bytes.count, line: line)]
            let arrival = Arrival(isChunked: true, pieces: pieces, lastLine: last)
            return SearchedBodies.Key(CapturedBody(.memory(Self.bytes), arrival: arrival, isComplete: true), HeaderFields())
        }
        #expect(key(nil) != nil)
        #expect(key("1000;token=kT7-pQ2xV9mZ4w") == nil)
        #expect(key(nil, last: "0;token=kT7-pQ2xV9mZ4w") == nil)
    }

    @Test func aSmallBodyIsSearchedEachTime() {
        #expect(self.key(Array(Self.bytes.dropLast())) == nil)
        #expect(!SearchedBodies().contains(nil, at: 0))
    }

    @Test func fieldsTakeNoMemoryWithoutEnd() {
        #expect(self.key(Self.bytes, ["Content-Type: text/" + String(repeating: "x", count: 2000)]) == nil)
    }

    @Test func aBodyInAFileIsKnownByItsDigest() throws {
        let folder = try TemporaryFolder()
        let spool = OpenSpool(try BodyStore(cassettePath: folder.file("tape.json")).makeSpool(), digest: PortableSHA256())
        try spool.write(Self.bytes)
        let body = CapturedBody(.spool(spool), arrival: nil, isComplete: true)
        let key = try #require(SearchedBodies.Key(body, HeaderFields(["Content-Type: text/plain"])))
        let searched = SearchedBodies()
        searched.insert(key, at: 0)
        #expect(searched.contains(key, at: 0) && key.weight == 32)
    }

    @Test func remembersABoundedNumberOfBytes() {
        let searched = SearchedBodies()
        let keys = (0..<3000).map { self.key(Self.bytes + [UInt8($0 & 255), UInt8($0 >> 8)]) }
        for (index, key) in keys.enumerated() {
            searched.insert(key, at: 0)
            #expect(searched.contains(key, at: 0))
            guard index % 500 == 0 else { continue }
            let held = keys.filter { searched.contains($0, at: 0) }.reduce(0) { $0 + ($1?.weight ?? 0) }
            #expect(held <= SearchedBodies.byteLimit)
        }
        #expect(!searched.contains(keys.first ?? nil, at: 0))
    }
}
