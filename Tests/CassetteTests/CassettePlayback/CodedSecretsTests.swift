import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import TapeBytes

/// Secrets in base64 and hex: recorded with placeholders, and sent again by a client whose secret the session does not know, or knows.
@Suite struct CodedSecretsTests {
    /// The encoding of a text before it is sent.
    enum Spelling: String, CaseIterable {
        case base64, unpadded, urlSafe, percentEncoded, hex, upperHex

        func text(_ content: String) -> String { self.text(Array(content.utf8)) }

        func text(_ bytes: [UInt8]) -> String {
            var text: [UInt8] = []
            bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
            let base64 = String(decoding: text, as: UTF8.self)
            return switch self {
            case .base64: base64
            case .unpadded: base64.replacing("=", with: "")
            case .urlSafe: base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            case .percentEncoded: base64.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
            case .hex: Hex.encode(bytes)
            case .upperHex: Hex.encode(bytes).uppercased()
            }
        }
    }

    /// The place of the encoded text in a request.
    enum Place: String, CaseIterable {
        case path, lastSegment, query, header, form, json, jsonInJSON, jsonLines, xmlText, xmlAttribute, text, untyped, part, jsonPart
        case octets, messagePack, messagePackBytes, cbor, cborBytes, jsonName, textLine, urlInJSON

        func request(_ coded: String, other: String = "1") -> SentRequests.Request {
            func json(_ text: String) -> String { "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
            func post(_ type: String, _ body: String) -> SentRequests.Request {
                SentRequests.Request(url: "http://a.test/api", lines: type.isEmpty ? [] : ["Content-Type: \(type)"], body: body)
            }
            func binary(_ type: String, _ body: [UInt8]) -> SentRequests.Request {
                SentRequests.Request(url: "http://a.test/api", lines: ["Content-Type: \(type)"], binary: body)
            }
            let bytes = Array(coded.utf8)
            switch self {
            case .path: return SentRequests.Request(method: "GET", url: "http://a.test/u/\(coded)/items/\(other)")
            case .lastSegment: return SentRequests.Request(method: "GET", url: "http://a.test/\(other)/\(coded)")
            case .query: return SentRequests.Request(method: "GET", url: "http://a.test/q?n=\(other)&x=\(coded)&z=3")
            case .header:
                return SentRequests.Request(method: "GET", url: "http://a.test/h?n=\(other)", lines: ["X-Note: v=\(coded); a=b"])
            case .form: return post("application/x-www-form-urlencoded", "n=\(other)&x=\(coded.replacing("+", with: "%2B"))&z=3")
            case .json: return post("application/json", #"{"n":"\#(other)","x":\#(json(coded)),"z":3}"#)
            case .jsonInJSON: return post("application/json", #"{"n":"\#(other)","x":\#(json(#"{"y":\#(json(coded))}"#))}"#)
            case .jsonLines: return post("application/x-ndjson", #"{"n":"\#(other)"}"# + "\n" + #"{"x":\#(json(coded))}"# + "\n")
            case .xmlText: return post("application/xml", "<a><n>\(other)</n><x>\(coded)</x></a>")
            case .xmlAttribute: return post("application/xml", "<a n=\"\(other)\" x=\"\(coded)\"/>")
            case .text: return post("text/plain", "n is \(other), x is \(coded), and more")
            case .textLine: return post("text/plain", "n \(other)\nx\n\(coded)\nand more\n")
            case .untyped: return post("", "n is \(other), x is \(coded), and more")
            case .part:
                return post("multipart/form-data; boundary=bbbbbbbbbb", MatchFixture.fields("bbbbbbbbbb", [("n", other), ("x", coded)]))
            case .jsonPart:
                let parts = [
                    (
                        ["Content-Disposition: form-data; name=\"m\"", "Content-Type: application/json"],
                        #"{"n":"\#(other)","x":\#(json(coded))}"#
                    )
                ]
                return post("multipart/form-data; boundary=bbbbbbbbbb", MatchFixture.multipart("bbbbbbbbbb", parts))
            case .octets: return post("application/octet-stream", "n is \(other), x is \(coded), and more")
            case .messagePack:
                return binary(
                    "application/msgpack", [0x82, 0xA1, 0x6E, 0xA1] + Array(other.utf8) + [0xA1, 0x78, 0xD9, UInt8(bytes.count)] + bytes)
            case .messagePackBytes:
                return binary(
                    "application/msgpack", [0x82, 0xA1, 0x6E, 0xA1] + Array(other.utf8) + [0xA1, 0x78, 0xC4, UInt8(bytes.count)] + bytes)
            case .cbor:
                return binary(
                    "application/cbor", [0xA2, 0x61, 0x6E, 0x61] + Array(other.utf8) + [0x61, 0x78, 0x78, UInt8(bytes.count)] + bytes)
            case .cborBytes:
                return binary(
                    "application/cbor", [0xA2, 0x61, 0x6E, 0x61] + Array(other.utf8) + [0x61, 0x78, 0x58, UInt8(bytes.count)] + bytes)
            case .jsonName: return post("application/json", #"{"n":"\#(other)",\#(json(coded)):3}"#)
            case .urlInJSON: return post("application/json", #"{"n":"\#(other)","x":"https://b.test/c/\#(coded)/d?e=f"}"#)
            }
        }
    }

    private func rules(_ place: Place) throws -> MatchRules {
        guard place == .header else { return .standard }
        return try MatchRules(match: ["method", "url", "body", "header:x-note"], ignore: [], patterns: [])
    }

    /// Requests as a cassette holds them if an earlier request revealed their secret.
    private func recorded(_ requests: [SentRequests.Request], secret: String) -> SentRequests {
        let redactor = Redactor()
        _ = redactor.vault.placeholder(for: Array("another-Secret-9".utf8), kind: "token")
        _ = redactor.vault.placeholder(for: Array(secret.utf8), kind: "token")
        return SentRequests(
            requests: requests.map { sent in
                var request = RecordedRequest(method: sent.method, url: sent.url, headers: HeaderFields(sent.lines))
                var body: WireBody? = sent.sent.isEmpty ? nil : WireBody(sent.sent)
                _ = redactor.redact(request: &request, body: &body)
                var kept = sent
                (kept.url, kept.lines, kept.body, kept.binary) = (request.url, request.headers.lines, "", body?.bytes ?? [])
                return kept
            })
    }

    /// The base64 of the last secret contains characters in which the alphabets differ.
    static let secrets = ["s3cret-Value-0123", "another-s3cret-Value-77", "k9?>~Zx-11"]

    /// A pointer to a name escapes a slash.
    private static func isInName(_ place: Place, _ coded: String) -> Bool { place == .jsonName && coded.contains("/") }

    private func cases(_ body: (_ place: Place, _ spelling: Spelling, _ context: (before: String, after: String)) throws -> Void) rethrows {
        for place in Place.allCases {
            for spelling in Spelling.allCases {
                for context in [("user:", ""), ("", ""), ("u=", "&v=2"), ("ab", ":x")] { try body(place, spelling, context) }
            }
        }
    }

    @Test func anUnknownSecretMatchesARecordedOne() throws {
        try self.cases { place, spelling, context in
            for (first, second) in [(0, 1), (1, 0), (0, 2)] {
                func sent(_ secret: String) -> SentRequests.Request {
                    place.request(spelling.text(context.before + secret + context.after))
                }
                let recorded = self.recorded([sent(Self.secrets[first])], secret: Self.secrets[first])
                let held = recorded.requests[0]
                guard !Self.isInName(place, spelling.text(context.before + Self.secrets[second] + context.after)) else { continue }
                let session = recorded.session(rules: try self.rules(place), redaction: LiveRedactor(Redactor()))
                let decision = try session.send(sent(Self.secrets[second]))
                #expect(
                    decision == .replay(index: 0),
                    "\(place) \(spelling) \(context) \(first): \(held.url) \(held.lines) \(String(decoding: held.sent, as: UTF8.self))")
            }
        }
    }

    @Test func aKnownSecretMatchesARecordedOne() throws {
        try self.cases { place, spelling, context in
            func sent(_ secret: String) -> SentRequests.Request { place.request(spelling.text(context.before + secret + context.after)) }
            let recorded = self.recorded([sent(Self.secrets[0])], secret: Self.secrets[0])
            let redaction = LiveRedactor(Redactor())
            _ = redaction.forOneRequest().redacted(url: "http://h/?token=\(Self.secrets[1])")
            let session = recorded.session(rules: try self.rules(place), redaction: redaction)
            #expect(try session.send(sent(Self.secrets[1])) == .replay(index: 0), "\(place) \(spelling) \(context)")
        }
    }

    @Test func theTextAroundASecretTellsRequestsApart() throws {
        for place in Place.allCases {
            for spelling in Spelling.allCases {
                func sent(_ name: String, _ secret: Int) -> SentRequests.Request {
                    place.request(spelling.text("\(name):\(Self.secrets[secret])"))
                }
                let recorded = self.recorded([sent("alice", 0), sent("bob", 0)], secret: Self.secrets[0])
                let session = recorded.session(rules: try self.rules(place), redaction: LiveRedactor(Redactor()))
                #expect(try session.send(sent("bob", 1)) == .replay(index: 1), "\(place) \(spelling)")
                guard !Self.isInName(place, spelling.text("alice:\(Self.secrets[2])")) else { continue }
                #expect(try session.send(sent("alice", 2)) == .replay(index: 0), "\(place) \(spelling)")
            }
        }
    }

    /// The values in one member whose name is a secret belong together.
    @Test func valuesOfTwoSecretNamesAreNotMixed() throws {
        func body(_ first: String, _ second: String, _ values: [Int]) -> SentRequests.Request {
            SentRequests.Request(
                lines: ["Content-Type: application/json"],
                body: #"{"a:\#(first)":{"x":\#(values[0]),"y":\#(values[1])},"a:\#(second)":{"x":\#(values[2]),"y":\#(values[3])}}"#)
        }
        let recorded = SentRequests(requests: [body("{{token:1}}", "b{{token:2}}", [1, 2, 3, 4])])
        #expect(try recorded.session().send(body("s1", "bs2", [1, 2, 3, 4])) == .replay(index: 0))
        guard case .refuse = try recorded.session().send(body("s1", "bs2", [1, 4, 3, 2])) else {
            Issue.record("values of two members are mixed")
            return
        }
    }

    /// Base64 in base64, UTF-16 in base64, base64 in lines, hex with colons.
    @Test func aKnownSecretMatchesBehindFurtherCodings() throws {
        func base64(_ bytes: [UInt8]) -> String { Spelling.base64.text(bytes) }
        let spellings: [(String) -> String] = [
            { base64(Array(base64(Array("u:\($0)".utf8)).utf8)) },
            { base64("p=\($0)".utf8.flatMap { [$0, 0] }) },
            { text in
                let coded = base64(Array("lorem ipsum dolor sit amet, consectetur adipiscing elit \(text) sed do eiusmod".utf8))
                return coded.prefix(40) + "\n " + coded.dropFirst(40).prefix(40) + "\n " + coded.dropFirst(80)
            },
            { text in text.utf8.map { Hex.encode([$0]) }.joined(separator: ":") },
        ]
        for (number, spelled) in spellings.enumerated() {
            for place in [Place.text, .untyped] + (number == 2 ? [] : [.json, .query, .header]) {
                func sent(_ secret: String, _ other: String = "1") -> SentRequests.Request { place.request(spelled(secret), other: other) }
                let recorded = self.recorded([sent(Self.secrets[0])], secret: Self.secrets[0])
                for held in [recorded.requests[0]] {
                    #expect(
                        held.url != sent(Self.secrets[0]).url || held.lines != sent(Self.secrets[0]).lines
                            || held.sent != sent(Self.secrets[0]).sent)
                }
                let redaction = LiveRedactor(Redactor())
                for secret in [Self.secrets[2], Self.secrets[1]] {
                    _ = redaction.forOneRequest().redacted(url: "http://h/?token=\(secret)")
                }
                let session = recorded.session(rules: try self.rules(place), redaction: redaction)
                #expect(try session.send(sent(Self.secrets[1])) == .replay(index: 0), "\(place) \(number)")
                guard
                    case .refuse = try recorded.session(rules: try self.rules(place), redaction: redaction).send(sent(Self.secrets[1], "2"))
                else {
                    Issue.record("\(place) \(number): another request is answered")
                    continue
                }
            }
        }
    }

    /// The path after an encoded segment is not part of its base64, whatever the segment's length.
    @Test func aPathAfterBase64StaysAsItIs() {
        for length in 6...14 {
            let secret = String("s3cret-Value-0123".prefix(length))
            let sent = Place.path.request(Spelling.unpadded.text(secret), other: "1f")
            #expect(self.recorded([sent], secret: secret).requests[0].url.hasSuffix("/items/1f"))
        }
    }

    @Test func aMissShowsNothingOfTheSecret() throws {
        for place in Place.allCases {
            for spelling in Spelling.allCases {
                func sent(_ name: String, _ secret: Int, _ other: String) -> SentRequests.Request {
                    place.request(spelling.text("\(name)\(Self.secrets[secret])"), other: other)
                }
                let recorded = self.recorded([sent("alice:", 0, "1")], secret: Self.secrets[0])
                let session = recorded.session(rules: try self.rules(place), redaction: LiveRedactor(Redactor()))
                for (name, other) in [("bob:", "1"), ("alice:", "2"), ("bob:", "2")] {
                    guard case .refuse(let report) = try session.send(sent(name, 1, other)) else {
                        Issue.record("\(place) \(spelling) \(name) \(other): no miss")
                        continue
                    }
                    let text = "\(report)"
                    // Any ten characters of the coded secret.
                    let coded = Array(spelling.text(name + Self.secrets[1]).utf8)
                    let shown = Array(text.utf8)
                    let isShown = (8...(coded.count - 10)).contains { start in
                        let piece = coded[start..<start + 10]
                        return shown.indices.dropLast(9).contains { shown[$0..<$0 + 10].elementsEqual(piece) }
                    }
                    #expect(!isShown, "\(place) \(spelling) \(name) \(other): \(text)")
                }
            }
        }
    }
}
