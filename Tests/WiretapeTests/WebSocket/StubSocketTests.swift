import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct StubSocketTests {
    private static let echo = StubResponse.webSocket { socket in
        while let message = try await socket.receive() { try await socket.send("echo: \(message.text ?? "\(message.data.count) bytes")") }
    }

    @Test func aStubIsTheServersEnd() async throws {
        let transport = StubTransport { _ in Self.echo }
        let socket = try await HTTPSession(transport: transport).webSocket(SocketFixture.url)
        try await socket.send("a")
        try await socket.send(Data([1, 2]))
        #expect(try await socket.receive() == .text("echo: a"))
        #expect(try await socket.receive() == .text("echo: 2 bytes"))
        #expect(transport.requests.map(\.url.absoluteString) == ["https://pets.test/talk"])
        #expect(socket.response.source == .stub)
        await socket.close(reason: "done")
        #expect(try await socket.receive() == nil)
        #expect(socket.closeCode == .normal && socket.closeReason == "done")
        #expect(await socketError { try await socket.send("b") }?.code == .webSocket)
    }

    @Test func theEndOfTheClosureIsTheClose() async throws {
        let session = HTTPSession(transport: StubTransport { _ in .webSocket { try await $0.send("only") } })
        #expect(try await session.webSocket(SocketFixture.url).rest() == ["only", "close 1000"])
    }

    @Test func theStubClosesWithACode() async throws {
        let code = try #require(HTTPSession.WebSocket.CloseCode(rawValue: 4001))
        let session = HTTPSession(transport: StubTransport { _ in .webSocket { $0.close(code: code, reason: "later") } })
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(try await socket.rest() == ["close 4001"])
        #expect(socket.closeReason == "later")
    }

    @Test func anErrorOfTheClosureBreaksOff() async throws {
        let session = HTTPSession(
            transport: StubTransport { _ in
                .webSocket { socket in
                    try await socket.send("a")
                    throw TransportFailure(.network(.reset), "gone")
                }
            })
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(try await socket.receive() == .text("a"))
        #expect(await socketError { _ = try await socket.receive() }?.networkFailure == .reset)
    }

    @Test func aStubThatHasEndedTakesNothingAndIsHeardToItsEnd() async throws {
        let session = HTTPSession(transport: StubTransport { _ in .webSocket { try await $0.send("last") } })
        let socket = try await session.webSocket(SocketFixture.url)
        var error: WiretapeError?
        while error == nil { error = await socketError { try await socket.send("more") } }
        #expect(error?.networkFailure == .reset && socket.isClosed)
        #expect(try await socket.rest() == ["last", "close 1000"])
    }

    @Test func theServerWaitsForItsReader() async throws {
        let pipe = SocketPipe()
        for number in 0..<SocketPipe.limit { try await pipe.push(.text("\(number)")) }
        let last = Task { try await pipe.push(.text("last")) }
        while pipe.writerCount == 0 { await Task.yield() }
        #expect(try await pipe.next() == .message(.text("0")))
        try await last.value
        for number in 1..<SocketPipe.limit { #expect(try await pipe.next() == .message(.text("\(number)"))) }
        #expect(try await pipe.next() == .message(.text("last")))
    }

    @Test func aServerThatWaitsForItsReaderEndsWithIt() async throws {
        let (ended, continuation) = AsyncStream.makeStream(of: Bool.self)
        let session = HTTPSession(
            transport: StubTransport { _ in
                .webSocket { socket in
                    defer { continuation.yield(Task.isCancelled) }
                    while true { try await socket.send("more") }
                }
            })
        func use() async throws { #expect(try await session.webSocket(SocketFixture.url).receive() == .text("more")) }
        // The socket is released here.
        try await use()
        var end = ended.makeAsyncIterator()
        _ = await end.next()
    }

    @Test func oneTaskReceivesAtATime() async throws {
        let session = HTTPSession(transport: StubTransport { _ in Self.echo })
        let socket = try await session.webSocket(SocketFixture.url)
        let readers = (0..<2).map { _ in Task { await socketError { _ = try await socket.receive() } } }
        // One of them is refused, and the other waits for the answer.
        var codes: [HTTPSession.ErrorCode?] = []
        await withTaskGroup(of: HTTPSession.ErrorCode?.self) { group in
            for reader in readers { group.addTask { await reader.value?.code } }
            if let first = await group.next() { codes.append(first) }
            try? await socket.send("a")
            for await code in group { codes.append(code) }
        }
        #expect(codes == [.webSocket, nil])
    }

    // MARK: The opening

    @Test func theOpeningIsARequestOfTheSession() async throws {
        struct Token: HTTPSession.RequestInterceptor {
            func adapt(_ request: URLRequest, for context: HTTPSession.RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue("Bearer \(context.retryCount + 1)", forHTTPHeaderField: "Authorization")
                return request
            }

            func retry(_ context: HTTPSession.RequestContext, dueTo error: any Error) async -> HTTPSession.RetryResult {
                (error as? ValidationError)?.status == 401 ? .retry : .doNotRetry
            }
        }
        let transport = StubTransport([.text("no", status: 401), Self.echo])
        var configuration = HTTPSession.Configuration()
        configuration.baseURL = URL(string: "https://pets.test/v1")
        configuration.headers = ["User-Agent": "pets"]
        configuration.interceptors = [Token()]
        let session = HTTPSession(configuration: configuration, transport: transport)
        let socket = try await session.webSocket("/talk", protocols: ["v1", "v2"], headers: ["X-Room": "1"])
        try await socket.send("a")
        #expect(try await socket.receive() == .text("echo: a"))
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer 1", "Bearer 2"])
        let request = try #require(transport.requests.last)
        #expect(request.method == "GET" && request.url.absoluteString == "https://pets.test/v1/talk")
        #expect(request.headers["User-Agent"] == "pets" && request.headers["X-Room"] == "1")
    }

    @Test func anotherAnswerIsAnErrorWithItsStatusAndBody() async throws {
        let session = HTTPSession(transport: StubTransport { _ in .text("closed for today", status: 503) })
        let error = await socketError { _ = try await session.webSocket(SocketFixture.url) }
        #expect(error?.code == .validation)
        #expect((error?.cause as? ValidationError)?.data == Data("closed for today".utf8))
    }

    @Test func aFailureOfTheOpeningIsTheError() async throws {
        let session = HTTPSession(transport: StubTransport { _ in .failure(.refused) })
        #expect(await socketError { _ = try await session.webSocket(SocketFixture.url) }?.networkFailure == .refused)
    }

    @Test func anOpeningHasTheSessionsTimeouts() async throws {
        var configuration = HTTPSession.Configuration()
        configuration.timeouts = HTTPSession.Timeouts(idle: .milliseconds(10))
        let session = HTTPSession(configuration: configuration, transport: StubTransport { _ in .hang })
        #expect(await socketError { _ = try await session.webSocket(SocketFixture.url) }?.code == .timedOut)
    }

    @Test func aTaskThatIsCancelledEndsTheOpening() async throws {
        let session = HTTPSession(transport: StubTransport { _ in .hang })
        let opening = Task { await socketError { _ = try await session.webSocket(SocketFixture.url) } }
        opening.cancel()
        #expect(await opening.value?.isCancelled == true)
    }

    @Test func theServerChoosesASubprotocol() async throws {
        let (offered, continuation) = AsyncStream.makeStream(of: [String].self)
        let session = HTTPSession(
            transport: StubTransport { _ in .webSocket(protocol: "v2") { continuation.yield($0.protocols) } })
        #expect(try await session.webSocket(SocketFixture.url, protocols: ["v1", "v2"]).negotiatedProtocol == "v2")
        var offers = offered.makeAsyncIterator()
        #expect(await offers.next() == ["v1", "v2"])
    }

    @Test(arguments: [["a b"], [""], ["a", "a"]]) func subprotocolsAreTokensAndNamedOnce(protocols: [String]) async throws {
        let session = HTTPSession(transport: StubTransport { _ in Self.echo })
        #expect(await socketError { _ = try await session.webSocket(SocketFixture.url, protocols: protocols) }?.code == .invalidRequest)
    }

    @Test func onlyGETWithoutABodyOpens() async throws {
        var request = URLRequest(url: try #require(URL(string: SocketFixture.url)))
        request.httpMethod = "POST"
        let session = HTTPSession(transport: StubTransport { _ in Self.echo })
        let error = await socketError { _ = try await session.webSocket(request) }
        #expect(error?.code == .invalidRequest && error?.message.contains("GET") == true)
    }

    @Test func anOrdinaryRequestFailsSinceThisIsAWebSocket() async throws {
        let session = HTTPSession(transport: StubTransport { _ in Self.echo })
        let error = await session.request("https://pets.test/talk").serializingData().response.error
        #expect(error?.code == .unserved && error?.message.contains("webSocket(_:)") == true)
    }

    @Test func aTransportThatOpensNoneIsNamed() async throws {
        struct Greeting: AsyncTransport {
            func response(to request: TransportRequest) async throws -> TransportResponse {
                TransportResponse(HTTPSession.Response(url: request.url, status: 200))
            }
        }
        let error = await socketError { _ = try await HTTPSession(transport: Greeting()).webSocket(SocketFixture.url) }
        #expect(error?.code == .unsupported && error?.message.hasPrefix("Greeting opens no WebSockets") == true)
    }

    @Test func aCassetteHasStubsForSockets() async throws {
        let folder = try TemporaryFolder()
        var settings = Cassette.Settings()
        settings.stubs = [.webSocket("wss://pets.test/other") { try await $0.send("stubbed") }]
        let recorded = SocketFixture.socket(#"{ "at": 1, "from": "server", "text": "recorded" }"#)
        let session = HTTPSession.patient(try SocketFixture.cassette([recorded], in: folder, settings: settings))
        #expect(try await session.webSocket("wss://pets.test/other#top").receive() == .text("stubbed"))
        #expect(try await session.webSocket(SocketFixture.url).receive() == .text("recorded"))
    }

    // MARK: The close

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 5000, 70_000]) func someNumbersAreNoCodes(number: Int) {
        #expect(HTTPSession.WebSocket.CloseCode(rawValue: number) == nil)
    }

    @Test func aReasonIsCutBetweenCharacters() {
        let cut = HTTPSession.WebSocket.Closing.cut(String(repeating: "이", count: 50))
        #expect(cut == String(repeating: "이", count: 41))
        #expect(HTTPSession.WebSocket.Closing.cut("short") == "short")
    }
}
