import CassetteModel
import CassetteStore
import LocalHTTP
import NIOCore
import NIOEmbedded
import NIOPosix
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

/// The tests advance the time of an embedded loop.
@Suite struct InspectorHandlerTests {
    private static let token = "sesame-open-wide"
    private static let authorization = "Authorization: Bearer \(Self.token)\r\n"

    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func context(
        tools: InspectorTools = InspectorTools(), on threads: NIOThreadPool = NIOThreadPool(numberOfThreads: 1)
    ) throws -> InspectorContext {
        let path = self.folder.file("pets.json")
        if !CassettePlace.exists(path) { try RecordedExchanges.write([.sample(1)], to: path) }
        return InspectorContext(
            gate: LocalGate(token: Secret(Self.token), port: 7071, server: .inspector),
            service: InspectorTabs(InspectorService(cassette: try InspectedCassette(path: path), tools: tools), tools: tools),
            feed: InspectorFeed(), threads: threads)
    }

    // MARK: Connections without the token

    /// Connections to one inspector.
    private final class Connections {
        let loop = EmbeddedEventLoop()
        private let context: InspectorContext

        init(_ context: InspectorContext) { self.context = context }

        func open() throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(handler: InspectorHandler(inspector: self.context), loop: self.loop)
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 7071), promise: nil)
            return channel
        }

        func pass(_ time: TimeAmount) { self.loop.advanceTime(by: time) }
    }

    private func send(_ text: String, _ channel: EmbeddedChannel) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    private func received(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    private static let page = "GET / HTTP/1.1\r\nHost: 127.0.0.1:7071\r\n"

    @Test(arguments: [nil, "GET / HT", "POST /api/edits HTTP/1.1\r\nHost: 127.0.0.1:7071\r\n"] as [String?])
    func aConnectionWithoutARequestEndsAfterTwoSeconds(_ beginning: String?) throws {
        let connections = Connections(try self.context())
        let channel = try connections.open()
        connections.pass(.milliseconds(1500))
        // Bytes of a request that never ends do not extend the time.
        if let beginning { try self.send(beginning, channel) }
        connections.pass(.milliseconds(499))
        #expect(channel.isActive)
        #expect(try self.received(channel) == "")
        connections.pass(.milliseconds(1))
        let answer = try self.received(channel)
        #expect(beginning == nil ? answer == "" : answer.hasPrefix("HTTP/1.1 408 "))
        connections.pass(.seconds(2))
        #expect(!channel.isActive)
    }

    @Test func aRequestWithoutTheTokenGivesTwoMoreSeconds() throws {
        let connections = Connections(try self.context())
        let channel = try connections.open()
        for _ in 0..<3 {
            connections.pass(.milliseconds(1900))
            try self.send(Self.page + "\r\n", channel)
            #expect(try self.received(channel).hasPrefix("HTTP/1.1 200 "))
        }
        connections.pass(.seconds(2))
        #expect(!channel.isActive)
    }

    @Test func aClientWithTheTokenMayBeIdle() throws {
        let connections = Connections(try self.context())
        let channel = try connections.open()
        try self.send(Self.page + Self.authorization + "\r\n", channel)
        #expect(try self.received(channel).hasPrefix("HTTP/1.1 200 "))
        connections.pass(.seconds(119))
        #expect(channel.isActive)
        try self.send("GET / H", channel)
        connections.pass(.seconds(9))
        #expect(channel.isActive)
        connections.pass(.seconds(1))
        #expect(try self.received(channel).hasPrefix("HTTP/1.1 408 "))
    }

    /// The head shows the token, and the body of an edited exchange may take a while.
    @Test func aBodyAfterTheTokenHasTime() throws {
        let connections = Connections(try self.context())
        let channel = try connections.open()
        try self.send(
            "POST /api/edits HTTP/1.1\r\nHost: 127.0.0.1:7071\r\n\(Self.authorization)Content-Type: application/json\r\nContent-Length: 10\r\n\r\n",
            channel)
        connections.pass(.seconds(9))
        #expect(channel.isActive)
    }

    @Test func halfOpenConnectionsDoNotLockThePageOut() throws {
        let connections = Connections(try self.context())
        let page = try connections.open()
        try self.send(Self.page + Self.authorization + "\r\n", page)
        let silent = try (0..<200).map { _ in try connections.open() }
        let late = try connections.open()
        #expect(page.isActive && late.isActive)
        #expect(silent.filter(\.isActive).count == ConnectionSeats<Int>.strangerLimit - 1)
        #expect(silent.suffix(ConnectionSeats<Int>.strangerLimit - 1).allSatisfy { $0.isActive }, "the oldest go first")
        try self.send(Self.page + "\r\n", late)
        #expect(try self.received(late).hasPrefix("HTTP/1.1 200 "))
    }

    @Test func tooManyConnectionsWithTheTokenAreReported() throws {
        let connections = Connections(try self.context())
        let open = try (0...InspectorContext.knownLimit).map { _ in
            let channel = try connections.open()
            try self.send(Self.page + Self.authorization + "\r\n", channel)
            return try (channel, self.received(channel))
        }
        #expect(open.dropLast().allSatisfy { $0.0.isActive && $0.1.hasPrefix("HTTP/1.1 200 ") })
        #expect(open.last?.1.hasPrefix("HTTP/1.1 503 ") == true)
    }
}
