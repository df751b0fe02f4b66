import NIOCore
import NIOEmbedded
import TapeCore
import TapeTestSupport
import Testing
@testable import TapeProxy
@testable import TapeRecorder

@Suite struct RequestReadingTests {
    @Test func emptyLinesBeforeARequestAreSkipped() throws {
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect()
        try client.send("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aHeadThatComesOctetByOctetIsARequest() throws {
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect()
        for octet in "GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8 { try client.send([octet]) }
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aRequestThatWaitedForTheRecorderIsReadToItsEnd() throws {
        let folder = try TemporaryFolder()
        let plan = try RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1"))
        let channel = EmbeddedChannel()
        let proxy = try EmbeddedProxy.context(channel.embeddedEventLoop, recorder: recorder)
        proxy.record(.block(exchange: 1, side: .request, bytes: [UInt8](repeating: 0, count: RecorderQueue.highWater)))
        #expect(proxy.isRecorderFull)
        try channel.pipeline.syncOperations.addHandler(HTTP1ClientConnection(proxy: proxy, id: 1))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        func isReading() -> Bool? {
            channel.options.first { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
        }
        try channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n"))
        #expect(isReading() == false)
        proxy.recorderDrained()
        #expect(isReading() == true, "the body is still to come")
        try channel.writeInbound(ByteBuffer(string: "ab"))
        channel.embeddedEventLoop.run()
        #expect(try channel.readOutbound(as: ByteBuffer.self) != nil)
        _ = try channel.finish(acceptAlreadyClosed: true)
        try recorder.abandon()
    }

    @Test func manyPipelinedRequestsAreHeldBackAndAllAnswered() throws {
        let count = 2_000
        let proxy = try RunningProxy(.passthrough) { $0.limits.pipelined = 1024 }
        let client = try proxy.connect()
        try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", count: count))
        for _ in 0..<count { #expect(try client.readMessage().starts(with: Array("HTTP/1.1 200".utf8))) }
    }
}
