import NIOCore
import TapeExchange
@testable import TapeProxy
import TapeTestSupport
import Testing

/// A chunked body that arrives in pieces gives the same bytes and payload however it is split, and no part of a line.
@Suite struct HTTP1BodyReaderTests {
    private static let body = "5;a=b\r\nhello\r\n10 ; name=\"x\"\r\n0123456789abcdef\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n"
    /// Offsets at which a line or a section is complete, or payload or its line end is being read.
    private static let ends: Set<Int> = {
        var ends: Set<Int> = [0]
        var offset = 0
        for (line, data) in [("5;a=b\r\n", "hello\r\n"), ("10 ; name=\"x\"\r\n", "0123456789abcdef\r\n"), ("0\r\n", "")] {
            offset += line.utf8.count
            ends.formUnion(offset...offset + data.utf8.count)
            offset += data.utf8.count
        }
        return ends.union([Self.body.utf8.count])
    }()

    private func read(_ pieces: [ArraySlice<UInt8>]) throws -> (bytes: [UInt8], payload: String, steps: [Int], isDone: Bool) {
        var reader = HTTP1BodyReader(framing: .chunked, side: .response, limits: Limits())
        var (bytes, payload, steps, isDone): ([UInt8], String, [Int], Bool) = ([], "", [], false)
        for piece in pieces {
            var input = ByteBuffer(bytes: piece)
            let read = try reader.read(&input)
            bytes += read.bytes.readableBytesView
            payload += String(buffer: read.payload)
            steps.append(bytes.count)
            isDone = read.isLast
            #expect(input.readableBytes == 0)
        }
        return (bytes, payload, steps, isDone)
    }

    @Test(arguments: 0..<20)
    func anyPiecesAreTheWhole(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let all = Array(Self.body.utf8)
        for _ in 0..<50 {
            var pieces: [ArraySlice<UInt8>] = []
            var start = 0
            while start < all.count {
                let end = min(all.count, start + Int.random(in: 1...(seed == 0 ? 1 : 12), using: &random))
                pieces.append(all[start..<end])
                start = end
            }
            let (bytes, payload, steps, isDone) = try self.read(pieces)
            #expect(bytes == all && payload == "hello0123456789abcdef" && isDone)
            #expect(Self.ends.isSuperset(of: steps), "\(steps)")
        }
    }

    @Test(arguments: ["5;a\u{0}\r\nhello\r\n", "5 5\r\n", "xyz\r\n", "0\r\nHost: a\r\n\r\n", "0\r\nX\u{0}: a\r\n\r\n"])
    func nothingOfALineThatIsRefusedIsDelivered(rest: String) throws {
        let good = Array("5\r\nhello\r\n".utf8)
        let bad = Array(rest.utf8)
        for cut in 1..<bad.count {
            var reader = HTTP1BodyReader(framing: .chunked, side: .response, limits: Limits())
            var delivered: [UInt8] = []
            let error = #expect(throws: MessageError.self) {
                for piece in [good + bad[..<cut], Array(bad[cut...])] {
                    var input = ByteBuffer(bytes: piece)
                    while input.readableBytes > 0 { delivered += try reader.read(&input).bytes.readableBytesView }
                }
            }
            #expect(error != nil)
            #expect(delivered == good + (rest.hasPrefix("0") ? Array("0\r\n".utf8) : []), "\(delivered)")
        }
    }

    /// What a body with a malformed line delivers before its error.
    private func failing(_ pieces: [ArraySlice<UInt8>]) -> (bytes: [UInt8], parts: [BodyEvent], payload: String, error: String?) {
        var reader = HTTP1BodyReader(framing: .chunked, side: .request, limits: Limits())
        var (bytes, parts, payload): ([UInt8], [BodyEvent], String) = ([], [], "")
        var input = ByteBuffer()
        do throws(MessageError) {
            for piece in pieces {
                input.writeBytes(piece)
                while input.readableBytes > 0 {
                    let read = try reader.read(&input)
                    bytes += read.bytes.readableBytesView
                    payload += String(buffer: read.payload)
                    parts += (read.events ?? []).filter { if case .data = $0 { false } else { true } }
                }
            }
            return (bytes, parts, payload, nil)
        } catch {
            return (bytes, parts, payload, error.message)
        }
    }

    @Test(arguments: [
        ("3\r\nabc\r\n4;x=y\r\ndefg\r\n", "zz\r\n"), ("3\r\nabc\r\n", "5 5\r\n"), ("", "\r\n"), ("3\r\nabc", "d\r\n"),
        ("3\r\nabc\r", "\r\n"),
        ("3\r\nabc\r\n1\r\nd\r\n", "2;a\u{0}\r\nhe"), ("2\r\nab\r\n0\r\n", "Host: a\r\n\r\n"), ("2\r\nab\r\n0;e\r\n", "X\u{0}: a\r\n\r\n"),
        ("2\r\nab\r\n", "ffffffffffffffff\r\n"), ("2\r\nab\r\n", "3\nabc\r\n"), ("2\r\nab\r\n", "3;" + String(repeating: "x", count: 9000)),
    ])
    func everythingBeforeAMalformedLineIsDeliveredHoweverItIsDivided(good: String, bad: String) {
        let all = Array((good + bad + "3\r\nabc\r\n0\r\n\r\n").utf8)
        let whole = self.failing([all[...]])
        #expect(String(decoding: whole.bytes, as: UTF8.self) == good)
        #expect(whole.error != nil)
        var random = SeededGenerator(seed: UInt64(all.count))
        for longest in [1, 2, 3, 5, 9, 14, 20, 30] {
            for _ in 0..<(longest == 1 ? 1 : 25) {
                var pieces: [ArraySlice<UInt8>] = []
                var start = 0
                while start < all.count {
                    let end = start > 60 ? all.count : min(all.count, start + Int.random(in: 1...longest, using: &random))
                    pieces.append(all[start..<end])
                    start = end
                }
                let divided = self.failing(pieces)
                #expect(divided.bytes == whole.bytes && divided.payload == whole.payload, "\(pieces.map(\.count))")
                #expect(divided.parts == whole.parts && divided.error == whole.error, "\(pieces.map(\.count))")
            }
        }
    }
}
