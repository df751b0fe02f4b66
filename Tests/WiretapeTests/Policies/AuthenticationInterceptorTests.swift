import Foundation
import TapeBytes
import TapeTestSupport
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct AuthenticationInterceptorTests {
    private typealias Token = TokenAuthenticator.Token
    private struct Refusal: Error {}

    private func request() throws -> URLRequest { URLRequest(url: try #require(URL(string: "http://a/"))) }

    private func context(_ sent: URLRequest, status: Int = 401, id: UUID = UUID()) throws -> HTTPSession.RequestContext {
        HTTPSession.RequestContext(id: id, request: sent, response: HTTPSession.Response(url: try #require(sent.url), status: status))
    }

    private func authorization(_ interceptor: some HTTPSession.RequestInterceptor) async throws -> String? {
        try await interceptor.adapt(self.request(), for: HTTPSession.RequestContext(id: UUID())).value(forHTTPHeaderField: "Authorization")
    }

    private func word(_ result: HTTPSession.RetryResult) -> String {
        switch result {
        case .retry: "retry"
        case .retryAfter(let delay): "after \(delay)"
        case .doNotRetry: "no"
        case .doNotRetryWithError(let error): error is HTTPSession.AuthenticationError ? "AuthenticationError" : "\(type(of: error))"
        }
    }

    @Test func aGoodCredentialIsApplied() async throws {
        let interceptor = HTTPSession.AuthenticationInterceptor(authenticator: TokenAuthenticator(), credential: Token(text: "t"))
        #expect(try await self.authorization(interceptor) == "Bearer t")
    }

    @Test func withoutACredentialARequestFails() async throws {
        let interceptor = HTTPSession.AuthenticationInterceptor(authenticator: TokenAuthenticator())
        let error = await #expect(throws: HTTPSession.AuthenticationError.self) { try await self.authorization(interceptor) }
        #expect(error?.code == .missingCredential)
        interceptor.credential = Token(text: "login")
        #expect(try await self.authorization(interceptor) == "Bearer login")
    }

    @Test func manyRequestsWaitForOneRefresh() async throws {
        let authenticator = TokenAuthenticator()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try await self.authorization(interceptor) } }
            await authenticator.begun(1)
            authenticator.answer(.success(Token(text: "new")))
            for try await header in group { #expect(header == "Bearer new") }
        }
        #expect(authenticator.refreshes == ["old"])
        #expect(interceptor.credential == Token(text: "new"))
    }

    @Test func aFailedRefreshFailsAllWaiters() async throws {
        let authenticator = TokenAuthenticator()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        let first = Task { try await self.authorization(interceptor) }
        await authenticator.begun(1)
        authenticator.answer(.failure(Refusal()))
        await #expect(throws: Refusal.self) { try await first.value }
        let next = Task { try await self.authorization(interceptor) }
        await authenticator.begun(2)
        authenticator.answer(.success(Token(text: "new")))
        #expect(try await next.value == "Bearer new")
    }

    @Test func aCancelledRequestStopsWaitingAndTheOthersDoNot() async throws {
        let authenticator = TokenAuthenticator()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        let asker = Task { try await self.authorization(interceptor) }
        await authenticator.begun(1)
        let other = Task { try await self.authorization(interceptor) }
        asker.cancel()
        await #expect(throws: CancellationError.self) { try await asker.value }
        authenticator.answer(.success(Token(text: "new")))
        #expect(try await other.value == "Bearer new")
        #expect(authenticator.refreshes == ["old"])
    }

    @Test func aTaskThatIsCancelledBeforeAsksForNothing() async throws {
        let authenticator = TokenAuthenticator()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await self.authorization(interceptor)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(authenticator.refreshes.isEmpty)
    }

    @Test func aRefusedRequestIsSentAgainAfterARefresh() async throws {
        let authenticator = TokenAuthenticator { Token(text: $0.text + "+") }
        let interceptor = HTTPSession.AuthenticationInterceptor(authenticator: authenticator, credential: Token(text: "t"))
        let sent = try await interceptor.adapt(self.request(), for: HTTPSession.RequestContext(id: UUID()))
        #expect(self.word(await interceptor.retry(try self.context(sent), dueTo: Refusal())) == "retry")
        #expect(try await self.authorization(interceptor) == "Bearer t+")
        // A request with the old credential that comes back late needs no second refresh.
        #expect(self.word(await interceptor.retry(try self.context(sent), dueTo: Refusal())) == "retry")
        #expect(authenticator.refreshes == ["t"])
    }

    @Test func otherFailuresAreNotItsBusiness() async throws {
        let authenticator = TokenAuthenticator { _ in throw Refusal() }
        let interceptor = HTTPSession.AuthenticationInterceptor(authenticator: authenticator, credential: Token(text: "t"))
        let sent = try await interceptor.adapt(self.request(), for: HTTPSession.RequestContext(id: UUID()))
        #expect(self.word(await interceptor.retry(try self.context(sent, status: 500), dueTo: Refusal())) == "no")
        #expect(self.word(await interceptor.retry(HTTPSession.RequestContext(id: UUID(), request: sent), dueTo: Refusal())) == "no")
        #expect(self.word(await interceptor.retry(HTTPSession.RequestContext(id: UUID()), dueTo: Refusal())) == "no")
        #expect(authenticator.refreshes.isEmpty)
        #expect(self.word(await interceptor.retry(try self.context(sent), dueTo: CancellationError())) == "Refusal")
    }

    @Test func aRequestThatNeverCarriesTheCredentialDoesNotGoOnForEver() async throws {
        let authenticator = TokenAuthenticator { $0 }
        let window = HTTPSession.RefreshWindow(interval: .seconds(30), maximumAttempts: 2)
        let clock = ManualClock()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "t"), refreshWindow: window, clock: clock)
        // A redirect to another origin has removed the credential.
        let context = try self.context(self.request())
        var results: [String] = []
        for _ in 0..<7 { results.append(self.word(await interceptor.retry(context, dueTo: Refusal()))) }
        #expect(results == ["retry", "retry", "retry", "retry", "retry", "AuthenticationError", "AuthenticationError"])
        #expect(authenticator.refreshes.count == 2)
        clock.advance(by: .seconds(30))
        #expect(self.word(await interceptor.retry(context, dueTo: Refusal())) == "retry")
        #expect(authenticator.refreshes.count == 3)
    }

    @Test func aRequestOfTheRefreshItselfWaitsForNothing() async throws {
        let interceptor = Guarded<HTTPSession.AuthenticationInterceptor<TokenAuthenticator>?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let own = try #require(interceptor.withLock { $0 })
            let url = try #require(URL(string: "http://a/token"))
            // Like an engine, in a task of its own.
            let sent = try await Task { try await own.adapt(URLRequest(url: url), for: HTTPSession.RequestContext(id: UUID())) }.value
            #expect(sent.value(forHTTPHeaderField: "Authorization") == nil)
            let context = HTTPSession.RequestContext(id: UUID(), request: sent, response: HTTPSession.Response(url: url, status: 401))
            guard case .doNotRetry = await own.retry(context, dueTo: CancellationError()) else { throw CancellationError() }
            return Token(text: "new")
        }
        let made = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        interceptor.withLock { $0 = made }
        #expect(try await self.authorization(made) == "Bearer new")
        interceptor.withLock { $0 = nil }
    }

    @Test func theRefreshHasTheTaskOfTheFirstCaller() async throws {
        enum Scope { @TaskLocal static var name = "none" }
        let authenticator = TokenAuthenticator { _ in Token(text: Scope.name) }
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        #expect(try await Scope.$name.withValue("cassette") { try await self.authorization(interceptor) } == "Bearer cassette")
    }

    @Test func aLogoutEndsTheWaiting() async throws {
        let authenticator = TokenAuthenticator()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        let waiting = Task { try await self.authorization(interceptor) }
        await authenticator.begun(1)
        interceptor.credential = nil
        await #expect(throws: HTTPSession.AuthenticationError.self) { try await waiting.value }
        authenticator.answer(.success(Token(text: "late")))
        #expect(interceptor.credential == nil)
    }

    /// Cancellations race with the end of a refresh: every caller gets exactly one answer.
    @Test(arguments: 0..<20) func racingCancellationsLoseNoWaiter(seed: UInt64) async throws {
        let authenticator = TokenAuthenticator()
        let interceptor = HTTPSession.AuthenticationInterceptor(
            authenticator: authenticator, credential: Token(text: "old", requiresRefresh: true))
        var generator = SeededGenerator(seed: seed)
        let asking = (0..<64).map { _ in Task { try await self.authorization(interceptor) } }
        await authenticator.begun(1)
        let end = Task { authenticator.answer(.success(Token(text: "new"))) }
        let cancelled = asking.indices.filter { _ in Bool.random(using: &generator) }
        for index in cancelled { asking[index].cancel() }
        await end.value
        for (index, task) in asking.enumerated() {
            switch await task.result {
            case .success(let header): #expect(header == "Bearer new")
            case .failure(let error): #expect(error is CancellationError && cancelled.contains(index))
            }
        }
        #expect(authenticator.refreshes == ["old"])
    }
}

@Suite struct AuthenticatorTests {
    private let authenticator = TokenAuthenticator()

    @Test func a401IsARefusal() throws {
        let url = try #require(URL(string: "http://a/"))
        for (status, isRefusal) in [(401, true), (403, false), (407, false), (200, false)] {
            let response = HTTPSession.Response(url: url, status: status)
            #expect(
                self.authenticator.didRequest(
                    URLRequest(url: url), with: response, failDueToAuthenticationError: CancellationError()) == isRefusal)
        }
    }

    @Test func aRequestThatApplyingDoesNotChangeCarriesTheCredential() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a/")))
        #expect(!self.authenticator.isRequest(request, authenticatedWith: .init(text: "x")))
        self.authenticator.apply(.init(text: "x"), to: &request)
        #expect(self.authenticator.isRequest(request, authenticatedWith: .init(text: "x")))
        #expect(!self.authenticator.isRequest(request, authenticatedWith: .init(text: "y")))
    }
}
