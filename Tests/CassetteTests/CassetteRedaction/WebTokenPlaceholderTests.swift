import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

/// Creates tokens like an authority, and reads them like an app.
private enum Token {
    static func encoded(_ json: String) -> String { String(decoding: Base64URL.encode(Array(json.utf8)), as: UTF8.self) }

    static func make(_ payload: String, header: String = #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#) -> String {
        "\(self.encoded(header)).\(self.encoded(payload)).c2lnbmF0dXJlLW9mLWFub3RoZXI"
    }

    /// The payload of a token.
    static func payload(_ bytes: [UInt8]) throws -> [String: Any] {
        let segments = bytes.split(separator: UInt8(ascii: "."))
        try #require(segments.count == 3)
        #expect(Base64URL.decode(segments[2]) != nil)
        let json = Data(try #require(Base64URL.decode(segments[1])))
        return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    static func placeholder(_ token: String, kind: String = "jwt", number: Int = 1, keeping claims: Set<String> = []) -> [UInt8]? {
        WebTokenPlaceholder.bytes(for: Array(token.utf8), kind: kind, number: number, keeping: claims)
    }
}

@Suite struct WebTokenPlaceholderTests {
    private let claims =
        #"{"iss":"https://login.test/","sub":"bori@a.test","exp":1790000000,"iat":1789996400,"nbf":1789996400,"admin":true,"age":37,"realm_access":{"roles":["owner"],"bori@b.test":{"n":5}},"none":null}"#

    @Test func aTokenStaysOneWithoutItsValues() throws {
        let bytes = try #require(Token.placeholder(Token.make(self.claims)))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasSuffix(".signature-removed-jwt-1-"))
        let payload = try Token.payload(bytes)
        #expect(
            payload["exp"] as? Int == 1_790_000_000 && payload["iat"] as? Int == 1_789_996_400 && payload["nbf"] as? Int == 1_789_996_400)
        #expect(payload["iss"] as? String == "redacted" && payload["sub"] as? String == "redacted")
        #expect(payload["admin"] as? Bool == false && payload["age"] as? Int == 0 && payload["none"] is NSNull)
        let access = try #require(payload["realm_access"] as? [String: Any])
        #expect(access["roles"] as? [String] == ["redacted"])
        #expect(access.count == 2 && access["bori@b.test"] == nil)
        let header = try #require(Base64URL.decode(bytes.prefix { $0 != UInt8(ascii: ".") }))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#)
    }

    @Test func namedClaimsStayAsTheyAre() throws {
        let payload = try Token.payload(try #require(Token.placeholder(Token.make(self.claims), keeping: ["iss", "realm_access"])))
        #expect(payload["iss"] as? String == "https://login.test/" && payload["sub"] as? String == "redacted")
        #expect((payload["realm_access"] as? [String: Any])?["bori@b.test"] as? [String: Int] == ["n": 5])
    }

    @Test func anAddressIsNoNameOfAClaim() throws {
        let token = Token.make(#"{"https://x.test/claims":1,"https://x.test/bori@a.test":true,"bori@b.test":2}"#)
        let payload = try Token.payload(try #require(Token.placeholder(token, keeping: ["bori@b.test"])))
        #expect(payload.count == 3 && payload["https://x.test/claims"] as? Int == 0 && payload["bori@b.test"] as? Int == 2)
        #expect(!payload.keys.contains { $0.contains("bori@a") })
    }

    @Test func keysInTheHeaderGo() throws {
        let header = #"{"alg":"ES256","jwk":{"kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"},"x5c":["MIIE3jCCA8ag"]}"#
        let bytes = try #require(Token.placeholder(Token.make("{}", header: header)))
        let shown = String(decoding: try #require(Base64URL.decode(bytes.prefix { $0 != UInt8(ascii: ".") })), as: UTF8.self)
        #expect(shown == #"{"alg":"ES256","jwk":{"kty":"redacted","x":"redacted"},"x5c":["redacted"]}"#)
    }

    @Test func invalidTokenHasNoTokenPlaceholder() {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        for token in [
            "eyJhbGciOiJub25l", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJub25lIn0.bm90IGpzb24.x", "eyJ4IjoxfQ.e30.x",
            Token.make(#"["list"]"#), Token.make(#"{"a":1,"a":2}"#), Token.make(#"{"deep":\#(deep)}"#), "eyJhbGciOiJub25lIn0.gIA.x",
            Token.make(#"{"long":[\#((0..<9000).map { "\($0)" }.joined(separator: ","))]}"#), "\(Token.make("{}")).a.b",
        ] where token != "eyJhbGciOiJub25lIn0.e30." { #expect(Token.placeholder(token) == nil, "\(token.prefix(60))") }
        // An unsigned token is a token too.
        #expect(Token.placeholder("eyJhbGciOiJub25lIn0.e30.") != nil)
    }

    @Test func itIsFoundAgainWhereItStandsAlone() throws {
        for kind in ["jwt", "access_token", "x-api.key", "a-1"] {
            for number in [1, 12, 345, 99_999] {
                let token = try #require(Token.placeholder(Token.make(self.claims), kind: kind, number: number))
                #expect(token.split(separator: UInt8(ascii: "."))[2].count % 4 == 0)
                for (before, after) in [
                    ("", ""), ("Bearer ", ""), ("a=", "&b"), ("\"", "\""), ("{{a:1}}", "}"), (".", ""), ("", "."), ("", ".x"),
                ] {
                    let text = Array(before.utf8) + token + Array(after.utf8)
                    let found = text.withUnsafeBytes { Placeholder.spelled(in: $0, at: before.utf8.count) }
                    #expect(found?.placeholder == Placeholder(kind: kind.replacing(".", with: "_"), number: number))
                    #expect(found?.length == token.count)
                }
                for (before, after) in [("x", ""), ("", "x"), ("-", "")] {
                    let text = Array(before.utf8) + token + Array(after.utf8)
                    #expect(text.withUnsafeBytes { Placeholder.spelled(in: $0, at: before.utf8.count) }?.placeholder.number != number)
                }
                #expect(token.withUnsafeBytes { Placeholder.isWhole($0) })
            }
        }
    }

    /// The placeholder of any token can be decoded, has the same types, and contains none of its texts.
    @Test func nothingOfAnyTokenIsLeft() throws {
        var generator = SeededGenerator(seed: 5)
        func text() -> String {
            String(
                (0..<Int.random(in: 6...30, using: &generator)).map { _ in "abcdefgh@. 한\"\\/123".randomElement(using: &generator) ?? "a" })
        }
        func value(_ depth: Int) -> Any {
            switch Int.random(in: 0...(depth > 3 ? 3 : 5), using: &generator) {
            case 0: text()
            case 1: Int.random(in: 100_000...999_999, using: &generator)
            case 2: Bool.random(using: &generator)
            case 3: NSNull()
            case 4: (0..<Int.random(in: 0...4, using: &generator)).map { _ in value(depth + 1) }
            default: Dictionary((0..<3).map { _ in (text(), value(depth + 1)) }) { $1 }
            }
        }
        func texts(_ value: Any) -> [String] {
            if let text = value as? String { return [text] }
            if let list = value as? [Any] { return list.flatMap(texts) }
            if let object = value as? [String: Any] { return object.flatMap { [$0.key] + texts($0.value) } }
            return []
        }
        func shape(_ value: Any) -> String {
            if value is String { return "s" }
            if value is NSNull { return "n" }
            if let list = value as? [Any] { return "[\(list.map(shape).joined())]" }
            if let object = value as? [String: Any] { return "{\(object.values.map(shape).sorted().joined())}" }
            return "\(type(of: value as AnyObject))".contains("Bool") || value is Bool ? "b" : "i"
        }
        for _ in 0..<300 {
            var claims: [String: Any] = ["exp": 1_790_000_000]
            for index in 0..<Int.random(in: 0...6, using: &generator) { claims["c\(index)"] = value(0) }
            let json = String(decoding: try JSONSerialization.data(withJSONObject: claims), as: UTF8.self)
            guard let bytes = Token.placeholder(Token.make(json)) else {
                #expect(json.utf8.count > 4000)
                continue
            }
            let payload = try Token.payload(bytes)
            #expect(Set(payload.keys) == Set(claims.keys))
            for (name, claim) in claims where name != "exp" {
                let shown = texts(payload[name] ?? "").joined(separator: "\n")
                // Values that look like the names in a program stay.
                for text in texts(claim) where !text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) {
                    #expect(!shown.contains(text), "\(text)")
                }
                #expect(texts(payload[name] ?? "").count == texts(claim).count)
            }
        }
    }

    @Test func manyPointsTakeLinearTime() {
        for text in [
            String(repeating: "eyJ.", count: 300_000), String(repeating: "eyJ", count: 400_000),
            String(repeating: " eyJa.b", count: 200_000),
            String(repeating: "eyJa.b.signature-removed-", count: 50_000),
        ] {
            var copy = Array(text.utf8)
            let count = copy.withUnsafeMutableBytes { MatchMark.replacePlaceholders(in: $0) }
            #expect(count == copy.count)
        }
    }
}

@Suite struct WebTokenRedactionTests {
    private let token = Token.make(#"{"sub":"bori@a.test","exp":1790000000}"#)
    private let other = Token.make(#"{"sub":"miso@a.test","exp":1790000000}"#)

    private func redacted(_ text: String, _ redactor: Redactor = Redactor()) -> String {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { String(decoding: redactor.text.edits(in: $0).applied(to: bytes), as: UTF8.self) }
    }

    @Test func theSameTokenIsTheSameAndAnotherIsNot() {
        let redactor = Redactor()
        let texts = [#"{"access_token":"\#(self.token)"}"#, "Authorization: Bearer \(self.token)", #"{"id_token":"\#(self.other)","a":1}"#]
            .map {
                self.redacted($0, redactor)
            }
        #expect(texts[0].contains("signature-removed-access_token-1") && texts[1].contains("signature-removed-access_token-1"))
        #expect(texts[2].contains("signature-removed-id_token-1") && texts[2].hasSuffix(#"","a":1}"#))
        for text in texts {
            #expect(!text.contains("c2lnbmF0dXJl"))
            // A second search finds nothing more.
            #expect(self.redacted(text, redactor) == text && self.redacted(text) == text)
            var tally = PlaceholderTally()
            Array(text.utf8).withUnsafeBytes { tally.add($0) }
            #expect(tally.counts.values.reduce(0, +) == 1)
        }
    }

    @Test func claimsThatAreNamedStay() throws {
        let rules = try RedactionRules(rules: [], keep: ["jwt:sub"])
        let text = self.redacted("token \(self.token)", Redactor(rules: rules))
        let payload = try Token.payload(Array(text.utf8.dropFirst("token ".utf8.count)))
        #expect(payload["sub"] as? String == "bori@a.test")
        #expect(throws: SettingSyntaxError.self) { try RedactionRules(rules: [], keep: ["jwt:"]) }
    }

    @Test func claimsThatAreNamedStayInAPart() throws {
        let body = "--b\r\nContent-Disposition: form-data; name=\"access_token\"\r\n\r\n\(self.token)\r\n--b--\r\n"
        var headers = HeaderFields()
        headers.append(name: "content-type", value: "multipart/form-data; boundary=b")
        let redactor = Redactor(rules: try RedactionRules(rules: [], keep: ["jwt:sub"]))
        let text = body.withBytes { ContentRedaction(text: redactor.text).edits(in: $0, headers: headers).applied(to: Array($0)) }
        let token = try #require(String(decoding: text, as: UTF8.self).split(separator: "\r\n").first { $0.hasPrefix("eyJ") })
        #expect(try Token.payload(Array(token.utf8))["sub"] as? String == "bori@a.test")
    }

    @Test func aTokenInBytesThatAreNoTextIsAPlainPlaceholder() {
        let bytes = Array("x \(self.token) y".utf8)
        let redacted = bytes.withUnsafeBytes { Redactor().text.edits(in: $0, as: .binary).applied(to: bytes) }
        #expect(redacted.count == bytes.count && String(decoding: redacted, as: UTF8.self).hasPrefix("x {{jwt:1}}*"))
    }

    @Test func encryptedTokenGetsAPlainPlaceholder() {
        let encrypted =
            "eyJhbGciOiJSU0EtT0FFUCJ9.OKOawDo13gRp2ojaHV7LFpZcgV7T6DVZKTyKOMTYUmKoTCVJ.48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9o.XFBoMYUZodetZdvT"
        #expect(self.redacted("x \(encrypted) y") == "x {{jwt:1}} y")
    }

    @Test func aTokenWithAnyTimesIsAMark() throws {
        let token = self.redacted(self.token)
        let moved = token.withBytes { bytes in WebTokenTimes.edits(in: bytes) { _ in "1890000000" }.applied(to: Array(bytes)) }
        #expect(moved != Array(token.utf8))
        #expect(try Token.payload(moved)["exp"] as? Int == 1_890_000_000)
        for text in [token, String(decoding: moved, as: UTF8.self)] {
            #expect(Array("a \(text)&b".utf8).withUnsafeBytes { MatchMark.replaced(in: $0) } == Array("a {{*}}&b".utf8))
        }
        #expect(Array("a \(self.token)&b".utf8).withUnsafeBytes { MatchMark.replaced(in: $0) } == nil)
    }

    /// Wherever a token is: no part of it is left, a second search finds nothing more, and the placeholder is a mark and is counted.
    @Test(
        arguments: [
            "T", "the token is T.", "T. Next", "T.json", "T...", "v1.T", "a=1&b=Bearer%20T", "a=%22T%22", "next=%2Fcb%3Ftoken%3DT%26x%3D1",
            #"{"m":"line\nT\n"}"#, #"{"a":"\u0022T\u0022"}"#, #"{"access_token":"T","note":"xT"}"#, #"{"access_token":"T","note":"x.T.y"}"#,
            #"{"access_token":"T","note":"T_y"}"#, "https://me:T@h/x", #"{"a":"{\"b\":\"x\\nT\"}"}"#, "access_token=T access-T",
        ], [TextKind.plain, .form, .url, .fields])
    func aTokenIsFoundAgainInAnyPlace(template: String, kind: TextKind) {
        for token in [self.token, Token.make(#"{ "sub":"bori@a.test","exp":1790000000}"#)] {
            func redacted(_ text: String) -> String {
                text.withBytes { String(decoding: Redactor().text.edits(in: $0, as: kind).applied(to: Array($0)), as: UTF8.self) }
            }
            let text = redacted(template.replacing("T", with: token))
            #expect(!text.contains(token.split(separator: ".")[1].prefix(20)))
            #expect(redacted(text) == text)
            let marked = text.withBytes { MatchMark.replaced(in: $0) }.map { String(decoding: $0, as: UTF8.self) }
            #expect(marked?.contains("signature-removed") == false, "\(text)")
            var tally = PlaceholderTally()
            text.withBytes { tally.add($0) }
            #expect(!tally.counts.isEmpty)
        }
    }

    /// A pattern with many matches does not examine the surroundings of each.
    @Test func manyHitsOfAPatternTakeLinearTime() throws {
        let rules = try RedactionRules(rules: ["text=[0-9]{4}"])
        let text = String(repeating: "1234 ", count: 200_000)
        #expect(text.withBytes { rules.rules[0].findings(in: $0).count } == 200_000)
    }

    @Test func marksDoNotDependOnCuts() {
        let token = self.redacted(self.token)
        let text = Array(
            "e ey \(token)eyJ \(token) xeyJ.\(token){{a:1}} y\(token) 5ec 5ec7e700-0000-4000-8000-00000000001x 5EC7E700-0000-7000-8000-000000000012,ey5ec7e70"
                .utf8)
        func filtered(_ pieces: [ArraySlice<UInt8>]) -> String {
            var filter = MarkFilter()
            var output: [UInt8] = []
            for piece in pieces { Array(piece).withUnsafeBytes { filter.push($0) { output += $0 } } }
            filter.finish { output += $0 }
            return String(decoding: output, as: UTF8.self)
        }
        let whole = filtered([text[...]])
        #expect(whole == "e ey \(token)eyJ {{*}} xeyJ.{{*}}{{*}} y\(token) 5ec 5ec7e700-0000-4000-8000-00000000001x {{*}},ey5ec7e70")
        for cut in text.indices { #expect(filtered([text[..<cut], text[cut...]]) == whole, "\(cut)") }
        #expect(filtered(text.map { [$0][...] }) == whole)
    }
}

extension String {
    fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { Array(self.utf8).withUnsafeBytes(body) }
}
