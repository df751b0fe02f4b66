import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct InteractionMaker_RecordedTests {
    private let folder: TemporaryFolder
    private let store: BodyStore
    private let reader: BodyReader
    private let secret = "kT7-pQ2xV9mZ4w"

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = try BodyStore(cassettePath: self.folder.file("tape.json"))
        self.reader = BodyReader(cassettePath: self.folder.file("tape.json"))
    }

    private func recorded(_ text: String, size: Int = 0) throws -> Interaction {
        var maker = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        let body = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: max(0, size - text.utf8.count))
        return try maker.interaction(of: TapedExchanges.exchange(1, fields: ["Content-Type: text/plain"], body: body), mayDecode: true)
    }

    private func knowing() -> InteractionMaker {
        let redactor = Redactor()
        _ = redactor.vault.placeholder(for: Array(self.secret.utf8), kind: "jwt")
        return InteractionMaker(store: self.store, redactor: redactor, digest: { PortableSHA256() })
    }

    @Test func aBodyIsMadeAnewAndTheRestStays() throws {
        var maker = self.knowing()
        var interaction = try self.recorded("it is \(self.secret).")
        interaction.response?.body?.unknown = [UnknownMember(name: "x", json: Array("1".utf8))]
        let redacted = try #require(try maker.redacted(interaction, reader: self.reader))
        #expect(redacted.count == 1)
        var expected = interaction
        expected.response?.body?.content = .text(Array("it is {{jwt:1}}.".utf8))
        expected.response?.body?.size = 16
        #expect(try maker.made(redacted) == expected)
    }

    @Test(arguments: [100_000, ExchangeRedaction.memoryLimit + 1]) func aBodyInAFileGetsAnotherFile(size: Int) throws {
        var maker = self.knowing()
        let interaction = try self.recorded("it is \(self.secret).", size: size)
        guard case .file(let old) = try #require(interaction.response?.body).content else {
            Issue.record("the body is in no file")
            return
        }
        let made = try maker.made(try #require(try maker.redacted(interaction, reader: self.reader)))
        let body = try #require(made.response?.body)
        #expect(!body.content.sidecars.contains(old))
        #expect(try self.reader.wireBytes(of: body, digest: { PortableSHA256() }).bytes.starts(with: "it is {{jwt:1}}.aaa".utf8))
    }

    @Test func whereNothingIsFoundNothingIsMade() throws {
        let maker = self.knowing()
        #expect(try maker.redacted(self.recorded("words"), reader: self.reader)?.count == nil)
        let keeping = InteractionMaker(store: self.store, digest: { PortableSHA256() })
        #expect(try keeping.redacted(self.recorded(self.secret), reader: self.reader)?.count == nil)
    }
}
