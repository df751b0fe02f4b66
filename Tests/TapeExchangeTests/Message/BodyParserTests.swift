internal import CassetteModel
@testable internal import TapeExchange
internal import Testing

@Suite struct BodyParserTests {
    @Test func chunkedBodyGivesChunksPayloadAndTrailers() {
        let wire = "5\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n"
        let transcript = BodyTranscript.of(wire + "GET")
        #expect(transcript.payload == Array("hello!".utf8))
        #expect(
            transcript.parts == [
                .chunk(size: 5, line: nil), .chunk(size: 1, line: nil), .lastChunk(line: nil), .trailers(HeaderFields(["A: b"])),
            ])
        #expect(transcript.consumed == wire.utf8.count)
        #expect(transcript.isDone)
    }

    @Test func linesThatAreNotLowerCaseHexAreKept() {
        let transcript = BodyTranscript.of("0A\r\n0123456789\r\n1;a=\"b\\\";\";c ; d = e\r\nx\r\n000\r\n\r\n")
        #expect(
            transcript.parts == [.chunk(size: 10, line: "0A"), .chunk(size: 1, line: "1;a=\"b\\\";\";c ; d = e"), .lastChunk(line: "000")])
        #expect(transcript.isDone)
    }

    @Test func bodyOfALengthEndsThere() {
        let transcript = BodyTranscript.of("hello, world", framing: .length(5))
        #expect(transcript == BodyTranscript(payload: Array("hello".utf8), consumed: 5, isDone: true))
    }

    @Test func noBodyTakesNothing() {
        for framing in [BodyFraming.none, .length(0)] {
            #expect(BodyTranscript.of("next", framing: framing) == BodyTranscript(isDone: true))
            var parser = BodyParser(framing: framing, side: .response)
            #expect(parser.isDone)
            #expect(parser.sourceEnded() == .complete)
        }
    }

    @Test func closeCompletesOnlyABodyReadUntilTheClose() throws {
        var open = BodyParser(framing: .untilClose, side: .response)
        #expect(!open.isDone)
        #expect(open.sourceEnded() == .complete)
        #expect(open.isDone)
        for (framing, text) in [
            (BodyFraming.length(3), "ab"), (.chunked, ""), (.chunked, "1"), (.chunked, "1\r\na"), (.chunked, "0\r\n"),
            (.chunked, "0\r\n\r"),
        ] {
            var parser = BodyParser(framing: framing, side: .response)
            _ = try Array(text.utf8).withUnsafeBytes { try parser.consume($0) { _ in } }
            #expect(parser.sourceEnded() == .cut)
        }
    }

    @Test(arguments: [
        "5\r\nhello\r\n0\r\n\r\nrest", "A;x\r\n0123456789\r\n00;y=\"z\"\r\nT: 1\r\nU:\r\n\r\nrest", "3\r\n\r\n\r\r\n0\r\n\r\n",
        "1\r\nab\r\n", "1\r\na\n",
        "zz\r\n", "5\nhello", "1;\r\n", "0\r\nA : b\r\n\r\n", "0\r\nHost: b\r\n\r\n", "0\r\n\n", "0\r\n\r\r", "5\rx",
        "ffffffffffffffff\r\n", "1 \r\na",
    ])
    func everySplitGivesTheSame(_ text: String) {
        let bytes = Array(text.utf8)
        let whole = BodyTranscript.of(bytes, framing: .chunked)
        for first in 0...bytes.count {
            #expect(BodyTranscript.of(bytes, framing: .chunked, pieces: [first]) == whole)
            for second in 0...(bytes.count - first) {
                #expect(BodyTranscript.of(bytes, framing: .chunked, pieces: [first, second]) == whole)
            }
        }
        #expect(BodyTranscript.of(bytes, framing: .chunked, pieces: Array(repeating: 1, count: bytes.count)) == whole)
    }

    @Test func errorStays() {
        var parser = BodyParser(framing: .chunked, side: .response)
        for text in ["x\r\n", "1\r\na\r\n"] {
            #expect(throws: MessageError.self) { try Array(text.utf8).withUnsafeBytes { try parser.consume($0) { _ in } } }
        }
    }

    @Test func faultOfTheOriginIsABadGateway() {
        var parser = BodyParser(framing: .chunked, side: .response)
        let error = #expect(throws: MessageError.self) { try Array("x\r\n".utf8).withUnsafeBytes { try parser.consume($0) { _ in } } }
        #expect(error?.status == 502)
    }

    @Test func limitsHoldWhileLinesAreIncomplete() {
        let long = String(repeating: "a", count: 20_000)
        #expect(BodyTranscript.of("1;" + long).error?.code == .chunk)
        #expect(BodyTranscript.of("0\r\nA: " + long).error?.status == 431)
        #expect(BodyTranscript.of("0\r\n" + String(repeating: "a:\r\n", count: 2049)).error?.status == 431)
        let extended = "1;" + String(repeating: "a", count: 1_000) + "\r\na\r\n"
        #expect(BodyTranscript.of(String(repeating: extended, count: 16)).error == nil)
        #expect(BodyTranscript.of(String(repeating: extended, count: 17)).error?.code == .chunk)
    }

    @Test func extensionsNoLongerThanTheirChunksAreFree() {
        let signed = "40;signature=" + String(repeating: "f", count: 50) + "\r\n" + String(repeating: "a", count: 64) + "\r\n"
        #expect(BodyTranscript.of(String(repeating: signed, count: 1_000) + "0\r\n\r\n").isDone)
    }

    @Test func limitsDoNotDependOnTheSplit() {
        var limits = Limits()
        limits.chunkLine = 6
        limits.trailerSection = 8
        for text in ["1;abcd\r\na\r\n0\r\na: b\r\n\r\n", "1;abcde\r\na", "0\r\na: bc\r\n\r\n", "0\r\na:\r\nbbbbbb"] {
            let bytes = Array(text.utf8)
            let whole = BodyTranscript.of(bytes, framing: .chunked, limits: limits)
            #expect((whole.error == nil) == text.hasSuffix("b\r\n\r\n"))
            for first in 0...bytes.count {
                #expect(BodyTranscript.of(bytes, framing: .chunked, pieces: [first], limits: limits) == whole)
            }
            #expect(BodyTranscript.of(bytes, framing: .chunked, pieces: Array(repeating: 1, count: bytes.count), limits: limits) == whole)
        }
    }

    @Test func manySmallChunksKeepNothing() {
        let wire = String(repeating: "1\r\na\r\n", count: 5_000) + "0\r\n\r\n"
        let transcript = BodyTranscript.of(wire)
        #expect(transcript.payload.count == 5_000)
        #expect(transcript.isDone)
    }
}

@Suite struct ChunkLineTests {
    private func parse(_ bytes: [UInt8]) throws -> ChunkLine {
        try bytes.withUnsafeBytes { try ChunkLine.parse($0, side: .request) }
    }

    @Test(arguments: [("0", 0), ("1", 1), ("ff", 255), ("7fffffffffffffff", Int.max), ("000000000000000A", 10)])
    func sizesAreHex(_ text: String, _ size: Int) throws {
        #expect(try self.parse(Array(text.utf8)).size == size)
    }

    @Test(arguments: [
        "", " ", "g", "0x1", "0_2e", "+1", "-1", "1 ", " 1", "1\t", "1;", "1; ", "1;=", "1;a=", "1;a=b ", "1;a =", "1;a=\"", "1;a=\"\\\"",
        "1;a=\"b\"c",
        "1;a b", "1;;a", "1,2", "1a;(", "8000000000000000", "ffffffffffffffff", "00000000000000001", "1;a=b=c", "1 2",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(throws: MessageError.self) { try self.parse(Array(text.utf8)) }
    }

    @Test(arguments: ["1;a", "1;a=b", "1 ;\ta = b ;c", "1;a=\"\"", "1;a=\"\\\"\\\\\"", "1;a=\"\u{FC}\""])
    func extensionsAreKeptAsText(_ text: String) throws {
        let line = try self.parse(Array(text.utf8))
        #expect(line.text == text)
        #expect(line.extensionBytes == text.utf8.count - 1)
    }

    @Test func extensionThatTextCannotHoldIsRefused() {
        #expect(throws: MessageError.self) { try self.parse(Array("1;a=\"".utf8) + [0xFF, 34]) }
    }
}
