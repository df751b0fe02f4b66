import CassetteModel
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// A body of 50 MB between a fast and a slow end. The fast end has to wait, since the proxy buffers almost nothing.
@Suite(.serialized) struct BackPressureTests {
    private static let size = 50 << 20
    /// The most that the kernel's buffers of two connections hold, plus the proxy's own 64 KiB.
    private static let held = 30 << 20

    /// Bytes that show their position.
    private static let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    /// Sends until nothing more is accepted, opens the gate, and sends the rest.
    private static func sendAll(_ connection: RawConnection, blocked: Gate) throws {
        var sent = 0
        var rest: ArraySlice<UInt8> = []
        while sent < self.size {
            let count = try connection.send(self.block, milliseconds: 700)
            sent += count
            guard count < self.block.count else { continue }
            rest = self.block[count...]
            break
        }
        guard sent < self.held else { throw RawError("\(sent) bytes were taken while nobody read") }
        blocked.open()
        try connection.send(Array(rest))
        sent += rest.count
        while sent < self.size {
            try connection.send(self.block)
            sent += self.block.count
        }
    }

    private static func receiveAll(_ connection: RawConnection) throws {
        for number in 0..<(self.size / self.block.count) {
            guard try connection.read(count: self.block.count) == self.block else { throw RawError("block \(number) is another") }
        }
    }

    @Test(arguments: ["Content-Length: \(50 << 20)", "Connection: close"]) func aSlowClientHoldsTheOriginBack(field: String) throws {
        let blocked = Gate("the origin has to wait")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")
            try Self.sendAll(connection, blocked: blocked)
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect(receives: 64 << 10)
        try client.send(origin.request())
        _ = try client.read(through: "\r\n\r\n")
        try blocked.wait()
        try Self.receiveAll(client)
        origin.finish()
        // A body that ends with its connection has ended for the client only when it has ended for the proxy.
        if field == "Connection: close" { #expect(try client.readToEnd().bytes.isEmpty) }
        let recorded = try proxy.recorded()
        #expect(recorded.first?.outcome == .complete)
        #expect(recorded.first?.response?.body?.size == Self.size)

        let replay = try RunningProxy(.none, in: proxy.folder)
        let again = try replay.connect(receives: 64 << 10)
        try again.send(origin.request())
        _ = try again.read(through: "\r\n\r\n")
        try Self.receiveAll(again)
    }

    /// The proxy's own answers are not held back by an origin.
    @Test func aClientThatAsksAndReadsNothingIsNotReadEither() throws {
        let request = Array("GET http://wiretape.test/ HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 4096))\r\n\r\n".utf8)
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect(receives: 64 << 10)
        var sent = 0
        while sent < Self.held {
            let count = try client.send(request, milliseconds: 700)
            sent += count
            guard count == request.count else { break }
        }
        try #require(sent < Self.held, "\(sent) bytes were taken while nobody read")
        for _ in 0..<(sent / request.count) { #expect(try client.readMessage().starts(with: Array("HTTP/1.1 200".utf8))) }
    }

    @Test func aSlowOriginHoldsTheClientBack() throws {
        let blocked = Gate("the client has to wait")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            try blocked.wait()
            try Self.receiveAll(connection)
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect()
        try client.send(origin.request("POST", "/", "Content-Length: \(Self.size)"))
        try Self.sendAll(client, blocked: blocked)
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\nok"))
        origin.finish()
    }
}
