import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct KeptShapeTests {
    private static let secret = "0f8fad5b-d9cb-469f-a165-70867728950e"

    private func redactor(_ keep: String...) throws -> Redactor { Redactor(rules: try RedactionRules(rules: [], keep: keep)) }

    private func redacted(_ text: String, _ redactor: Redactor, as kind: TextKind = .plain) -> String {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { String(decoding: redactor.text.edits(in: $0, as: kind).applied(to: bytes), as: UTF8.self) }
    }

    private func marked(_ text: String) -> String {
        Array(text.utf8).withUnsafeBytes { MatchMark.replaced(in: $0) }.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    // MARK: UUIDs

    @Test func aUUIDStaysOneWhereThatIsAskedFor() throws {
        let text = #"{"access_token":"\#(Self.secret)"}"#
        #expect(self.redacted(text, Redactor()) == #"{"access_token":"{{access_token:1}}"}"#)
        let redactor = try self.redactor("shape:uuid")
        #expect(self.redacted(text, redactor) == #"{"access_token":"5ec7e700-0000-4000-8000-000000000001"}"#)
        let other = #"{"access_token":"018f4c1e-7e2a-7c3b-9d1f-0a1b2c3d4e5f","password":"hunter2hunter2"}"#
        #expect(self.redacted(other, redactor) == #"{"access_token":"5ec7e700-0000-7000-8000-000000000002","password":"{{password:1}}"}"#)
    }

    /// Foundation writes UUIDs in upper case, most servers in lower case.
    @Test(arguments: [[], ["shape:uuid"]]) func aUUIDIsTheSameSecretInCapitals(keep: [String]) throws {
        let redactor = Redactor(rules: try RedactionRules(rules: [], keep: keep))
        let first = self.redacted(#"{"access_token":"\#(Self.secret)"}"#, redactor)
        let later = self.redacted("GET /sessions/\(Self.secret.uppercased()) HTTP/1.1", redactor)
        let place = self.redacted(#"{"access_token":"\#(Self.secret.uppercased())"}"#, redactor)
        #expect(!later.lowercased().contains(Self.secret) && self.marked(later) == "GET /sessions/{{*}} HTTP/1.1")
        #expect(place == first)
        #expect(redactor.vault.count == 1)
    }

    @Test func invalidUUIDGetsAPlainPlaceholder() throws {
        for text in [
            String(Self.secret.dropLast()), "\(Self.secret)0", Self.secret.replacingOccurrences(of: "-", with: "_"),
            Self.secret.replacingOccurrences(of: "f", with: "g"), "",
        ] { #expect(UUIDPlaceholder.bytes(for: Array(text.utf8), number: 1) == nil, "\(text)") }
        #expect(
            self.redacted(#"{"access_token":"\#(Self.secret)0"}"#, try self.redactor("shape:uuid"))
                == #"{"access_token":"{{access_token:1}}"}"#)
    }

    /// Any UUID's placeholder is a valid UUID for Foundation, keeps the version, and is found again if nothing adjoins it.
    @Test func anyUUIDsPlaceholderIsOne() throws {
        var generator = SeededGenerator(seed: 16)
        for number in [1, 9, 10, 99_999, 100_000] {
            for _ in 0..<50 {
                let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let uuid = UUID(
                    uuid: (
                        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
                        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
                    ))
                let isUpper = Bool.random(using: &generator)
                let text = isUpper ? uuid.uuidString : uuid.uuidString.lowercased()
                let placeholder = try #require(UUIDPlaceholder.bytes(for: Array(text.utf8), number: number))
                let shown = String(decoding: placeholder, as: UTF8.self)
                let read = try #require(UUID(uuidString: shown))
                #expect(read.uuid.6 >> 4 == bytes[6] >> 4 && read.uuid.8 >> 6 == bytes[8] >> 6)
                let hasLetters = text.contains { $0.isLetter }
                #expect(!hasLetters || shown.contains(isUpper ? "5EC7E700" : "5ec7e700"))
                for (before, after) in [("", ""), ("/a/", "?b"), ("\"", "\""), ("urn:uuid:", "."), ("-", "-")] {
                    let found = Array((before + shown + after).utf8).withUnsafeBytes { Placeholder.spelled(in: $0, at: before.utf8.count) }
                    #expect(found?.placeholder == Placeholder(kind: "uuid", number: number) && found?.length == 36)
                    #expect(self.marked(before + shown + after) == before + "{{*}}" + after)
                }
                for (before, after) in [("a", ""), ("", "0"), ("5", "")] {
                    #expect(self.marked(before + shown + after) == before + shown + after)
                }
            }
        }
    }

    @Test func aUUIDsPlaceholderIsNoSecretAgain() throws {
        let redactor = try self.redactor("shape:uuid", "shape:length")
        let text = self.redacted(#"{"access_token":"\#(Self.secret)","password":"hunter2hunter2"}"#, redactor)
        #expect(self.redacted(text, redactor) == text)
        #expect(self.redacted(text, Redactor()) == text)
        #expect(self.redacted(text.replacingOccurrences(of: "5ec7e700", with: "5EC7E700"), Redactor()).contains("5EC7E700"))
        var tally = PlaceholderTally()
        Array(text.utf8).withUnsafeBytes { tally.add($0) }
        #expect(tally.counts == ["uuid": 1, "password": 1] && tally.highest == ["uuid": 1, "password": 1])
        // A recording that continues keeps counting.
        let next = try self.redactor("shape:uuid")
        next.vault.countOn(behind: tally)
        #expect(self.redacted(#"{"access_token":"\#(Self.secret)"}"#, next).contains("5ec7e700-0000-4000-8000-000000000002"))
    }

    /// For formats in which the number of bytes must not change, like Protocol Buffers.
    @Test func aUUIDStaysOneInBinaryText() throws {
        let redactor = try self.redactor("shape:uuid")
        _ = self.redacted(#"{"access_token":"\#(Self.secret)"}"#, redactor)
        #expect(
            self.redacted("\u{1}\u{24}\(Self.secret)\u{0}", redactor, as: .binary) == "\u{1}\u{24}5ec7e700-0000-4000-8000-000000000001\u{0}"
        )
    }

    /// Next to a letter, it would not be found again.
    @Test func besideALetterItIsAPlainPlaceholder() throws {
        let redactor = try self.redactor("shape:uuid")
        _ = self.redacted(#"{"access_token":"\#(Self.secret)"}"#, redactor)
        #expect(self.redacted("a=b%20\(Self.secret)&c=x\(Self.secret)", redactor, as: .url) == "a=b%20{{uuid:1}}&c=x{{uuid:1}}")
        #expect(self.redacted("\u{1}2\(Self.secret)2", redactor, as: .binary) == "\u{1}2{{uuid:1}}\(String(repeating: "*", count: 26))2")
    }

    /// A token's signature cannot contain dots.
    @Test func aKindWithAPointIsCountedOnce() throws {
        let redactor = Redactor(rules: try RedactionRules(rules: ["json:/user.token", "json:/user_token"]))
        func token(_ name: String) -> String {
            let header = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))
            return String(
                decoding: header + Array(".".utf8) + Base64URL.encode(Array(#"{"sub":"\#(name)"}"#.utf8)) + Array(".c2ln".utf8),
                as: UTF8.self)
        }
        let placeholders = ["user.token", "user_token"].map {
            redactor.vault.placeholder(for: Array(token($0).utf8), kind: $0, isSure: true, under: redactor.rules)
        }
        #expect(placeholders.map(\.description) == ["{{user_token:1}}", "{{user_token:2}}"])
    }

    // MARK: Lengths

    @Test func lengthsStayWhereThatIsAskedFor() throws {
        let redactor = try self.redactor("shape:length")
        #expect(self.redacted(#"{"password":"hunter2hunter2hunter2"}"#, redactor) == #"{"password":"{{password:00000001}}"}"#)
        #expect(self.redacted(#"{"password":"hunter-2"}"#, redactor) == #"{"password":"{{s:01}}"}"#)
        for length in 1...200 {
            let secret = "s" + String(repeating: "-\(length % 7)", count: 100).prefix(length - 1)
            let text = self.redacted(#"{"password":"\#(secret)"}"#, redactor)
            let shown = text.dropFirst(#"{"password":""#.utf8.count).dropLast(2)
            #expect(length < 7 || shown.utf8.count == length, "\(length): \(text)")
            #expect(!text.contains(secret) || length < 3)
            #expect(self.marked(text) == #"{"password":"{{*}}"}"#)
            #expect(self.redacted(text, redactor) == text && self.redacted(text, Redactor()) == text)
        }
        let numbers = (1...3).map { self.redacted(#"{"password":"\#(String(repeating: "p-\($0)", count: 10))"}"#, redactor) }
        #expect(Set(numbers).count == 3)
    }

    @Test func lengthsAreThoseWithoutEscapes() throws {
        let text = self.redacted(#"{"password":"a\"b\u00e9cd-0123456789-0123456789"}"#, try self.redactor("shape:length"))
        #expect(text.utf8.count == #"{"password":""}"#.utf8.count + "a\"b\u{e9}cd-0123456789-0123456789".utf8.count)
    }

    @Test func leadingZerosAreNotPartOfTheNumber() {
        for (text, number) in [("{{a:0001}}", 1), ("{{a:000}}", 0), ("{{a:\(String(repeating: "0", count: 4000))12}}", 12), ("{{a:0}}", 0)]
        {
            let found = Array(text.utf8).withUnsafeBytes { Placeholder.spelled(in: $0, at: 0) }
            #expect(found?.placeholder == Placeholder(kind: "a", number: number) && found?.length == text.utf8.count)
            #expect(self.marked("x\(text)y") == "x{{*}}y")
            for count in 0..<min(60, text.utf8.count) {
                let cut = Array(text.utf8.prefix(count)).withUnsafeBytes { bytes in
                    var reader = PlaceholderReader(bytes, at: 0)
                    return reader.read()
                }
                #expect(cut == .needsMore)
            }
        }
        let longest = "{{a:\(String(repeating: "0", count: 20_000))1}}"
        #expect(self.marked(longest) == longest)
    }

    // MARK: Settings

    @Test func anotherShapeIsRefused() {
        let error = #expect(throws: SettingSyntaxError.self) { try RedactionRules(rules: [], keep: ["shape:email"]) }
        #expect("\(error.map { "\($0)" } ?? "")".contains(#"write "shape:uuid" or "shape:length""#))
    }

    @Test func shapesAreWrittenIntoTheHead() throws {
        var writer = JSONWriter()
        try RedactionRules(rules: [], keep: ["shape:uuid", "shape:length"]).write(into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{ "keep": ["shape:uuid", "shape:length"] }"#)
    }
}
