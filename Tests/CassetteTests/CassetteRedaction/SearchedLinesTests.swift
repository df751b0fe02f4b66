@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct SearchedLinesTests {
    private let lines = SearchedLines()
    private let fields = HeaderFields(["Host: e.com", "A: b", "Accept: */*"])

    @Test func aSearchedLineIsKnownInAnyPlace() {
        #expect(self.lines.unknown(in: self.fields, at: 0) == [0, 1, 2])
        self.lines.insert([0, 2], of: self.fields, at: 0)
        #expect(self.lines.unknown(in: self.fields, at: 0) == [1])
        #expect(self.lines.unknown(in: HeaderFields(["Accept: */*", "Accept: */", "Host: e.com"]), at: 0) == [1])
    }

    @Test func anotherSecretMakesAllLinesUnknown() {
        self.lines.insert(0..<3, of: self.fields, at: 4)
        #expect(self.lines.unknown(in: self.fields, at: 5) == [0, 1, 2])
        #expect(self.lines.unknown(in: self.fields, at: 4) == [])
    }

    @Test func longLinesAreNotHeld() {
        let long = HeaderFields(["A: \(String(repeating: "x", count: 125))", "A: \(String(repeating: "x", count: 126))"])
        self.lines.insert(0..<2, of: long, at: 0)
        #expect(self.lines.unknown(in: long, at: 0) == [1])
    }

    /// A line is either whole in its slot or missing: if there are many, some take the slots of others.
    @Test func ofMoreLinesThanThereIsRoomForNoneIsTakenForAnother() {
        let many = HeaderFields((0..<5000).map { "X-Number: \($0)" })
        self.lines.insert(0..<5000, of: many, at: 0)
        let unknown = Set(self.lines.unknown(in: many, at: 0))
        #expect(unknown.count >= 5000 - 1024 && unknown.count < 5000)
        #expect(self.lines.unknown(in: HeaderFields((5000..<10_000).map { "X-Number: \($0)" }), at: 0).count == 5000)
    }
}

@Suite struct RememberedLinesTests {
    private func redacted(_ redactor: Redactor, _ lines: [String], url: String = "http://e.com/") -> [String] {
        var request = RecordedRequest(method: "GET", url: url, headers: HeaderFields(lines))
        var body: WireBody?
        _ = redactor.redact(request: &request, body: &body)
        return request.headers.lines
    }

    @Test func aLineIsSearchedAgainOnceAValueInItIsASecretsElsewhere() {
        let redactor = Redactor()
        let note = "X-Note: kT7-pQ2xV9mZ4w"
        #expect(self.redacted(redactor, [note]) == [note])
        #expect(self.redacted(redactor, [note]) == [note])
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0),
            request: RecordedRequest(
                method: "GET", url: "http://e.com/", headers: HeaderFields([note, "Authorization: Bearer kT7-pQ2xV9mZ4w"])))
        var (request, response): (WireBody?, WireBody?)
        _ = redactor.redact(&interaction, requestBody: &request, responseBody: &response)
        #expect(interaction.request.headers.lines == ["X-Note: {{authorization:1}}", "Authorization: Bearer {{authorization:1}}"])
        #expect(self.redacted(redactor, [note]) == ["X-Note: {{authorization:1}}"])
    }

    @Test func linesNextToASecretKeepTheirOrder() {
        let redactor = Redactor()
        let plain = ["A: 1", "B: 2", "C: 3"]
        _ = self.redacted(redactor, plain)
        let mixed = ["A: 1", "X-Api-Key: kT7-pQ2xV9mZ4w", "B: 2", "D: 4", "C: 3"]
        for _ in 0..<2 {
            #expect(self.redacted(redactor, mixed) == ["A: 1", "X-Api-Key: {{api-key:1}}", "B: 2", "D: 4", "C: 3"])
        }
    }

    /// A code is a secret next to members of OAuth, in whichever line they are and however they are spelled.
    @Test(arguments: [#"{"redirect_uri":"a"}"#, #""{\"grant_type\":1}""#, "%7B%22code_verifier%22:1%7D"])
    func aLineThatMakesASecretOfAnotherIsNotForgotten(company: String) {
        let redactor = Redactor()
        // Alone, it is no secret.
        _ = self.redacted(redactor, [#"X-Login: {"code":"kT7-pQ2xV9mZ4w1"}"#])
        for number in 1...3 {
            let lines = ["X-Client: \(company)", #"X-Login: {"code":"kT7-pQ2xV9mZ4w\#(number)"}"#]
            let alone = self.redacted(Redactor(), lines)
            if company.hasPrefix("{") { #expect(alone[1] != lines[1]) }
            #expect((self.redacted(redactor, lines)[1] != lines[1]) == (alone[1] != lines[1]))
        }
    }

    /// A pattern may span lines, and then matches more or less than in a single line.
    @Test func patternsForAnyTextSeeAllLinesEachTime() throws {
        let rules = try RedactionRules(rules: ["text=(?s)[0-9].*[0-9]"], keep: [])
        let (redactor, both) = (Redactor(rules: rules), ["A: 1", "B: 22"])
        #expect(self.redacted(redactor, ["A: 1"]) == ["A: 1"])
        #expect(self.redacted(redactor, both) == self.redacted(Redactor(rules: rules), both))
    }

    /// A generated run with names, values and secrets that repeat.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func remembersNothingThatChangesWhatIsRedacted(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let names = [
            "Accept", "X-Api-Key", "Cookie", "X-Note", "User-Agent", "Authorization", "ETag", "x-data-bin", "Referer", "X-Client",
            "X-Login",
        ]
        // Messages with a text in their first field: one that may be a secret, and another one.
        let messages = ["kT7-pQ2xV9mZ4w1", "plain"].map { text in
            var message: [UInt8] = []
            ([0x0a, UInt8(text.utf8.count)] + Array(text.utf8)).withUnsafeBytes { Base64.encode($0, into: &message) }
            return String(decoding: message, as: UTF8.self)
        }
        let values = (0..<12).map { _ in
            String((0..<Int.random(in: 1...30, using: &random)).map { _ in "abcDEF0189-_%=".randomElement(using: &random) ?? "a" })
        }
        let redactor = Redactor()
        // A second redactor gets the learned secrets in the same order, and remembers no lines.
        let vault = SecretVault()
        for _ in 0..<60 {
            let lines = (0..<Int.random(in: 0...6, using: &random)).map { _ -> String in
                let value = values.randomElement(using: &random) ?? ""
                let name = names.randomElement(using: &random) ?? ""
                return switch name {
                case "Authorization": "\(name): Bearer \(value)"
                case "Cookie": "\(name): a=\(value)"
                case "X-Note": "\(name): \(Bool.random(using: &random) ? value : "kT7-pQ2xV9mZ4w1")"
                case "X-Api-Key": "\(name): \(Int.random(in: 0..<8, using: &random) == 0 ? "kT7-pQ2xV9mZ4w1" : value)"
                case "x-data-bin": "\(name): \(messages.randomElement(using: &random) ?? "")"
                case "X-Client": #"\#(name): {"redirect_uri":"\#(value.filter { $0 != "\"" })"}"#
                case "X-Login": #"\#(name): {"code":"\#(value)"}"#
                default: "\(name): \(value)"
                }
            }
            #expect(self.redacted(redactor, lines) == self.redacted(Redactor(vault: vault), lines), "\(lines)")
        }
    }
}
