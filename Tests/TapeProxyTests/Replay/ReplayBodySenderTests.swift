import CassetteStore
import Testing
@testable import TapeProxy

/// Large bodies from sidecars, sent at the client's pace.
@Suite struct ReplayBodySenderTests {
    private func recorded(_ fields: [String], body: [UInt8], wire: [UInt8]) throws -> (proxy: RunningProxy, origin: RawOrigin) {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
            try connection.send(wire)
        }
        let live = try RunningProxy()
        let client = try live.connect()
        try client.send(origin.request("GET", "/", "Connection: close"))
        _ = try client.readToEnd()
        origin.finish()
        try live.stop()
        return (try RunningProxy(.none, in: live.folder), origin)
    }

    private let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 5) }

    @Test func aLargeChunkedBodyHasItsChunksAgain() throws {
        var wire: [UInt8] = []
        for start in stride(from: 0, to: self.body.count, by: 100_000) {
            wire += Array("186A0;n=\(start)\r\n".utf8) + self.body[start..<start + 100_000] + Array("\r\n".utf8)
        }
        wire += Array("0\r\nT: 1\r\n\r\n".utf8)
        let (replay, origin) = try self.recorded(["Transfer-Encoding: chunked"], body: self.body, wire: wire)
        let client = try replay.connect(receives: 16 << 10)
        try client.send(origin.request("GET", "/", "Connection: close"))
        _ = try client.read(through: "\r\n\r\n")
        #expect(try client.readToEnd().bytes == wire)
        #expect(replay.server.counts.bytes >= wire.count)
    }

    @Test func anHTTP10ClientGetsItWithoutThem() throws {
        let wire = Array("f4240\r\n".utf8) + self.body + Array("\r\n0\r\n\r\n".utf8)
        let (replay, origin) = try self.recorded(["Transfer-Encoding: chunked"], body: self.body, wire: wire)
        let client = try replay.connect()
        try client.send(origin.request(version: "1.0"))
        _ = try client.read(through: "\r\n\r\n")
        let (bytes, end) = try client.readToEnd()
        #expect(bytes == self.body)
        #expect(end == .closed)
    }

    @Test func aClientThatLeavesStopsTheReading() throws {
        let (replay, origin) = try self.recorded(["Content-Length: 1000000"], body: self.body, wire: self.body)
        let client = try replay.connect(receives: 8 << 10)
        try client.send(origin.request())
        _ = try client.read(through: "\r\n\r\n")
        client.reset()
        // Ends at once, because nothing is in flight any more.
        try replay.stop()
    }
}
