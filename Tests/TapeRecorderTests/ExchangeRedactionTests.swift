import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

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

    /// A body of more than fits into memory, with words in the middle.
    private func large(_ words: String) throws -> CapturedBody {
        let spool = OpenSpool(try self.store.makeSpool(), digest: PortableSHA256())
        let filler = [UInt8](repeating: UInt8(ascii: "a"), count: ExchangeRedaction.memoryLimit)
        for piece in [filler, Array(words.utf8), filler] { try spool.write(piece) }
        return CapturedBody(.spool(spool), arrival: nil, isComplete: true)
    }

    private func octets(_ body: CapturedBody?) throws -> [UInt8] { try #require(try body?.wire(upTo: .max)).octets }

    @Test func aBodyInBlocksIsRedactedWithItsHeadAndItsLengthFits() throws {
        let size = 2 * ExchangeRedaction.memoryLimit + 2 + self.secret.utf8.count
        var interaction = self.interaction(["Content-Type: text/plain", "Content-Length: \(size)", "X-Api-Key: \(self.secret)"])
        var request: CapturedBody?
        var response: CapturedBody? = try self.large(" \(self.secret) ")
        let outcome = try self.redaction.redact(&interaction, request: &request, response: &response)
        let octets = try self.octets(response)
        #expect(outcome.response.isBodyChanged)
        #expect(octets.dropFirst(ExchangeRedaction.memoryLimit).starts(with: " {{api-key:1}} ".utf8))
        #expect(
            interaction.response?.headers
                == HeaderFields([
                    "Content-Type: text/plain", "Content-Length: \(octets.count)", "X-Api-Key: {{api-key:1}}",
                ]))
        // The file with the secret in it is gone, and the other has no name yet where the system has files without.
        #expect(try self.folder.names(in: "tape.bodies").count <= 1)
    }

    @Test func whatALargeBodyTeachesIsTakenOutOfTheHeadToo() throws {
        var interaction = self.interaction(["Content-Type: text/plain"])
        interaction.request.url = "http://h/\(self.secret)"
        var request: CapturedBody? = CapturedBody(.memory(Array("is \(self.secret) there?".utf8)), arrival: nil, isComplete: true)
        var response: CapturedBody? = try self.large(" {\"access_token\": \"\(self.secret)\"} ")
        _ = try self.redaction.redact(&interaction, request: &request, response: &response)
        #expect(interaction.request.url == "http://h/{{access_token:1}}")
        #expect(try self.octets(request) == Array("is {{access_token:1}} there?".utf8))
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
            let octets = try self.octets(response)
            #expect(outcome.response.isBodyChanged == !String(decoding: octets, as: UTF8.self).contains(self.secret))
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
        // Without a name nobody finds it at all.
        guard let name = try self.folder.names(in: "tape.bodies").first else { return }
        let attributes = try FileManager.default.attributesOfItem(atPath: self.folder.file("tape.bodies/\(name)"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
}
