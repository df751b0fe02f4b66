import Foundation
import Testing
import Wiretape
import WiretapeAlamofire

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Written as for Alamofire, with its names and signatures.
private final class TokenInterceptor: WiretapeAlamofire.RequestInterceptor, @unchecked Sendable {
    func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: "t1"))
        let adapted = urlRequest
        DispatchQueue.global().async { completion(.success(adapted)) }
    }

    func retry(_ request: Request, for session: Session, dueTo error: any Error, completion: @escaping @Sendable (RetryResult) -> Void) {
        guard request.retryCount < 2, request.response?.status == 503 else { return completion(.doNotRetry) }
        completion(request.retryCount == 0 ? .retry : .retryWithDelay(0.001))
    }
}

@Suite struct SessionInitializerTests {
    @Test func argumentsOfAlamofiresInitializerAreAddedToTheConfiguration() {
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [.connectionLost()]
        configuration.redirectHandler = Redirector.doNotFollow
        let session = Session(
            configuration: configuration, startRequestsImmediately: false, interceptor: TokenInterceptor(),
            cachedResponseHandler: ResponseCacher.doNotCache, eventMonitors: [ClosureEventMonitor { _ in }])
        #expect(session.configuration.interceptors.map { "\(type(of: $0))" } == ["RetryPolicy", "TokenInterceptor"])
        #expect(!session.configuration.startsRequestsImmediately && session.configuration.eventMonitors.count == 1)
        #expect(session.configuration.redirectHandler != nil && session.configuration.cachedResponseHandler != nil)
        #expect(Session(interceptor: TokenInterceptor()).configuration.startsRequestsImmediately)
    }
}

@Suite struct CompletionSignatureTests {
    @Test func bothMethodsAreCalled() async throws {
        let transport = StubTransport { _ in .response(503) }
        let session = Session(transport: transport)
        let response = await session.request("http://a.test/", interceptor: TokenInterceptor()).validate().serializingData().response
        #expect(response.error != nil)
        #expect(transport.requests.count == 3)
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer t1" })
    }

    @Test func closuresAndTheirInterceptor() async throws {
        let transport = StubTransport { _ in .response(500) }
        let adapter = Adapter { request, _, completion in
            var request = request
            request.headers.update(name: "X-A", value: "1")
            completion(.success(request))
        }
        let retrier = Retrier { request, _, _, completion in completion(request.retryCount == 0 ? .retry : .doNotRetry) }
        let session = Session(transport: transport)
        for interceptor in [Interceptor(adapter: adapter, retrier: retrier), Interceptor(adapters: [adapter], retriers: [retrier])] {
            _ = await session.request("http://a.test/", interceptor: interceptor).validate().serializingData().response
        }
        #expect(transport.requests.count == 4)
        #expect(transport.requests.allSatisfy { $0.headers["X-A"] == "1" })
    }

    @Test func theSessionThatIsGivenSendsThroughTheSameTransport() async throws {
        let transport = StubTransport { request in .text(request.url.path) }
        let adapter = Adapter { request, session, completion in
            session.request("http://a.test/token").responseString { response in
                var request = request
                request.headers.update(name: "X-Token", value: (try? response.result.get()) ?? "")
                completion(.success(request))
            }
        }
        let session = Session(transport: transport)
        #expect(try await session.request("http://a.test/x", interceptor: adapter).serializingString().value == "/x")
        #expect(transport.requests.map(\.url.path) == ["/token", "/x"])
        #expect(transport.requests.last?.headers["X-Token"] == "/token")
    }

    @Test func anErrorOfTheAdapterIsTheRequests() async {
        struct NoToken: Error {}
        let adapter = Adapter { _, _, completion in completion(.failure(NoToken())) }
        let session = Session(transport: StubTransport { _ in .response() })
        let response = await session.request("http://a.test/", interceptor: adapter).serializingData().response
        #expect(response.error?.cause is NoToken)
    }

    @Test func aCompletionThatIsNeverCalledEndsTheRequest() async {
        let session = Session(transport: StubTransport { _ in .response(500) })
        let forgotten = await session.request("http://a.test/", interceptor: Adapter { _, _, _ in }).serializingData().response
        #expect(forgotten.error?.cause is CompletionError)
        #expect(forgotten.error?.message.contains("ended without calling its completion") == true)
        let retrier = Retrier { _, _, _, _ in }
        let failed = await session.request("http://a.test/", interceptor: retrier).validate().serializingData().response
        #expect(failed.error?.code == .validation)
    }

    @Test func onlyTheFirstCallCounts() async throws {
        let transport = StubTransport { _ in .text("x") }
        let adapter = Adapter { request, _, completion in
            completion(.success(request))
            completion(.failure(URLError(.cancelled)))
        }
        let session = Session(transport: transport)
        _ = try await session.request("http://a.test/", interceptor: adapter).serializingData().value
        #expect(transport.requests.count == 1)
    }
}

@Suite struct AuthenticatorSignatureTests {
    private struct Token: AuthenticationCredential {
        let text: String
        var requiresRefresh: Bool { false }
    }

    private struct TokenAuthenticator: WiretapeAlamofire.Authenticator {
        func apply(_ credential: Token, to urlRequest: inout URLRequest) {
            urlRequest.headers.update(.authorization(bearerToken: credential.text))
        }

        func refresh(_ credential: Token) async throws -> Token { Token(text: "new") }

        // 419, which some servers use.
        func didRequest(_ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error) -> Bool {
            response.statusCode == 419
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.headers["Authorization"] == "Bearer \(credential.text)"
        }
    }

    @Test func alamofiresAnswerToARefusalIsAsked() async throws {
        let transport = StubTransport { request in .text("x", status: request.headers["Authorization"] == "Bearer new" ? 200 : 419) }
        let interceptor = AuthenticationInterceptor(authenticator: TokenAuthenticator(), credential: Token(text: "old"))
        let session = Session(transport: transport)
        _ = try await session.request("http://a.test/", interceptor: interceptor).validate().serializingData().value
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer new"])
    }
}

@Suite struct AlamofireNamesTests {
    /// Written as in an app.
    private func pets(_ session: Session, _ headers: HTTPHeaders) -> DataRequest {
        let parameters: Parameters = ["kind": "cat", "limit": 3]
        return session.request(
            "http://a.test/pets", method: HTTPMethod.get, parameters: parameters, encoding: URLEncoding.default, headers: headers)
    }

    @Test func codeThatWasWrittenForAlamofireRuns() async throws {
        let transport = StubTransport { _ in .json(#"[1]"#) }
        let session = SessionManager(transport: transport)
        let request: Request = self.pets(session, [HTTPHeader(name: "X", value: "1")]).authenticate(user: "u", password: "p")
        let response: AFDataResponse<[Int]> = try await #require(request as? DataRequest).validate().serializingDecodable([Int].self)
            .response
        let result: AFResult<[Int]> = response.result
        #expect(try result.get() == [1])
        #expect(transport.requests.first?.url.query == "kind=cat&limit=3")
        #expect(transport.requests.first?.headers["Authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test func theBodysEncodingFails() async {
        let session = Session(transport: StubTransport { _ in .response() })
        let response = await session.request("http://a.test/", method: .post, parameters: ["a": Double.nan], encoding: JSONEncoding.default)
            .serializingData().response
        #expect(response.error?.code == .invalidRequest)
        #expect(response.error?.cause is ParameterEncodingError)
    }

    @Test func aStreamHasItsName() async throws {
        let session = Session(transport: StubTransport { _ in .text("ab") })
        let request: DataStreamRequest = session.streamRequest("http://a.test/")
        var bytes = Data()
        for try await chunk in request.bytes { bytes += chunk }
        #expect(bytes == Data("ab".utf8))
    }
}
