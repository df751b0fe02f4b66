import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Real sessions over a scripted transport.
@Suite struct LoadingProtocolTests {
    private static let url = URL(string: "http://protocol.invalid/path") ?? URL(fileURLWithPath: "/")

    private func session(
        _ transport: AdapterTransport, inPlace: Bool, delegate: RecordingDelegate? = nil
    ) -> URLSession {
        URLSession(configuration: .answered(by: transport, inPlace: inPlace), delegate: delegate, delegateQueue: nil)
    }

    @Test(arguments: [true, false]) func anAnswerReachesItsAwaiter(inPlace: Bool) async throws {
        let transport = AdapterTransport { .answer($0, status: 201, headers: ["X-One": "1"], "ab", "cd") }
        let (data, response) = try await self.session(transport, inPlace: inPlace).data(from: Self.url)
        #expect(data == Data("abcd".utf8))
        let http = try #require(response as? HTTPURLResponse)
        #expect(http.statusCode == 201 && http.url == Self.url)
        #expect(http.value(forHTTPHeaderField: "x-one") == "1")
        #expect(transport.requests.map(\.method) == ["GET"])
    }

    @Test(arguments: [true, false]) func aDelegateGetsEachPiece(inPlace: Bool) async {
        let delegate = RecordingDelegate()
        let session = self.session(AdapterTransport { .answer($0, "ab", "cd") }, inPlace: inPlace, delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)) == ["200", "ab", "cd", "complete"])
    }

    @Test func aFailureReachesItsAwaiter() async {
        let transport = AdapterTransport { _ in [.failed(TransportFailure(.network(.refused), "nobody listens"))] }
        let error = await #expect(throws: URLError.self) { try await self.session(transport, inPlace: true).data(from: Self.url) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.localizedDescription == "nobody listens")
    }

    @Test func otherSchemesFailWithoutATransport() async throws {
        let transport = AdapterTransport { .answer($0) }
        let url = try #require(URL(string: "ftp://protocol.invalid/"))
        let error = await #expect(throws: (any Error).self) { try await self.session(transport, inPlace: true).data(from: url) }
        #expect((error as NSError?)?.domain == TransportFailure.errorDomain)
        #expect(transport.requests.isEmpty)
    }

    @Test func aStatusThatChallengesIsAnAnswerWithItsField() async throws {
        let transport = AdapterTransport { .answer($0, status: 401, headers: ["WWW-Authenticate": "Basic realm=\"here\""], "denied") }
        let (data, response) = try await self.session(transport, inPlace: true).data(from: Self.url)
        let http = try #require(response as? HTTPURLResponse)
        #expect(http.statusCode == 401 && http.url == Self.url && data == Data("denied".utf8))
        #expect(http.value(forHTTPHeaderField: "WWW-Authenticate") == "Basic realm=\"here\"")
    }

    @Test func aCancelledTaskIsCancelledAndItsExchangeToo() async {
        let transport = AdapterTransport()
        let delegate = RecordingDelegate()
        let task = self.session(transport, inPlace: true, delegate: delegate).dataTask(with: Self.url)
        task.resume()
        transport.started.wait()
        task.cancel()
        #expect(await delegate.ended() == ["failed -999"])
        transport.send([.head(HTTPSession.Response(url: Self.url, status: 200)), .end])
    }

    @Test func aSuspendedTaskGoesOnWithTheSameExchange() async {
        let transport = AdapterTransport()
        let delegate = RecordingDelegate()
        let task = self.session(transport, inPlace: true, delegate: delegate).dataTask(with: Self.url)
        task.resume()
        transport.started.wait()
        task.suspend()
        transport.send([.head(HTTPSession.Response(url: Self.url, status: 200)), .chunk(Data("a".utf8)), .end])
        #expect(await delegate.run(task) == ["200", "a", "complete"])
        #expect(transport.requests.count == 1)
    }

    @Test func aTimeLimitBelowASecondWorks() async {
        let request = URLRequest(url: Self.url, timeoutInterval: 0.05)
        let session = self.session(AdapterTransport(), inPlace: true)
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.code == .timedOut)
    }

    @Test func sessionsDoNotShareAnswers() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                let session = self.session(AdapterTransport { .answer($0, "\(number)") }, inPlace: number.isMultiple(of: 2))
                for _ in 0..<5 {
                    group.addTask {
                        let (data, _) = try await session.data(from: Self.url)
                        #expect(data == Data("\(number)".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func canInitFollowsTheRules() throws {
        #expect(LoadingProtocol.canInit(with: URLRequest(url: Self.url)))
        #expect(!LoadingProtocol.canInit(with: URLRequest(url: try #require(URL(string: "data:,a")))))
        let request = URLRequest(url: Self.url)
        #expect(LoadingProtocol.canonicalRequest(for: request) == request)
        #expect(!LoadingProtocol.requestIsCacheEquivalent(request, to: request))
    }

    #if canImport(FoundationNetworking)
    @Test func aDownloadFailsInsteadOfTheProcess() async {
        let transport = AdapterTransport { .answer($0, "a") }
        let session = self.session(transport, inPlace: true)
        let error = await #expect(throws: (any Error).self) { try await session.download(for: URLRequest(url: Self.url)) }
        #expect(error.flatMap { TransportFailure($0) }?.kind == .unsupported)
        #expect(transport.requests.isEmpty)
    }
    #endif
}

@Suite struct LoadingRuleTests {
    /// A request that is not taken goes to the network. All are taken, except for those that the system reads or connects itself.
    private static let table: [(scheme: String?, upgrade: String?, apple: Bool, linux: Bool)] = [
        ("http", nil, true, true), ("HTTPS", nil, true, true), ("https", "h2c", true, true), ("ftp", nil, true, true),
        (nil, nil, true, true),
        ("ws", nil, false, true), ("wss", nil, false, true), ("https", "websocket", false, true), ("http", "h2c, WebSocket", false, true),
        ("data", nil, false, false), ("file", nil, false, false),
    ]

    @Test func requestsThatAreTaken() {
        for row in Self.table {
            #expect(LoadingRule.takes(scheme: row.scheme, upgrade: row.upgrade, on: .apple) == row.apple, "\(row)")
            #expect(LoadingRule.takes(scheme: row.scheme, upgrade: row.upgrade, on: .linux) == row.linux, "\(row)")
        }
    }

    @Test(arguments: URLSessionPlatform.allCases) func takenRequestIsAnsweredOrRefusedWithANextStep(platform: URLSessionPlatform) throws {
        for task in LoadingRule.TaskKind.allCases {
            let refusal = LoadingRule.refusal(scheme: "https", upgrade: nil, task: task, on: platform)
            switch task {
            case .data, .upload: #expect(refusal == nil)
            case .download: #expect((refusal == nil) == (platform == .apple))
            case .other: #expect(try #require(refusal).contains("use a data or an upload task"))
            }
        }
        for (scheme, upgrade) in [("wss", nil), ("http", "websocket")] {
            #expect(try #require(LoadingRule.refusal(scheme: scheme, upgrade: upgrade, task: .data, on: platform)).hasPrefix("web sockets"))
        }
        #expect(try #require(LoadingRule.refusal(scheme: "ftp", upgrade: nil, task: .data, on: platform)).hasPrefix("only http and https"))
    }
}

@Suite struct LoadingThreadTests {
    #if canImport(FoundationNetworking)
    private static let url = URL(string: "http://thread.invalid/") ?? URL(fileURLWithPath: "/")

    @Test func aTaskThatComesBackIsStartedAgain() async {
        let transport = AdapterTransport()
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .answered(by: transport, inPlace: true), delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: Self.url)
        task.resume()
        transport.started.wait()
        // A load that starts again, from any thread, delivers the events that are waiting.
        LoadingThread().comeBack(task) {}
        LoadingThread().comeBack(nil) {}
        transport.send([.head(HTTPSession.Response(url: Self.url, status: 204)), .end])
        #expect(await delegate.ended() == ["204", "complete"])
    }

    @Test func aTaskThatWaitsIsNotCancelled() {
        let session = URLSession(configuration: .answered(by: AdapterTransport()))
        let task = session.dataTask(with: Self.url)
        #expect(!LoadingThread.isCancelled(task))
        task.cancel()
        task.suspend()
        #expect(LoadingThread.isCancelled(task))
        #expect(LoadingThread.isCancelled(nil))
    }
    #else
    @Test func workComesBackToTheThreadThatHasEntered() {
        let thread = LoadingThread()
        thread.enter()
        let entered = Thread.current
        nonisolated(unsafe) var seen: Thread?
        DispatchQueue.global().async {
            thread.comeBack(nil) {
                seen = Thread.current
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
        }
        CFRunLoopRunInMode(.defaultMode, 10, false)
        #expect(seen === entered)
        #expect(LoadingThread.isCancelled(nil))
    }
    #endif
}

@Suite struct URLSessionPlatformTests {
    @Test func itIsThatOfTheSystem() {
        #if os(Linux)
        #expect(URLSessionPlatform.current == .linux)
        #else
        #expect(URLSessionPlatform.current == .apple)
        #endif
    }
}
