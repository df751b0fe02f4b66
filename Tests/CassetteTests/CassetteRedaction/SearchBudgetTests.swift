@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct SearchBudgetTests {
    /// Whether the search for secrets completes for this body.
    private func isSearched(_ wire: [UInt8], coding: String, within budget: SearchBudget) -> Bool {
        var body: WireBody? = WireBody(wire, arrival: nil, isComplete: true)
        var response = RecordedResponse(
            status: 200, reason: [], headers: HeaderFields(["Content-Type: text/plain", "Content-Encoding: \(coding)"]))
        _ = Redactor().within(budget).redact(response: &response, body: &body)
        return !budget.isSpent
    }

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        try #require(bytes.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
    }

    @Test func itCountsTheContentAndNotTheWire() throws {
        let wire = try self.gzip(Array(repeating: 0x20, count: 300_000))
        #expect(self.isSearched(wire, coding: "gzip", within: SearchBudget(bytes: 300_000)))
        #expect(!self.isSearched(wire, coding: "gzip", within: SearchBudget(bytes: 299_999)))
    }

    @Test func aSecondRoundOverTheSameBodyDoesNotCount() throws {
        let words = String(repeating: "so it goes ", count: 20_000)
        let content = Array(#"{"access_token": "kT7-pQ2xV9mZ4w", "words": "\#(words)"}"#.utf8)
        var body: WireBody? = WireBody(try self.gzip(content), arrival: nil, isComplete: true)
        let size = body?.bytes.count
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/"),
            response: RecordedResponse(
                status: 200, reason: [], headers: HeaderFields(["Content-Type: application/json", "Content-Encoding: gzip"])))
        var request: WireBody?
        // The placeholder is longer than the secret.
        let budget = SearchBudget(bytes: content.count + 100)
        let outcome = Redactor().within(budget).redact(&interaction, requestBody: &request, responseBody: &body)
        #expect(outcome.response.isBodyChanged && body?.bytes.count != size)
        #expect(!budget.isSpent)
    }

    /// A body that reveals a new secret in every round is not searched forever.
    @Test func ofManyRoundsTheLaterOnesCount() throws {
        let budget = SearchBudget(bytes: 100)
        for _ in 1...4 {
            budget.beginRound()
            try budget.meter(coded: 60)(60)
        }
        budget.beginRound()
        #expect(throws: SearchBudget.Spent.self) { try budget.meter(coded: 60)(60) }
    }

    @Test(arguments: [(64 << 10, 1, false), (64 << 10 + 1, 1, true), (1 << 20, 1 << 20 / 20, false), (1 << 20, 1 << 20 / 21, true)])
    func bodyFarLongerThanItsCodedFormIsDense(content: Int, coded: Int, isDense: Bool) throws {
        let budget = SearchBudget()
        try budget.meter(coded: coded)(content)
        #expect(budget.isDense == isDense && !budget.isSpent)
    }

    @Test func denseBodyAboveAMebibyteIsNotSearched() throws {
        let floor = InflateLimits.ratioFloor
        for (size, isSearched) in [(floor, true), (floor + 1, false)] {
            let wire = try self.gzip(Array(repeating: 0x20, count: size))
            #expect(self.isSearched(wire, coding: "gzip", within: SearchBudget(ratio: 100)) == isSearched)
        }
        #expect(self.isSearched(try self.gzip(Array(repeating: 0x20, count: floor + 1)), coding: "gzip", within: SearchBudget()))
    }

    @Test func allCodingsCount() throws {
        let floor = InflateLimits.ratioFloor
        let inner = try self.gzip(Array("hello".utf8))
        // The bytes after the end of the inner stream are decoded for nothing.
        let wire = try self.gzip(inner + Array(repeating: 0, count: floor))
        #expect(!self.isSearched(wire, coding: "gzip, gzip", within: SearchBudget(ratio: 100)))
    }

    /// Places that take far longer than others: nested lists, and rows whose first line names a secret's column.
    @Test(arguments: [("", "passwords=[a,"), ("", "tokens = { a = b, c = d,"), ("name,password\n", "1,2\n"), ("", "kind: Secret\ndata:\n")])
    func costlyPlacesSpendTheBudget(head: String, unit: String) {
        let text = head + String(repeating: unit, count: 1_000_000 / unit.utf8.count)
        #expect(!self.isSearched(Array(text.utf8), coding: "identity", within: SearchBudget(work: 8 << 20)))
    }

    @Test(arguments: ["so it goes, word by word; ", #"{"key": "value", "id": 17}, "#, "<key>name</key>\n", "1,2,3\n"])
    func ordinaryTextLeavesMuchOfTheBudget(unit: String) {
        let text = String(repeating: unit, count: 150_000 / unit.utf8.count)
        #expect(self.isSearched(Array(text.utf8), coding: "identity", within: SearchBudget(work: 8 << 20)))
    }

    #if CODINGS
    @Test func aBombOfBrotliIsNoOtherThanOneOfGzip() throws {
        #expect(!self.isSearched(CodingFixtures.brotliBomb, coding: "br", within: SearchBudget(bytes: 8 << 20, ratio: 100)))
    }
    #endif

    @Test func cancelledSearchEndsWithItsNextPiece() throws {
        let budget = SearchBudget()
        budget.cancel()
        var looked = 0
        var pass = SourcePass(
            text: TextRedaction(rules: .standard, vault: SecretVault(), budget: budget),
            headers: HeaderFields(["Content-Type: text/plain"]), names: [])
        let source = ByteSource(size: 1 << 20) { _, buffer in
            looked += 1
            return buffer.count
        }
        #expect(throws: SearchBudget.Spent.self) { try pass.run(source) { _ in } }
        #expect(looked == 1)
    }

    /// Each spelling of a secret is entered among those of similar ones, which takes time by its length.
    @Test func longSecretsCostMoreThanTheirNumber() {
        func work(length: Int) -> Int {
            let budget = SearchBudget()
            let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
            let secrets = (0..<100).map { number in
                String(decoding: (0..<length + number).map { letters[$0 * 7 % letters.count] }, as: UTF8.self)
            }
            let text = "[" + secrets.map { #"{"password":"\#($0)"}"# }.joined(separator: ",") + "]"
            var body: WireBody? = WireBody(Array(text.utf8))
            var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: application/json"]))
            _ = Redactor().within(budget).redact(response: &response, body: &body)
            return budget.workDone
        }
        #expect(work(length: 1000) > 4 * work(length: 20))
    }
}
