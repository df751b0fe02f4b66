import CassetteFormat
import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// Content within values: CBOR in bytes of CBOR, MessagePack and gzip in base64, base64 in base64, and text with entities.
@Suite struct ContentInValuesTests {
    private static let word = Array("h7nter2Xq".utf8)
    /// `{"password": "h7nter2Xq"}`
    private static let cbor: [UInt8] = [0xA1, 0x68] + Array("password".utf8) + [0x69] + word
    private static let messagePack: [UInt8] = [0x82, 0xA8] + Array("password".utf8) + [0xA9] + word + [0xA1, 0x61, 0x01]

    private func base64(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        return text
    }

    private func contains(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { ByteSearch.contains("h7nter2Xq", in: $0) } }

    @Test func bytesOfCBORHoldCBOR() {
        let placeholder = Array("{{password:1}}".utf8)
        let inner: [UInt8] = [0xA1, 0x68] + Array("password".utf8) + [0x6E] + placeholder
        for (head, type) in [([0xA1, 0x61, 0x64, 0xD8, 0x18], "application/cbor"), ([0xD2, 0x81], "application/cose")]
            as [([UInt8], String)]
        {
            let body = head + [0x40 | UInt8(Self.cbor.count)] + Self.cbor
            let redacted = RedactionFixtures.bytes(body, ["Content-Type: \(type)"])
            #expect(redacted == head + [0x58, UInt8(inner.count)] + inner)
        }
    }

    @Test func bytesOfMessagePackHoldMessagePack() {
        let body = [0x81, 0xA1, 0x64, 0xC4, UInt8(Self.messagePack.count)] + Self.messagePack
        let redacted = RedactionFixtures.bytes(body, ["Content-Type: application/msgpack"])
        #expect(!self.contains(redacted) && redacted[4] == UInt8(redacted.count - 5))
    }

    /// `curl -F file=@log.gz`
    @Test(arguments: ["application/octet-stream", "application/gzip", "text/plain"]) func aPartIsACompressedFile(type: String) throws {
        let file = RedactionFixtures.gzip(Array("password=h7nter2Xq token=1".utf8))
        let head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.gz\"\r\nContent-Type: \(type)\r\n\r\n"
        let body = Array(head.utf8) + file + Array("\r\n--b--\r\n".utf8)
        let redacted = RedactionFixtures.bytes(body, ["Content-Type: multipart/form-data; boundary=b"])
        #expect(redacted.starts(with: head.utf8) && redacted != body)
        var content: [UInt8] = []
        let chain = try #require(DecoderChain([.gzip], limits: InflateLimits()))
        let part = Array(redacted.dropFirst(head.utf8.count).dropLast(9))
        _ = try part.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } }
        #expect(content == Array("password={{password:1}} token=1".utf8))
    }

    private static let text = Array(#"{"password":"h7nter2Xq","user":"bo"}"#.utf8)
    private static let wide: [UInt8] = String(decoding: [0xEF, 0xBB, 0xBF] + text, as: UTF8.self).utf16.flatMap { unit -> [UInt8] in
        [UInt8(unit & 255), UInt8(unit >> 8)]
    }
    private static let archive = TapeArchiveTests.archive([("a.json", text)])

    /// An archive, and a text in another charset.
    private static let files: [[UInt8]] = [archive, wide, RedactionFixtures.gzip(archive)]

    private static func decoded(_ bytes: some Sequence<UInt8>) throws -> [UInt8] {
        var content = Array(bytes)
        while content.starts(with: [0x1F, 0x8B]) {
            var inner: [UInt8] = []
            let chain = try #require(DecoderChain([.gzip], limits: InflateLimits()))
            _ = try content.withUnsafeBytes { try chain.push($0) { inner.append(contentsOf: $0) } }
            content = inner
        }
        return content
    }

    private static func isHidden(_ content: [UInt8]) -> Bool {
        !String(decoding: content.filter { $0 != 0 }, as: UTF8.self).contains("h7nter2Xq")
    }

    @Test(arguments: files) func aCompressedFileOfAPartIsSearchedInItsFormat(file: [UInt8]) throws {
        let head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.gz\"\r\n\r\n"
        let body = Array(head.utf8) + RedactionFixtures.gzip(file) + Array("\r\n--b--\r\n".utf8)
        let redacted = RedactionFixtures.bytes(body, ["Content-Type: multipart/form-data; boundary=b"])
        let content = try Self.decoded(redacted.dropFirst(head.utf8.count).dropLast(9))
        #expect(content.count >= file.count / 2 && Self.isHidden(content))
    }

    @Test(arguments: files) func aCompressedFileInBase64IsSearchedInItsFormat(file: [UInt8]) throws {
        let body = Array(#"{"data":""#.utf8) + self.base64(RedactionFixtures.gzip(file)) + Array(#""}"#.utf8)
        let redacted = RedactionFixtures.bytes(body, ["Content-Type: application/json"])
        #expect(Self.isHidden(try Self.decoded(try #require(Base64.decode(Array(redacted.dropFirst(9).dropLast(2)))))))
    }

    @Test(arguments: files + [text]) func aMessageOfABatchIsACompressedFile(file: [UInt8]) throws {
        let compressed = RedactionFixtures.gzip(file)
        let message = "POST /x?token=h7nter2Xq HTTP/1.1\r\nContent-Length: \(compressed.count)\r\n\r\n"
        let head = "--b\r\nContent-Type: application/http\r\n\r\n"
        let body = Array((head + message).utf8) + compressed + Array("\r\n--b--\r\n".utf8)
        let redacted = RedactionFixtures.bytes(body, ["Content-Type: multipart/mixed; boundary=b"])
        let start = try #require((0..<redacted.count).first { redacted[$0...].starts(with: [0x1F, 0x8B, 8]) })
        let content = redacted[start..<redacted.count - 9]
        #expect(Self.isHidden(try Self.decoded(content)) && Self.isHidden(Array(redacted[..<start])))
        #expect(String(decoding: redacted[..<start], as: UTF8.self).contains("Content-Length: \(content.count)\r\n"))
    }

    private static func notes(_ content: [UInt8]) -> [String] {
        let body = Array("--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n".utf8) + content + Array("\r\n--b--\r\n".utf8)
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: multipart/form-data; boundary=b"]))
        var wire: WireBody? = WireBody(body)
        return Redactor().redact(response: &response, body: &wire).notes
    }

    /// An upload that was cut, or damaged.
    @Test func damagedCompressedDataHasANote() {
        let whole = RedactionFixtures.gzip(Array(String(repeating: "password=h7nter2Xq and some text, ", count: 100).utf8))
        let note = "not searched for secrets inside damaged or incomplete compressed data in a value or part"
        #expect(Self.notes(Array(whole.dropLast(9))) == [note])
        var damaged = whole
        damaged[20] ^= 0xFF
        #expect(Self.notes(damaged) == [note])
        // Bytes that begin as zlib's by chance.
        #expect(Self.notes([0x78, 0x9C] + (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ 13) }) == [])
    }

    @Test func compressedDataThatIsTooLongHasANote() {
        #expect(
            Self.notes(RedactionFixtures.gzip([UInt8](repeating: 65, count: 5 << 20))) == [
                "not searched for secrets inside compressed data of more than 4 MiB in a value or part"
            ])
    }

    @Test func base64InJSONHoldsTreesAndCompressedText() throws {
        for content in [
            Self.cbor, Self.messagePack, RedactionFixtures.gzip(Array(#"{"password":"h7nter2Xq"}"#.utf8)),
            RedactionFixtures.gzip(Self.cbor),
        ] {
            let text = self.base64(content)
            let body = Array(#"{"data":""#.utf8) + text + Array(#"","x":1}"#.utf8)
            let redacted = RedactionFixtures.bytes(body, ["Content-Type: application/json"])
            #expect(redacted != body && redacted.suffix(8).elementsEqual(body.suffix(8)))
            let value = Array(redacted[9..<(redacted.count - 8)])
            var decoded = try #require(Base64.decode(value))
            if decoded.starts(with: [0x1F, 0x8B]) {
                var content: [UInt8] = []
                let chain = try #require(DecoderChain([.gzip], limits: InflateLimits()))
                _ = try decoded.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } }
                decoded = content
            }
            #expect(!self.contains(decoded) && decoded.withUnsafeBytes { ByteSearch.contains("{{password:1}}", in: $0) })
        }
    }

    @Test(arguments: [
        "password=h7nter2Xq&x=1", "user=ada&password=h7nter2Xq", #"{"password":"h7nter2Xq"}"#,
    ])
    func base64InBase64(text: String) throws {
        let body = Array(#"{"data":""#.utf8) + self.base64(self.base64(Array(text.utf8))) + Array(#""}"#.utf8)
        let redacted = RedactionFixtures.bytes(body, ["Content-Type: application/json"])
        let once = try #require(Base64.decode(Array(redacted[9..<(redacted.count - 2)])))
        let twice = try #require(Base64.decode(once))
        #expect(!self.contains(twice), "\(String(decoding: twice, as: UTF8.self))")
    }

    @Test func contentsWithoutASecretStay() {
        let content = RedactionFixtures.gzip(Array("hello world".utf8))
        for bytes in [content, [0xA1, 0x64] + Array("user".utf8) + [0x63] + Array("ada".utf8)] {
            let body = String(decoding: Array(#"{"data":""#.utf8) + self.base64(bytes) + Array(#""}"#.utf8), as: UTF8.self)
            HiddenPlace.stays(body, type: "application/json")
        }
    }

    /// The decoded value, without entities, is searched for elsewhere.
    @Test(arguments: [
        "<r><password>h7&#x6e;ter2Xq</password><note>h7nter2Xq</note></r>",
        "<r><password>&#104;7nter2Xq</password><note>h7nter2Xq</note></r>",
        "<r password=\"h7&#x6e;ter2Xq\"><note>h7nter2Xq</note></r>",
    ])
    func entitiesInXML(text: String) { HiddenPlace.check(text, type: "application/xml", inJSON: false) }

    @Test func tokensOfWebServiceSecurity() {
        let text = "<a><wsse:BinarySecurityToken Id='x'>aDdudGVyMlhxaDdudGVy</wsse:BinarySecurityToken></a>"
        #expect(RedactionFixtures.body(text, type: "application/xml").contains("aDdud") == false)
    }
}
