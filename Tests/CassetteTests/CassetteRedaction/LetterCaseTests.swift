import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction

/// Secrets that a client writes in another letter case than it received them.
@Suite struct LetterCaseTests {
    private typealias Request = SentRequests.Request

    private func redacted(_ texts: [String]) -> [String] {
        let redaction = TextRedaction(rules: .standard, vault: SecretVault())
        return texts.map { text in
            Array(text.utf8).withUnsafeBytes { String(decoding: redaction.edits(in: $0).applied(to: $0), as: UTF8.self) }
        }
    }

    @Test(arguments: [
        "136b5a0c9f7e4d2ab8c1d0e3", "136B5A0C9F7E4D2AB8C1D0E3", "136b-5a0c-9f7e-4d2a", "13:6b:5a:0c:9f:7e:4d:2a",
        "0f1e2d3c-4b5a-6978-8a9b-acbdcedfe0f1",
    ])
    func hexDigitsAreTheSameSecretInEitherCase(secret: String) {
        for other in [secret.lowercased(), secret.uppercased()] {
            #expect(
                self.redacted([#"{"token":"\#(secret)"}"#, "see \(other)!", #"{"api_key":"\#(other)"}"#]) == [
                    #"{"token":"{{token:1}}"}"#, "see {{token:1}}!", #"{"api_key":"{{token:1}}"}"#,
                ])
        }
    }

    @Test(arguments: ["136b5a0c9f7e4d2ab8c1Zx", "kT7pQ2xV9mZ4w1Ab", "kt7-pq2x_v9mz4w1ab", "KT7PQ2XV9MZ4W1AB"])
    func aTokenIsFoundInLowerCaseAndInCapitals(secret: String) {
        #expect(
            self.redacted([#"{"token":"\#(secret)"}"#, "see \(secret.lowercased())!", "X=\(secret.uppercased())"]) == [
                #"{"token":"{{token:1}}"}"#, "see {{token:1}}!", "X={{token:1}}",
            ])
    }

    /// Two users may have passwords that differ in the case only, and short values may be words.
    @Test(arguments: ["Correct1HorseBattery", "Kt7pq2xv9"]) func otherValuesDifferByTheirCase(secret: String) {
        let text = #"{"password":"\#(secret)"}"#
        #expect(self.redacted([text, "see \(secret.lowercased())!"])[1] == "see \(secret.lowercased())!")
        #expect(self.redacted([text, text.replacing(secret, with: secret.uppercased())])[1] == #"{"password":"{{password:2}}"}"#)
    }

    @Test func theNumberOfATokenInAnotherCaseTellsRequestsApart() throws {
        let tokens = (1...3).map { "136b5a0c9f7e4d2ab8c\($0)Zx" }
        let redactor = Redactor()
        var requests: [Request] = []
        for (number, token) in tokens.enumerated() {
            var login = RecordedRequest(method: "GET", url: "http://a.test/\(number)?token=\(token)", headers: HeaderFields())
            var none: WireBody?
            _ = redactor.redact(request: &login, body: &none)
            var use = RecordedRequest(method: "GET", url: "http://a.test/", headers: HeaderFields(["X-Note: \(token.lowercased())"]))
            _ = redactor.redact(request: &use, body: &none)
            #expect(use.headers.lines == ["X-Note: {{token:\(number + 1)}}"])
            requests.append(Request(method: "GET", url: use.url, lines: use.headers.lines, answer: "user \(number)"))
        }
        let session = SentRequests(requests: requests).session(redaction: LiveRedactor(Redactor()))
        for number in [3, 1, 2] {
            let live = Request(method: "GET", url: "http://a.test/", lines: ["X-Note: {{token:\(number)}}"])
            #expect(try session.send(live).replayed == number - 1)
        }
    }
}
