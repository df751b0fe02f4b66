import CassetteModel
import Foundation
import Platform
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct LiveSenderTests {
    @Test func aRequestInClearIsReadToTheEndOfItsAnswer() throws {
        let origin = try DriftingOrigin(["a": String(repeating: "x", count: 200_000)])
        defer { origin.stop() }
        let recorded = RecordedRequest(method: "GET", url: origin.url("a"), target: "/a", headers: HeaderFields(["Host: a"]))
        try LiveSender(port: origin.port, seconds: 20).send(LiveRequest(recorded, allowsUnsafe: false) { _ in [] })
        #expect(try origin.takeRequests() == ["GET /a "])
    }

    @Test func aRefusedTunnelIsAnError() throws {
        let origin = try DriftingOrigin([:])
        defer { origin.stop() }
        let recorded = RecordedRequest(method: "GET", url: "https://a/")
        #expect(throws: LiveSocket.Failure.self) {
            // The origin is no proxy: it does not support CONNECT.
            try LiveSender(port: origin.port, seconds: 20).send(LiveRequest(recorded, allowsUnsafe: false) { _ in [] })
        }
    }

    /// - Returns: the reason why the endless answer of a server was not read completely; nil if it was.
    private func endless(_ limits: LiveSocket.Limits?, stop: LiveStop? = nil) throws -> String? {
        let server = try EndlessServer { stop?.stop() }
        let request = try LiveRequest(RecordedRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/"), allowsUnsafe: false) { _ in
            []
        }
        do {
            try LiveSender(port: server.port, seconds: 60, limits: limits, stop: stop).send(request)
            return nil
        } catch let failure as LiveSocket.Failure {
            return failure.message
        }
    }

    @Test func anAnswerThatNeverEndsIsLeft() throws {
        #expect(try self.endless(.init(seconds: 60, bytes: 3 << 20)) == "the answer has more than 3 MiB: the rest was not read")
        #expect(try self.endless(.init(seconds: 1, bytes: .max)) == "the answer had not ended after 1 s: the rest was not read")
    }

    @Test func anAnswerIsLeftWhenItsReaderStops() throws {
        let stop = LiveStop()
        let limits = LiveSocket.Limits(seconds: 60, bytes: 64 << 20)
        #expect(try self.endless(limits, stop: stop)?.contains("the rest was not read") != true)
        // Nothing is sent later either.
        let origin = try DriftingOrigin(["a": "hello"])
        defer { origin.stop() }
        let recorded = RecordedRequest(method: "GET", url: origin.url("a"), target: "/a", headers: HeaderFields(["Host: a"]))
        #expect(throws: LiveSocket.Failure.self) {
            try LiveSender(port: origin.port, seconds: 20, stop: stop).send(LiveRequest(recorded, allowsUnsafe: false) { _ in [] })
        }
    }
}

/// Keeps answering its only client as long as the client reads.
private struct EndlessServer {
    let port: Int

    /// - Parameter began: called after the first bytes.
    init(began: @escaping @Sendable () -> Void) throws {
        let listener = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: Int? = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 1) == 0, getsockname(listener, address, &length) == 0 else {
                    return nil
                }
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int(UInt16(bigEndian: $0.pointee.sin_port)) }
            }
        }
        guard let port else { throw TestProblem("no port") }
        self.port = port
        Thread.detachNewThread {
            let client = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 1)
            _ = recv(client, &request, 1, 0)
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
            var isFirst = true
            while send(client, piece, piece.count, Int32(MSG_NOSIGNAL)) > 0 {
                if isFirst { began() }
                isFirst = false
            }
            close(client)
            close(listener)
        }
    }
}

@Suite struct LiveSocketTests {
    @Test func bytesGoOutAndComeBack() throws {
        let origin = try DriftingOrigin(["a": "hello"])
        defer { origin.stop() }
        var socket = try LiveSocket(port: origin.port, seconds: 20)
        try socket.send(Array("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        var answer: [UInt8] = []
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 7, alignment: 1)
        defer { block.deallocate() }
        while case let count = try socket.receive(into: block), count > 0 { answer += block[..<count] }
        #expect(String(decoding: answer, as: UTF8.self).hasSuffix("\r\n\r\nhello"))
    }

    @Test func aClosedPortIsAnError() throws {
        let origin = try DriftingOrigin([:])
        origin.stop()
        #expect(throws: LiveSocket.Failure.self) { _ = try LiveSocket(port: origin.port, seconds: 1) }
    }

    @Test func silenceEnds() throws {
        let origin = try DriftingOrigin([:])
        defer { origin.stop() }
        var socket = try LiveSocket(port: origin.port, seconds: 1)
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 7, alignment: 1)
        defer { block.deallocate() }
        do throws(LiveSocket.Failure) {
            _ = try socket.receive(into: block)
            Issue.record("nothing was asked, and an answer came")
        } catch {
            #expect(error.message == "no answer in time")
        }
    }
}
