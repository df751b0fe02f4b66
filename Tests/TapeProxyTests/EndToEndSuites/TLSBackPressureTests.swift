import CassetteModel
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// A body of 10 MiB inside TLS between a fast and a slow end. The fast end has to wait, and every byte arrives.
@Suite(.serialized) struct TLSBackPressureTests {
    private static let size = 10 << 20
    private static let block = (0..<(64 << 10)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    /// The bytes that the kernel may buffer for each connection; the kernel doubles the value.
    private static let kernel: Int32 = 64 << 10

    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    /// Sends until nothing more is accepted, opens the gate, and sends the rest.
    private static func sendAll(_ stream: TLSStream, blocked: Gate) throws {
        var isBlocked = false
        for number in 0..<(self.size / self.block.count) {
            let count = try stream.send(self.block, milliseconds: isBlocked ? 10_000 : 500)
            guard count == 0 else { continue }
            guard !isBlocked, number > 0 else { throw RawError("block \(number) was not taken") }
            isBlocked = true
            blocked.open()
            guard try stream.flush() else { throw RawError("block \(number) was not taken in time") }
        }
        guard isBlocked else { throw RawError("all was taken while nobody read") }
    }

    private static func receiveAll(_ stream: TLSStream) throws {
        for number in 0..<(self.size / self.block.count) {
            guard try stream.read(count: self.block.count) == self.block else { throw RawError("block \(number) is another") }
        }
    }

    @Test func aSlowClientHoldsTheOriginBack() throws {
        let blocked = Gate("the origin has to wait")
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                stream.limitSending(to: Self.kernel)
                try stream.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\n\r\n")
                try Self.sendAll(stream, blocked: blocked)
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(receives: Self.kernel), to: origin.authority)
        try stream.send(TLSScene.request())
        _ = try stream.read(through: "\r\n\r\n")
        try blocked.wait()
        try Self.receiveAll(stream)
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.first?.outcome == .complete)
        #expect(recorded.first?.response?.body?.size == Self.size)

        let replay = try self.scene.proxy(.none, in: proxy.folder)
        let again = try self.scene.secure(replay.connect(receives: Self.kernel), to: origin.authority)
        try again.send(TLSScene.request())
        _ = try again.read(through: "\r\n\r\n")
        try Self.receiveAll(again)
    }

    @Test func aSlowOriginHoldsTheClientBack() throws {
        let blocked = Gate("the client has to wait")
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("POST /")
                try blocked.wait()
                try Self.receiveAll(stream)
                try stream.send(TLSScene.answer("ok"))
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        stream.limitSending(to: Self.kernel)
        try stream.send(TLSScene.request("POST", "/", "Content-Length: \(Self.size)"))
        try Self.sendAll(stream, blocked: blocked)
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("ok"))
        origin.finish()
        #expect(try proxy.recorded().first?.request.body?.size == Self.size)
    }
}
