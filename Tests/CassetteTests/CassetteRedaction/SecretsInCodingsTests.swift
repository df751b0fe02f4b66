import CassetteFormat
import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// A secret that an earlier message had, within further codings.
@Suite struct SecretsInCodingsTests {
    private static let secret = "Zq9c94Kx5cce1234"

    private let redactor = Redactor()

    init() { _ = self.redacted("{\"password\":\"\(Self.secret)\"}") }

    private func redacted(_ body: String, type: String = "application/json") -> String {
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(type)"]))
        var wire: WireBody? = WireBody(Array(body.utf8))
        _ = self.redactor.redact(response: &response, body: &wire)
        return String(decoding: wire?.bytes ?? [], as: UTF8.self)
    }

    private func base64(_ bytes: [UInt8]) -> String { String(decoding: SecretCorpus.base64(bytes), as: UTF8.self) }
    private func base64(_ text: String) -> String { self.base64(Array(text.utf8)) }
    private func wide(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } }

    @Test(arguments: ["", "a", "ab", "user:", "\u{1}\u{2}", "{\"x\":\""]) func base64InBase64IsReplaced(before: String) throws {
        for outer in ["", "x", "yz"] {
            func coded(_ secret: String) -> String { self.base64(outer + self.base64(before + secret) + ".") }
            #expect(self.redacted("{\"x\":\"\(coded(Self.secret))\"}") == "{\"x\":\"\(coded("{{password:1}}"))\"}")
        }
        let thrice = { (text: String) in self.base64(self.base64(self.base64(before + text))) }
        #expect(self.redacted("[\"\(thrice(Self.secret))\"]") == "[\"\(thrice("{{password:1}}"))\"]")
    }

    @Test func aSegmentOfAPathMayBeBase64OfBase64() {
        func coded(_ secret: String) -> String { self.base64(self.base64("me:" + secret)) }
        #expect(self.redacted("see /v1/users/\(coded(Self.secret)) x", type: "text/plain") == "see /v1/users/\(coded("{{password:1}}")) x")
    }

    @Test(arguments: ["$p=\"", "", "é "]) func utf16InBase64IsReplaced(before: String) {
        func line(_ secret: String) -> String { "powershell -EncodedCommand \(self.base64(self.wide(before + secret + "\""))) -x" }
        #expect(self.redacted(line(Self.secret), type: "text/plain") == line("{{password:1}}"))
    }

    @Test func deflateInBase64IsReplaced() throws {
        func coded(_ text: String) throws -> String {
            var bytes: [UInt8] = []
            let encoder = try EncoderChain([.rawDeflate(nil)])
            try Array(text.utf8).withUnsafeBytes { try encoder.push($0) { bytes.append(contentsOf: $0) } }
            try encoder.finish { bytes.append(contentsOf: $0) }
            return self.base64(bytes)
        }
        let text = { (secret: String) in "<a>\(String(repeating: "lorem ipsum ", count: 20))<b x='\(secret)'/></a>" }
        let found = self.redacted("{\"x\":\"\(try coded(text(Self.secret)))\"}")
        #expect(found == "{\"x\":\"\(try coded(text("{{password:1}}")))\"}")
    }

    @Test(arguments: [":", " ", "-", ","], [false, true]) func hexWithMarksIsReplaced(mark: String, isUpper: Bool) {
        func spelled(_ text: String) -> String {
            text.utf8.map { byte in
                let pair = Hex.encode([byte])
                return isUpper ? pair.uppercased() : pair
            }.joined(separator: mark)
        }
        for shift in 0..<8 {
            let before = String(repeating: "x", count: shift)
            #expect(
                self.redacted("{\"x\":\"\(before) \(spelled("a" + Self.secret + "z"))\"}")
                    == "{\"x\":\"\(before) \(spelled("a{{password:1}}z"))\"}")
        }
    }

    /// LDIF and header fields begin the lines after the first one with a blank (RFC 2849; RFC 5322, 2.2.3).
    @Test(arguments: [60, 64, 75, 76], ["\n ", "\r\n\t", "\n    "]) func indentedBase64IsReplaced(width: Int, lineEnd: String) throws {
        func folded(_ text: String) -> String {
            let base64 = self.base64(text)
            let first = width - 13
            let rest = base64.dropFirst(first)
            let lines = stride(from: 0, to: rest.utf8.count, by: width).map { String(rest.dropFirst($0).prefix(width)) }
            return "description:: " + ([String(base64.prefix(first))] + lines).joined(separator: lineEnd) + "\nsn: a\n"
        }
        for offset in 0..<60 {
            let start = String(repeating: "lorem ipsum ", count: 9).prefix(20 + offset)
            let entry = { (secret: String) in "dn: a\n" + folded("\(start) \(secret) dolor sit amet, consectetur adipiscing elit") }
            let found = self.redacted(entry(Self.secret), type: "text/plain")
            // The last of two lines does not tell how long a line may be.
            #expect(found.replacing(lineEnd, with: "") == entry("{{password:1}}").replacing(lineEnd, with: ""), "\(offset)")
        }
    }

    @Test func textsWithoutSecretsStay() {
        for body in [
            self.base64(self.base64("lorem ipsum dolor sit amet")), self.base64(self.wide("lorem ipsum")), "00:1b:44:11:3a:b7:00:1b:44:11",
            "/static/js/main/components/SomeVeryLongNameOfAComponent", "abcdefghijklmnopqrstuvwxyz\n  abcdefghijklmnopqrstuvwxyz\n  abc",
        ] {
            #expect(self.redacted(body, type: "text/plain") == body)
        }
    }

    @Test func runsAreFoundWhereverTheyAre() {
        for shift in 0..<70 {
            for length in [1, 15, 16, 17, 31, 32, 33, 64, 90] {
                let text = Array(
                    (String(repeating: "a b ", count: 20).prefix(shift) + "." + String(repeating: "A", count: length) + ".c").utf8)
                var found: [Range<Int>] = []
                text.withUnsafeBytes {
                    TokenRuns.forEach(in: $0) {
                        found.append($0)
                        return true
                    }
                }
                #expect(found == (length < 16 ? [] : [shift + 1..<shift + 1 + length]))
            }
        }
    }
}
