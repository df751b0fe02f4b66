import Testing

@testable import WiretapeCLI

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
