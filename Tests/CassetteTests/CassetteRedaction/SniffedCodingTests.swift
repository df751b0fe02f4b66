import CassetteFormat
import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassetteRedaction

/// Bodies whose header fields are wrong: the search follows the bytes.
@Suite struct SniffedCodingTests {
    private static let text = Array(#"{"user":"ada","password":"h7nter2Xq"}"#.utf8)
    private static let secret = Array("h7nter2Xq".utf8)

    private func redacted(_ bytes: [UInt8], _ lines: [String]) -> [UInt8] {
        let redacted = RedactionFixtures.bytes(bytes, lines)
        #expect(RedactionFixtures.bytes(redacted, lines) == redacted)
        return redacted
    }

    private func gunzipped(_ bytes: [UInt8]) -> [UInt8] { Array(GzipText.gunzip(bytes).utf8) }

    @Test(arguments: ["gzip", "br", "deflate", "zstd", "gzip, br", "deflate, gzip", "snappy", "x-gzip"])
    func aFieldThatNamesACodingWhichIsNotThere(coding: String) {
        let redacted = self.redacted(Self.text, ["Content-Type: application/json", "Content-Encoding: \(coding)"])
        if coding == "snappy" {
            // The format of such bytes is unknown.
            #expect(redacted.count == Self.text.count)
        } else {
            #expect(redacted == Array(#"{"user":"ada","password":"{{password:1}}"}"#.utf8))
        }
    }

    @Test(arguments: [[], ["br"], ["deflate"], ["zstd"], ["snappy"], ["br", "br"]])
    func gzipThatNoFieldNames(codings: [String]) {
        let lines = ["Content-Type: application/json"] + codings.map { "Content-Encoding: \($0)" }
        let redacted = self.redacted(RedactionFixtures.gzip(Self.text), lines)
        #expect(self.gunzipped(redacted) == Array(#"{"user":"ada","password":"{{password:1}}"}"#.utf8))
    }

    @Test(arguments: [1, 6, 9]) func zlibThatNoFieldNames(level: Int) throws {
        let stream = try #require(Self.text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: level), format: .zlib) })
        for lines in [["Content-Type: application/octet-stream"], ["Content-Type: application/json", "Content-Encoding: gzip"], []] {
            let redacted = self.redacted(stream, lines)
            var text: [UInt8] = []
            let chain = DecoderChain([.deflate], limits: InflateLimits())
            redacted.withUnsafeBytes { _ = try? chain?.push($0) { text.append(contentsOf: $0) } }
            #expect(text == Array(#"{"user":"ada","password":"{{password:1}}"}"#.utf8))
        }
        // Texts may begin like such a stream.
        #expect(
            self.redacted(Array("x^2 is a square\npassword: h7nter2Xq\n".utf8), ["Content-Type: text/plain"])
                == Array("x^2 is a square\npassword: {{password:1}}\n".utf8))
    }

    /// Nothing in the bytes proves that they are deflate, so the whole body must be a stream, and its content a text.
    @Test(arguments: [1, 6, 9]) func rawDeflateThatNoFieldNames(level: Int) throws {
        let stream = try #require(Self.text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: level), format: .raw) })
        for lines in [["Content-Type: application/octet-stream"], []] {
            let redacted = self.redacted(stream, lines)
            var text: [UInt8] = []
            let chain = DecoderChain([.deflate], limits: InflateLimits())
            redacted.withUnsafeBytes { _ = try? chain?.push($0) { text.append(contentsOf: $0) } }
            #expect(text == Array(#"{"user":"ada","password":"{{password:1}}"}"#.utf8))
            for other in [stream + [0], Array(stream.dropLast()), [stream[0] ^ 2] + stream.dropFirst()] {
                #expect(self.redacted(other, lines) == other)
            }
        }
        #expect(self.redacted(stream, ["Content-Type: image/png"]) == stream)
    }

    @Test(arguments: [["gzip"], ["gzip", "gzip"], []])
    func gzipTwice(codings: [String]) {
        let lines = ["Content-Type: application/json"] + codings.map { "Content-Encoding: \($0)" }
        let twice = RedactionFixtures.gzip(RedactionFixtures.gzip(Self.text))
        var bytes = self.redacted(twice, lines)
        for _ in 0..<2 {
            var inner: [UInt8] = []
            let chain = DecoderChain([.gzip], limits: InflateLimits())
            bytes.withUnsafeBytes { _ = try? chain?.push($0) { inner.append(contentsOf: $0) } }
            bytes = inner
        }
        #expect(bytes == Array(#"{"user":"ada","password":"{{password:1}}"}"#.utf8))
    }

    @Test func anArchiveWithoutASecretStays() {
        let bytes = RedactionFixtures.gzip(Array("nothing in it, nothing in it".utf8))
        #expect(self.redacted(bytes, ["Content-Type: application/gzip"]) == bytes)
        #expect(self.redacted(Array(bytes.prefix(20)), ["Content-Type: application/gzip"]) == Array(bytes.prefix(20)))
    }

    // MARK: Multiparts

    private static func form(_ boundary: String) -> [UInt8] {
        Array(
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nh7nter2Xq\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--\(boundary)--\r\n"
                .utf8)
    }

    @Test(arguments: [
        "multipart/form-data", "multipart/form-data; boundary=other", "application/octet-stream", "text/plain",
        "multipart/mixed; boundary=\"\"",
    ])
    func aMultipartWithoutItsBoundary(type: String) {
        let redacted = self.redacted(Self.form("----x7"), ["Content-Type: \(type)"])
        let expected = String(decoding: Self.form("----x7"), as: UTF8.self).replacing("h7nter2Xq", with: "{{password:1}}")
        #expect(String(decoding: redacted, as: UTF8.self) == expected)
    }

    // MARK: UTF-16

    private static func wide(_ text: String, isBig: Bool, hasMark: Bool) -> [UInt8] {
        ((hasMark ? "\u{FEFF}" : "") + text).utf16.flatMap {
            isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
        }
    }

    @Test(arguments: [
        "<?xml version='1.0'?><ü><password t='ä'>h7nter2Xq</password>😀</ü>", #"{"ü":"😀","password":"h7nter2Xq","b":"ß"}"#,
        "<a>\n<b><ns:apiKey><![CDATA[h7nter2Xq]]></ns:apiKey></b></a>",
    ])
    func textsInUTF16(text: String) {
        for isBig in [false, true] {
            for hasMark in [false, true] {
                let kind = text.contains("apiKey") ? "api-key" : "password"
                let expected = Self.wide(text.replacing("h7nter2Xq", with: "{{\(kind):1}}"), isBig: isBig, hasMark: hasMark)
                for type in ["application/xml", "application/json; charset=utf-16", "text/xml", "application/octet-stream"] {
                    #expect(self.redacted(Self.wide(text, isBig: isBig, hasMark: hasMark), ["Content-Type: \(type)"]) == expected)
                }
            }
        }
    }

    @Test func utf16WithAHalfCharacterOrAZeroIsSearched() {
        let text = #"{"password":"h7nter2Xq","b":"x"}"#
        for rest: [UInt8] in [[0x78], [0x3D, 0xD8], [0, 0], [0x3D, 0xD8, 0x78, 0]] {
            for hasMark in [false, true] {
                let expected = Self.wide(text.replacing("h7nter2Xq", with: "{{password:1}}"), isBig: false, hasMark: hasMark) + rest
                let old = Self.wide(text, isBig: false, hasMark: hasMark) + rest
                #expect(self.redacted(old, ["Content-Type: application/json"]) == expected, "\(rest)")
            }
        }
    }

    @Test func aCharsetShowsUTF16ThatBeginsWithOtherLetters() {
        for (charset, isBig) in [("utf-16le", false), ("UTF-16BE", true), ("utf-16", true)] {
            let text = "Привет password=h7nter2Xq "
            let expected = Self.wide(text.replacing("h7nter2Xq", with: "{{password:1}}"), isBig: isBig, hasMark: false)
            #expect(
                self.redacted(Self.wide(text, isBig: isBig, hasMark: false), ["Content-Type: text/plain; charset=\(charset)"]) == expected)
        }
    }

    @Test func textsInUTF32() {
        let text = #"{"ü":"😀","password":"h7nter2Xq","b":"ß"}"#
        func wide(_ text: String, isBig: Bool, hasMark: Bool) -> [UInt8] {
            ((hasMark ? "\u{FEFF}" : "") + text).unicodeScalars.flatMap { scalar -> [UInt8] in
                let bytes = (0..<4).map { UInt8(truncatingIfNeeded: scalar.value >> (8 * $0)) }
                return isBig ? bytes.reversed() : bytes
            }
        }
        for (isBig, hasMark) in [(false, false), (false, true), (true, false), (true, true)] {
            let expected = wide(text.replacing("h7nter2Xq", with: "{{password:1}}"), isBig: isBig, hasMark: hasMark)
            let old = wide(text, isBig: isBig, hasMark: hasMark)
            for type in ["application/json", "text/plain; charset=utf-32", "application/octet-stream"] {
                #expect(self.redacted(old, ["Content-Type: \(type)"]) == expected)
                #expect(self.redacted(old + [0x78, 0], ["Content-Type: \(type)"]) == expected + [0x78, 0])
            }
        }
    }

    @Test func smallNumbersAreNoWideText() {
        let bytes: [UInt8] = (1...40).flatMap { [$0, 0, 0, 0] } + Array("password=h7nter2Xq ".utf8) + [0, 1, 2]
        #expect(bytes.withUnsafeBytes { WideText($0) } == nil)
    }

    // MARK: Dictionaries

    private static let dictionary = Array(
        #"{"user":"grace","password":"an-old-one","roles":["reader","writer","owner"],"theme":"dark","language":"en"}"#.utf8)
    /// `{"user":"ada","password":"h7nter2Xq",…}`, as zstd 1.5 writes it with that dictionary.
    private static let coded = "XipNGCAAAADhqPeWlS0oMhV2oYMZxFWgaZ27MdUH0Yb7hQsnXF915Ci1L/0gaM0AAHB7YWRhaDdudGVyMlhxIgMQBrGiiJXjvlc="

    /// - Returns: the second response, after one that may be its dictionary.
    private func exchange(_ redactor: Redactor, _ lines: [String], _ bytes: [UInt8]) -> (lines: [String], body: [UInt8], notes: [String]) {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 1), request: RecordedRequest(method: "GET", url: "http://h.test/"))
        interaction.response = RecordedResponse(status: 200, headers: HeaderFields(lines))
        var (request, response): (WireBody?, WireBody?) = (nil, WireBody(bytes))
        let outcome = redactor.redact(&interaction, requestBody: &request, responseBody: &response)
        return (interaction.response?.headers.lines ?? [], response?.bytes ?? [], outcome.response.notes)
    }

    @Test(.enabled(if: ContentEncoding.Name.zstd.isSupported), arguments: [false, true])
    func aBodyWithADictionaryIsSearchedIfTheDictionaryIsInTheRecording(isCompressed: Bool) throws {
        let redactor = Redactor()
        let coded = try #require(Base64.decode(Array(Self.coded.utf8)))
        let lines = ["Content-Type: application/json", "Content-Encoding: dcz", "Content-Length: \(coded.count)"]
        let before = self.exchange(redactor, lines, coded)
        #expect(before.body == coded && before.notes == [#"not searched for secrets behind the content coding "dcz""#])
        let dictionary = isCompressed ? RedactionFixtures.gzip(Self.dictionary) : Self.dictionary
        let field = #"Use-As-Dictionary: match="/*""#
        _ = self.exchange(
            redactor, ["Content-Type: application/json", field] + (isCompressed ? ["Content-Encoding: gzip"] : []), dictionary)
        let after = self.exchange(redactor, lines, coded)
        let expected =
            #"{"user":"ada","password":"{{password:2}}","roles":["reader","writer","owner"],"theme":"dark","language":"en"}"#
        #expect(String(decoding: after.body, as: UTF8.self) == expected)
        #expect(after.lines == ["Content-Type: application/json", "Content-Length: \(expected.utf8.count)"])
        #expect(after.notes == ["its content coding with a dictionary was taken off"])
        let damaged = self.exchange(redactor, lines, Array(coded.dropLast(9)))
        #expect(damaged.notes == before.notes)
    }
}
