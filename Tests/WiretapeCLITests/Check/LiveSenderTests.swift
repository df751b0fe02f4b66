import CassetteModel
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
            // No proxy: it knows no CONNECT.
            try LiveSender(port: origin.port, seconds: 20).send(LiveRequest(recorded, allowsUnsafe: false) { _ in [] })
        }
    }
}

@Suite struct LiveSocketTests {
    @Test func bytesGoOutAndComeBack() throws {
        let origin = try DriftingOrigin(["a": "hello"])
        defer { origin.stop() }
        let socket = try LiveSocket(port: origin.port, seconds: 20)
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
        let socket = try LiveSocket(port: origin.port, seconds: 1)
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
