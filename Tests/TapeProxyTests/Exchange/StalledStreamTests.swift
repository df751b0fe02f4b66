import CassetteModel
import NIOCore
import TapeExchange
import TapeHTTP2
import Testing
@testable import TapeProxy

/// HTTP/2 clients that read part of an answer and then nothing for a while, in memory.
@Suite struct StalledStreamTests {
    private static let window = 65_535
    private static let piece = 4096

    /// A client with a window for each stream, and a request whose answer is large.
    private final class Client {
        let scene: ExchangeScene
        let codec: HTTP2Connection
        private(set) var received: [UInt8] = []

        init() throws {
            self.scene = try ExchangeScene(records: false)
            self.codec = try HTTP2Connection(.client)
            self.scene.told = { [unowned self] bytes in
                self.take(bytes)
                return []
            }
            var head = RequestHead(method: "GET", target: "/http://h.test/large", version: .http2, fields: HeaderFields([]))
            head.authority = "127.0.0.1"
            let origin = Origin(scheme: .http, host: "127.0.0.1", port: 80)
            _ = try self.codec.request(HTTP2Fields(head, target: .origin(head.target), origin: origin), hasBody: false)
            try self.flush()
            self.scene.connected()
            self.scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        }

        func flush() throws { self.scene.client(Array(try self.codec.takeOutput().bytes.readableBytesView)) }

        private func take(_ bytes: [UInt8]) {
            let buffer = ByteBuffer(bytes: bytes)
            for case .data(_, let range) in (try? self.codec.receive(buffer)) ?? [] { self.received += bytes[range] }
        }

        /// The origin sends as long as it is read. Returns the number of bytes.
        func originSends() -> Int {
            var count = 0
            while self.scene.originIsRead, count < 1_000_000 {
                self.scene.origin(
                    String(
                        repeating: Character(UnicodeScalar(UInt8(97 + count / StalledStreamTests.piece % 26))),
                        count: StalledStreamTests.piece))
                count += StalledStreamTests.piece
            }
            return count
        }
    }

    @Test func littleIsReadAheadOfTheClient() throws {
        let client = try Client()
        let read = client.originSends()
        #expect(client.received.count == Self.window)
        #expect(read > Self.window && read <= Self.window + (8 << 10) + Self.piece)
    }

    @Test func stallReleasesMemoryAndLosesNothing() throws {
        let client = try Client()
        #expect(!client.scene.hasShrunkReads)
        let first = client.originSends()
        #expect(client.scene.hasShrunkReads)
        client.codec.credit(1, Self.window)
        try client.flush()
        let second = client.originSends()
        #expect(second > 0)
        // Joined pieces are sent in their original form.
        let sent = (0..<(first + second)).map { UInt8(97 + ($0 < first ? $0 : $0 - first) / Self.piece % 26) }
        #expect(client.received.elementsEqual(sent.prefix(2 * Self.window)))
    }
}
