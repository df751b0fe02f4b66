import NIOCore
import TapeHTTP2
import Testing

/// A server's response to each fault in RFC 9113 and RFC 7541: the connection or the stream ends, with the code that they require.
@Suite struct HTTP2ConformanceTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        /// The accepted codes: of GOAWAY, or of a reset of stream 1 if `isOfStream`.
        let codes: Set<UInt8>
        var isOfStream = false

        init(_ name: String, _ bytes: [UInt8], _ codes: UInt8..., ofStream: Bool = false) {
            (self.testDescription, self.bytes, self.codes, self.isOfStream) = (name, bytes, Set(codes), ofStream)
        }
    }

    private static let protocolError: UInt8 = 1
    private static let flowControlError: UInt8 = 3
    private static let streamClosed: UInt8 = 5
    private static let frameSizeError: UInt8 = 6
    private static let refusedStream: UInt8 = 7
    private static let compressionError: UInt8 = 9

    private static let open = Frame.headers(1, ends: false)
    private static let eight = [UInt8](repeating: 0, count: 8)

    private static let frames = [
        Fault("4.2: a frame that is too long", open + Frame.make(0, stream: 1, [UInt8](repeating: 0, count: 16_385)), frameSizeError),
        Fault(
            "4.3: another frame within a header section", Frame.make(1, stream: 1, [0x82]) + Frame.make(2, stream: 1, [0, 0, 0, 0, 0]),
            protocolError),
        Fault("4.3: another stream within a header section", Frame.make(1, stream: 1, [0x82]) + Frame.headers(3), protocolError),
        Fault("5.1: DATA of an idle stream", Frame.make(0, stream: 1, [0]), protocolError),
        Fault("5.1: RST_STREAM of an idle stream", Frame.make(3, stream: 1, [0, 0, 0, 8]), protocolError),
        Fault("5.1: WINDOW_UPDATE of an idle stream", Frame.make(8, stream: 1, [0, 0, 0, 1]), protocolError),
        Fault("5.1: CONTINUATION of an idle stream", Frame.make(9, flags: 4, stream: 1, [0x82]), protocolError),
        Fault("5.1: DATA after the end of a stream", Frame.headers(1) + Frame.make(0, stream: 1, [0]), streamClosed),
        Fault("5.1: HEADERS after the end of a stream", Frame.headers(1) + Frame.headers(1), streamClosed),
        Fault("5.1.1: an even stream", Frame.headers(2), protocolError),
        Fault("6.1: DATA of no stream", Frame.make(0, [0]), protocolError),
        Fault("6.1: padding longer than its frame", open + Frame.make(0, flags: 8, stream: 1, [9, 0]), protocolError),
        Fault("6.2: HEADERS of no stream", Frame.headers(0), protocolError),
        Fault("6.2: padding longer than its frame", Frame.make(1, flags: 12, stream: 1, [99, 0x82]), protocolError),
        Fault("6.3: PRIORITY of no stream", Frame.make(2, [0, 0, 0, 1, 0]), protocolError),
        Fault("6.4: RST_STREAM of no stream", Frame.make(3, [0, 0, 0, 8]), protocolError),
        Fault("6.4: RST_STREAM of another length", open + Frame.make(3, stream: 1, [0, 0, 8]), frameSizeError),
        Fault("6.5: an acknowledgement with settings", Frame.make(4, flags: 1, [0, 4, 0, 0, 0, 1]), frameSizeError),
        Fault("6.5: SETTINGS of a stream", Frame.make(4, stream: 1), protocolError),
        Fault("6.5: SETTINGS of another length", Frame.make(4, [0, 4, 0]), frameSizeError),
        Fault("6.5.2: ENABLE_PUSH neither 0 nor 1", Frame.make(4, [0, 2, 0, 0, 0, 2]), protocolError),
        Fault("6.5.2: a window of 2³¹", Frame.make(4, [0, 4, 0x80, 0, 0, 0]), flowControlError),
        Fault("6.5.2: frames of less than 16,384", Frame.make(4, [0, 5, 0, 0, 0x3f, 0xff]), protocolError),
        Fault("6.5.2: frames of more than 2²⁴", Frame.make(4, [0, 5, 1, 0, 0, 0]), protocolError),
        Fault("6.7: PING of a stream", Frame.make(6, stream: 1, eight), protocolError),
        Fault("6.7: PING of another length", Frame.make(6, [0]), frameSizeError),
        Fault("6.8: GOAWAY of a stream", Frame.make(7, stream: 1, eight), protocolError),
        Fault("6.9: an increment of 0", Frame.make(8, [0, 0, 0, 0]), protocolError),
        Fault("6.9: WINDOW_UPDATE of another length", Frame.make(8, [0, 0, 1]), frameSizeError),
        Fault("6.9.1: a window beyond 2³¹ − 1", Frame.make(8, [0x7f, 0xff, 0xff, 0xff]), flowControlError),
        Fault("6.10: CONTINUATION after the section's end", open + Frame.make(9, flags: 4, stream: 1, [0x82]), protocolError),
        Fault("8.4: PUSH_PROMISE of a client", open + Frame.make(5, flags: 4, stream: 1, [0, 0, 0, 2, 0x82]), protocolError),
        Fault(
            "5.1: a window of a stream beyond 2³¹ − 1", open + Frame.make(8, stream: 1, [0x7f, 0xff, 0xff, 0xff]), flowControlError,
            ofStream: true),
        Fault("6.9: an increment of 0 of a stream", open + Frame.make(8, stream: 1, [0, 0, 0, 0]), protocolError),
        Fault(
            "8.1: a second section that does not end the stream", open + Frame.make(1, flags: 4, stream: 1, Frame.literal("a", "b")),
            protocolError, ofStream: true),
        Fault("8.1: pseudo-fields in trailers", open + Frame.make(1, flags: 5, stream: 1, [0x82]), protocolError, ofStream: true),
        Fault(
            "8.1.1: less than content-length",
            Frame.headers(1, ends: false, Frame.literal("content-length", "4")) + Frame.make(0, flags: 1, stream: 1, [0]), protocolError,
            ofStream: true),
        Fault(
            "8.1.1: more than content-length",
            Frame.headers(1, ends: false, Frame.literal("content-length", "1")) + Frame.make(0, stream: 1, [0, 0]), protocolError,
            ofStream: true),
        Fault("8.3.1: no path", Frame.make(1, flags: 5, stream: 1, [0x82, 0x87, 0x41, 1, 0x61]), protocolError, ofStream: true),
        Fault(
            "8.3.1: two methods", Frame.make(1, flags: 5, stream: 1, [0x82, 0x83, 0x87, 0x84, 0x41, 1, 0x61]), protocolError, ofStream: true
        ),
        Fault(
            "8.3: a pseudo-field of responses", Frame.make(1, flags: 5, stream: 1, [0x82, 0x87, 0x84, 0x88]), protocolError, ofStream: true),
    ]

    private static let blocks = [
        Fault("2.3.3: an index beyond the tables", Frame.headers(1, [0xff, 0x7f]), compressionError),
        Fault("6.1: the index 0", Frame.headers(1, [0x80]), compressionError),
        Fault("5.2: a padding of more than 7 bits", Frame.headers(1, [0x00, 0x82, 0xff, 0xff, 0x00]), compressionError),
        Fault("5.2: the end of strings in one", Frame.headers(1, [0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00]), compressionError),
        Fault(
            "6.3: a table larger than was permitted", Frame.make(1, flags: 5, stream: 1, [0x3f, 0xe2, 0x1f, 0x82, 0x87, 0x84]),
            compressionError),
        Fault("4.2: a table's size at the end", Frame.headers(1, [0x20]), compressionError),
        Fault("5.1: a number without an end", Frame.headers(1, [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), compressionError),
        Fault("a section cut short", Frame.make(1, flags: 5, stream: 1, [0x82, 0x40, 0x05, 0x61]), compressionError),
    ]

    @Test(arguments: frames + blocks) func aFaultHasTheCodeThatItShould(fault: Fault) throws {
        let server = try HTTP2Connection(.server)
        var failed = false
        var heads = 0
        do {
            let events = try server.receive(ByteBuffer(bytes: Frame.preface + Frame.settings + fault.bytes))
            heads = events.count { if case .headers = $0 { true } else { false } }
        } catch {
            failed = true
        }
        let ends = try Frame.ends(server)
        if fault.isOfStream {
            #expect(!failed && ends.goAway == nil)
            #expect(fault.codes.contains(ends.resets[1] ?? 0), "\(ends)")
            // The connection stays open.
            let next = try server.receive(ByteBuffer(bytes: Frame.headers(7)))
            #expect(next.contains { if case .headers(7, _, true) = $0 { true } else { false } })
        } else {
            #expect(fault.codes.contains(ends.goAway ?? 0) || fault.codes.contains(ends.resets[1] ?? 0), "\(ends) \(heads)")
        }
    }

    /// RFC 9113, 5.1.1.
    @Test(arguments: [([5, 3], true), ([1, 7, 3], true), ([1, 7, 9, 5], true), ([1, 7, 9], false), ([5], false)] as [([UInt32], Bool)])
    func aStreamThatWasSkippedIsNotOpenedLater(numbers: [UInt32], isFault: Bool) throws {
        let server = try HTTP2Connection(.server)
        let last = try #require(numbers.last)
        let first = numbers.dropLast().flatMap { Frame.headers($0) }
        _ = try server.receive(ByteBuffer(bytes: Frame.preface + Frame.settings + first))
        _ = try server.takeOutput()
        do {
            let events = try server.receive(ByteBuffer(bytes: Frame.headers(last)))
            #expect(!isFault && events.contains { if case .headers = $0 { true } else { false } })
        } catch {
            #expect(isFault)
            #expect(try Frame.ends(server).goAway == Self.protocolError)
        }
    }

    @Test func aPrefaceOfAnotherKindIsRefused() throws {
        let server = try HTTP2Connection(.server)
        #expect(throws: HTTP2Failure.self) { try server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")) }
    }

    @Test func streamsBeyondTheLimitAreRefused() throws {
        var settings = HTTP2Connection.Settings()
        settings.concurrentStreams = 2
        let server = try HTTP2Connection(.server, settings: settings)
        _ = try server.receive(ByteBuffer(bytes: Frame.preface + Frame.settings))
        _ = try server.takeOutput()
        // The client knows the limit from here on.
        let events = try server.receive(ByteBuffer(bytes: Frame.make(4, flags: 1) + [1, 3, 5].flatMap { Frame.headers($0) }))
        #expect(events.count { if case .headers = $0 { true } else { false } } == 2)
        let ends = try Frame.ends(server)
        #expect(ends.resets[5] == Self.refusedStream || ends.goAway == Self.protocolError)
    }
}
