@testable import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct StreamDividerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var type: String
        /// The messages of a stream, in order, and what comes after the last.
        var messages: [String]
        var rest = ""

        var testDescription: String { "\(self.type): \(self.messages.count)" }
    }

    static let cases = [
        Case(type: "text/event-stream", messages: ["data: a\n\n", ": x\nid: 1\ndata: b\n\n"], rest: "data: c\n"),
        Case(type: "text/event-stream", messages: ["data: a\r\n\r\n", "data: b\r\n\r\n"], rest: "data"),
        Case(type: "text/event-stream", messages: ["data: a\r\r", "data: b\r\r"]),
        Case(type: "application/grpc", messages: ["\0\0\0\0\u{2}ab", "\0\0\0\0\0", "\u{1}\0\0\0\u{1}c"], rest: "\0\0\0"),
        Case(type: "application/grpc-web+proto", messages: ["\0\0\0\0\u{2}ab", "\0\0\0\0\u{3}a:b"]),
        Case(type: "application/connect+json", messages: ["\0\0\0\0\u{2}{}", "\u{2}\0\0\0\u{2}{}"]),
        Case(type: "application/x-ndjson", messages: ["{\"a\":1}\n", "\n", "[2]\r\n"], rest: "{\"b\""),
        Case(type: "application/json-seq", messages: ["\u{1e}{\n\"a\": \"\\\"}\"}\n", "\u{1e}1\n", "\u{1e}[]\n"], rest: "\u{1e}{"),
        Case(type: "application/json", messages: ["[{\"a\":\"],\\\"\"}", ", 2", ",[3,[4]]", ",\"x\""], rest: "] "),
        Case(type: "application/json", messages: [], rest: "{\"a\":[1,2],\"b\":[3]}"),
        Case(type: "application/json", messages: [], rest: "[]"),
        Case(
            type: "multipart/x-mixed-replace; boundary=b",
            messages: ["--b", "\r\nA: 1\r\n\r\nx\r\n-\r\n--b", "\r\n\r\ny--b\r\n\r\n--b"], rest: "--"),
    ]

    private static func messages(_ bytes: [UInt8], _ type: String, cuts: [Int]) throws -> [String] {
        var divider = StreamDivider(try #require(StreamFraming(HeaderFields(["Content-Type: \(type)"]))))
        var ends: [Int] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            bytes[start..<cut].withUnsafeBytes { piece in divider.push(piece) { ends.append(start + $0) } }
            start = cut
        }
        return zip([0] + ends, ends).map { String(decoding: bytes[$0..<$1], as: UTF8.self) }
    }

    @Test(arguments: Self.cases) func aStreamIsDividedHoweverItIsCut(example: Case) throws {
        let bytes = Array((example.messages.joined() + example.rest).utf8)
        #expect(try Self.messages(bytes, example.type, cuts: []) == example.messages)
        for cut in 1..<max(2, bytes.count) {
            // The LF of a line end may come alone.
            let found = try Self.messages(bytes, example.type, cuts: [cut])
            #expect(found.joined() == example.messages.joined() || example.type.hasPrefix("text/event"))
            #expect(found.count == example.messages.count)
        }
        #expect(try Self.messages(bytes, example.type, cuts: Array(1..<bytes.count)).count == example.messages.count)
    }

    @Test func framesAreDividedByTheirLength() throws {
        var bytes: [UInt8] = []
        var sizes: [Int] = []
        for payload in ["{}", "", String(repeating: "x", count: 300)] {
            let frame = AmazonFrame.encoded(headers: [], payload: Array(payload.utf8))
            bytes += frame
            sizes.append(bytes.count)
        }
        for cuts in [[], [3, 4, 11, 18], Array(1..<bytes.count)] {
            let found = try Self.messages(bytes + [0, 0], "application/vnd.amazon.eventstream", cuts: cuts)
            #expect(found.count == sizes.count)
        }
    }

    @Test(arguments: [
        ["Content-Type: application/x-ndjson", "Content-Encoding: gzip"], ["Content-Type: text/plain"], [],
        ["Content-Type: application/json", "Content-Length: 2"], ["Content-Type: multipart/x-mixed-replace"],
        ["Content-Type: multipart/form-data; boundary=b"],
    ]) func otherBodiesAreNotDivided(lines: [String]) { #expect(StreamFraming(HeaderFields(lines)) == nil) }

    // MARK: Frames

    @Test func headersOfFramesHaveTypes() throws {
        let head: [UInt8] =
            [1, 97, 0] + [1, 98, 1] + [1, 99, 2, 0xff] + [1, 100, 4, 0, 0, 1, 0] + [1, 101, 7, 0, 2] + Array("xy".utf8)
            + [1, 102, 6, 0, 1, 0xab]
        let frame = AmazonFrame.encoded(headers: head, payload: [1, 2])
        let read = try #require(frame.withUnsafeBytes { AmazonFrame($0) })
        #expect(read.headers.map { "\($0.name)=\($0.value)" } == ["a=true", "b=false", "c=-1", "d=256", "e=xy", "f=ab"])
        #expect(Array(frame[read.payload]) == [1, 2] && read.size == frame.count)
    }

    @Test func brokenFramesAreNone() {
        let frame = AmazonFrame.encoded(headers: [1, 97, 0], payload: [1, 2])
        for index in frame.indices {
            var broken = frame
            broken[index] ^= 0x10
            #expect(broken.withUnsafeBytes { AmazonFrame($0) } == nil)
            #expect(frame[..<index].withUnsafeBytes { AmazonFrame($0) } == nil)
        }
        // The headers do not fit their length.
        #expect(AmazonFrame.encoded(headers: [9, 97], payload: []).withUnsafeBytes { AmazonFrame($0) } == nil)
    }
}
