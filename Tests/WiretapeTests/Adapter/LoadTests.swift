import Foundation
import TapeBytes
import Testing

@testable import Wiretape

/// Transcripts of loads over a scripted transport and host, on one thread.
@Suite struct LoadTests {
    /// The calls of a load to its surroundings, in order; runs deferred work on demand.
    private final class World: Sendable {
        struct Contents: Sendable {
            var log: [String] = []
            var work: [@Sendable () -> Void] = []
            var timers: [(Duration, @Sendable () -> Void)] = []
            var now: Duration = .seconds(1000)
            var decide: (@Sendable (TransportRequest?) -> Void)?
            var proposed: TransportRequest?
        }

        let contents = Guarded(Contents())

        var host: LoadHost {
            LoadHost(
                comeBack: { self.contents.withLock { $0.log.append("come back") } },
                sent: { count, total in self.contents.withLock { $0.log.append("sent \(count) of \(total)") } },
                timer: { after, call in self.contents.withLock { $0.timers.append((after, call)) } },
                now: { self.contents.withLock { $0.now } },
                elsewhere: { work in self.contents.withLock { $0.work.append(work) } }
            )
        }

        var asking: LoadHost.RedirectDecision {
            { response, proposed, decide in
                self.contents.withLock { contents in
                    contents.log.append("asked about \(response.status) to \(proposed.method) \(proposed.url.path)")
                    (contents.decide, contents.proposed) = (decide, proposed)
                }
            }
        }

        var log: [String] {
            self.contents.withLock { contents in
                defer { contents.log = [] }; return contents.log
            }
        }

        /// The delegate's answer to the last question.
        func decide(_ request: TransportRequest?) { self.contents.withLock { $0.decide }?(request) }

        func work() {
            while let work = self.contents.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) { work() }
        }

        /// Advances the clock, and calls the waiters.
        func pass(_ duration: Duration) {
            self.contents.withLock { $0.now += duration }
            let due = self.contents.withLock { contents in
                defer { contents.timers = [] }
                return contents.timers
            }
            for (_, call) in due { call() }
        }
    }

    private static let url = URL(string: "http://here.test/start") ?? URL(fileURLWithPath: "/")
    private static let request = TransportRequest(
        method: "POST", url: url, headers: ["Authorization": "secret"], body: .data(Data("b".utf8)))
    private static func head(_ status: Int = 200, _ headers: HTTPSession.Headers = HTTPSession.Headers()) -> TransportEvent {
        .head(HTTPSession.Response(url: url, status: status, headers: headers))
    }
    private static func piece(_ text: String) -> TransportEvent { .chunk(Data(text.utf8)) }

    private let world = World()

    private func load(
        _ transport: AdapterTransport, _ change: (inout LoadHost) -> Void = { _ in }
    ) -> Load {
        var host = self.world.host
        change(&host)
        return Load(transport: transport, host: host)
    }

    private func start(_ load: Load) -> [String] { load.started { .ready(Self.request) }.map(\.text) }

    // MARK: - Answers

    @Test func anAnswerThatIsThereAtOnceIsGivenAtOnce() {
        let load = self.load(AdapterTransport { .answer($0, "a", "b") })
        #expect(self.start(load) == ["200", "\"ab\"", "finished"])
        #expect(self.world.log.isEmpty)
        #expect(self.world.contents.withLock { $0.timers.isEmpty && $0.work.isEmpty })
        #expect(load.startedAgain().isEmpty)
    }

    @Test func aDelegateGetsEachPiece() {
        let load = self.load(AdapterTransport { .answer($0, "a", "b") }) { $0.takesPieces = { true } }
        #expect(self.start(load) == ["200", "\"a\"", "\"b\"", "finished"])
    }

    @Test func delegateIsNotAskedAboutPiecesIfThereIsOneBody() {
        let load = self.load(AdapterTransport { .answer($0, "a") }) { host in
            host.takesPieces = {
                Issue.record("it makes no difference")
                return true
            }
        }
        #expect(self.start(load) == ["200", "\"a\"", "finished"])
    }

    @Test func aLaterAnswerIsGivenAsAWhole() {
        let transport = AdapterTransport()
        let load = self.load(transport)
        #expect(self.start(load).isEmpty)
        transport.send([Self.head(), Self.piece("a")])
        #expect(self.world.log.isEmpty)
        transport.send([Self.piece("b"), .end])
        #expect(self.world.log == ["come back"])
        #expect(load.startedAgain().map(\.text) == ["200", "\"ab\"", "finished"])
    }

    @Test func aDelegateGetsALaterAnswerPieceByPiece() {
        let transport = AdapterTransport()
        let load = self.load(transport) { $0.takesPieces = { true } }
        #expect(self.start(load).isEmpty)
        transport.send([Self.head()])
        #expect(self.world.log == ["come back"])
        transport.send([Self.piece("a")])
        #expect(self.world.log.isEmpty)
        #expect(load.startedAgain().map(\.text) == ["200", "\"a\""])
        transport.send([Self.piece("b"), .end])
        #expect(self.world.log == ["come back"])
        #expect(load.startedAgain().map(\.text) == ["\"b\"", "finished"])
    }

    @Test func aSuspensionOfTheUserGivesWhatThereIsWhenItIsOver() {
        let transport = AdapterTransport()
        let load = self.load(transport)
        _ = self.start(load)
        load.stopped(isCancelled: false)
        transport.send([Self.head(), .end])
        #expect(load.startedAgain().map(\.text) == ["200", "finished"])
        #expect(transport.requests.count == 1)
    }

    // MARK: - Cancelling

    @Test func aCancelledLoadCancelsItsExchangeElsewhereAndIsNotAnswered() {
        let transport = AdapterTransport()
        let load = self.load(transport)
        _ = self.start(load)
        load.stopped(isCancelled: true)
        #expect(transport.cancelled.isEmpty)
        self.world.work()
        #expect(transport.cancelled == [0])
        transport.send([Self.head(), .end])
        #expect(self.world.log.isEmpty)
        #expect(load.startedAgain().isEmpty)
    }

    @Test func anExchangeThatStartsAfterTheCancellationIsCancelledToo() {
        let transport = AdapterTransport()
        let load = self.load(transport)
        let done = Guarded<(@Sendable (Result<LoadSource.Made, TransportFailure>) -> Void)?>(nil)
        #expect(load.started { .later { made in done.withLock { $0 = made } } }.isEmpty)
        load.stopped(isCancelled: true)
        done.withLock { $0 }?(.success(LoadSource.Made(request: Self.request)))
        self.world.work()
        #expect(transport.requests.isEmpty)
    }

    // MARK: - Requests

    @Test func aRequestThatIsMadeLaterIsSentElsewhere() {
        let transport = AdapterTransport { .answer($0, "a") }
        let load = self.load(transport)
        #expect(load.started { .later { $0(.success(LoadSource.Made(request: Self.request))) } }.isEmpty)
        #expect(transport.requests.isEmpty)
        self.world.work()
        #expect(transport.requests.count == 1)
        #expect(self.world.log == ["come back"])
        #expect(load.startedAgain().map(\.text) == ["200", "\"a\"", "finished"])
    }

    @Test func aRequestThatCannotBeMadeFails() {
        let first = self.load(AdapterTransport())
        #expect(first.started { () throws(TransportFailure) in throw TransportFailure(.body, "hidden") }.map(\.text) == ["failed: hidden"])
        let second = self.load(AdapterTransport())
        #expect(second.started { .later { $0(.failure(TransportFailure(.body, "unreadable"))) } }.map(\.text) == ["failed: unreadable"])
    }

    @Test func uploadProgressIsReported() {
        let load = self.load(AdapterTransport { [.sent(1, of: 2), .sent(2, of: 2)] + .answer($0) })
        _ = self.start(load)
        #expect(self.world.log == ["sent 1 of 2", "sent 2 of 2"])
    }

    // MARK: - Redirects

    private static func redirecting(_ request: TransportRequest) -> [TransportEvent] {
        guard request.url.path == "/start" else { return .answer(request, "\(request.method) \(request.body.size ?? -1)") }
        return [Self.head(302, ["Location": "/next"]), Self.piece("moved"), .end]
    }

    @Test func aRedirectIsFollowedAtOnce() {
        let transport = AdapterTransport { Self.redirecting($0) }
        let load = self.load(transport)
        #expect(self.start(load) == ["200", "\"GET -1\"", "finished"])
        #expect(transport.requests.map(\.url.path) == ["/start", "/next"])
        #expect(transport.requests[1].headers.value(for: "Authorization") == "secret")
    }

    @Test func credentialsDoNotGoToAnotherOrigin() {
        let transport = AdapterTransport { request in
            guard request.url.host() == "here.test" else { return .answer(request) }
            return [Self.head(307, ["Location": "http://there.test/"]), .end]
        }
        _ = self.start(self.load(transport))
        #expect(transport.requests[1].method == "POST" && transport.requests[1].body.size == 1)
        #expect(transport.requests[1].headers.value(for: "Authorization") == nil)
    }

    @Test func aRedirectThatComesLaterIsFollowedElsewhere() {
        let transport = AdapterTransport()
        let load = self.load(transport)
        _ = self.start(load)
        transport.send(Self.redirecting(Self.request))
        #expect(transport.requests.count == 1)
        self.world.work()
        #expect(transport.requests.count == 2)
        transport.send([Self.piece("from the first, too late")], to: 0)
        transport.send([Self.head(), Self.piece("a"), .end], to: 1)
        #expect(load.startedAgain().map(\.text) == ["200", "\"a\"", "finished"])
    }

    @Test func aCircleOfRedirectsEnds() {
        let transport = AdapterTransport { _ in [Self.head(302, ["Location": "/start"]), .end] }
        let calls = self.start(self.load(transport))
        #expect(calls.count == 1 && calls[0].hasPrefix("failed: ") && calls[0].contains("20 redirects"))
        #expect(transport.requests.count == 21)
    }

    @Test func aRedirectThatIsCutFails() {
        let load = self.load(AdapterTransport { _ in [Self.head(302, ["Location": "/next"]), .failed(.cancelled("cut"))] })
        #expect(self.start(load) == ["failed: cut"])
    }

    @Test func aDelegateIsAskedAndMayChangeTheRequest() throws {
        let transport = AdapterTransport { Self.redirecting($0) }
        let load = self.load(transport) { $0.decideRedirect = self.world.asking }
        #expect(self.start(load).isEmpty)
        #expect(self.world.log == ["asked about 302 to GET /next"])
        var changed = try #require(self.world.contents.withLock { $0.proposed })
        changed.url = try #require(URL(string: "http://here.test/other"))
        self.world.decide(changed)
        self.world.work()
        #expect(transport.requests.map(\.url.path) == ["/start", "/other"])
        #expect(load.startedAgain().map(\.text) == ["200", "\"GET -1\"", "finished"])
    }

    @Test func aDelegateMayTakeTheRedirectForTheAnswer() {
        let transport = AdapterTransport { Self.redirecting($0) }
        let load = self.load(transport) { $0.decideRedirect = self.world.asking }
        _ = self.start(load)
        _ = self.world.log
        self.world.decide(nil)
        #expect(self.world.log == ["come back"])
        #expect(load.startedAgain().map(\.text) == ["302", "\"moved\"", "finished"])
        #expect(transport.requests.count == 1)
    }

    @Test func redirectIsTheAnswerIfTheSystemFollowsIt() {
        let load = self.load(AdapterTransport { Self.redirecting($0) }) { $0.followsRedirects = false }
        #expect(self.start(load) == ["302", "\"moved\"", "finished"])
    }

    // MARK: - Cookies

    @Test func aCookieOfARedirectGoesOutWithTheNextRequest() {
        let transport = AdapterTransport { request in
            guard request.url.path == "/start" else { return .answer(request) }
            return [Self.head(302, ["Location": "/next", "Set-Cookie": "session=new"]), .end]
        }
        let cookies = LoadCookies(.ephemeral, request: URLRequest(url: Self.url))
        _ = self.start(self.load(transport) { $0.cookies = cookies })
        #expect(transport.requests[1].headers.value(for: "Cookie") == "session=new")
    }

    // MARK: - Time

    @Test func anAnswerThatNeverComesFailsAndItsExchangeIsCancelled() {
        let transport = AdapterTransport()
        let load = self.load(transport) { $0.limits.idle = .milliseconds(300) }
        _ = self.start(load)
        self.world.pass(.milliseconds(299))
        #expect(self.world.log.isEmpty)
        self.world.pass(.milliseconds(1))
        #expect(self.world.log == ["come back"])
        #expect(
            load.startedAgain().map(\.text) == [
                "failed: no part of the response arrived for 300 ms: raise the session's timeouts, or find out what delays the response"
            ])
        self.world.work()
        #expect(transport.cancelled == [0])
    }

    @Test func eachSignOfLifeStartsTheIdleTimeAgainButNotTheWhole() {
        let transport = AdapterTransport()
        let load = self.load(transport) { host in
            host.limits.idle = .seconds(10)
            host.limits.total = .seconds(25)
        }
        _ = self.start(load)
        transport.send([Self.head()])
        for _ in 0..<3 {
            self.world.pass(.seconds(8))
            transport.send([Self.piece("a")])
        }
        #expect(self.world.log.isEmpty)
        self.world.pass(.seconds(1))
        #expect(self.world.log == ["come back"])
        #expect(load.startedAgain().last.map(\.text)?.contains("the whole response took longer than 25 s") == true)
    }

    @Test func nothingIsTimedAfterTheEnd() {
        let transport = AdapterTransport()
        let load = self.load(transport)
        _ = self.start(load)
        transport.send([Self.head(), .end])
        _ = load.startedAgain()
        self.world.pass(.seconds(1_000_000))
        #expect(self.world.log == ["come back"])
        #expect(self.world.contents.withLock { $0.timers.isEmpty })
        #expect(transport.cancelled.isEmpty)
    }
}

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
