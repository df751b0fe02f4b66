import Foundation
import Testing
import Wiretape
import WiretapeAlamofire

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct AlamofireHandlersTests {
    private static let url = "https://pets.test/pets"
    private let queue = DispatchQueue(label: "test")

    private func session(_ response: StubResponse, _ configuration: HTTPSession.Configuration = .init()) -> Session {
        Session(configuration: configuration, transport: StubTransport { _ in response })
    }

    /// The value that a body passes to its handler.
    private func value<Value: Sendable>(_ body: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
        await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } }
    }

    // MARK: Streams

    @Test func aStreamGivesItsChunksAndItsEnd() async throws {
        let response = StubResponse(status: 200, chunks: [.init(Data("ab".utf8)), .init(Data("c".utf8))])
        var texts: [String] = []
        var ends = 0
        for await stream in self.session(response).streamRequest(Self.url).streamTask().streamingStrings() {
            switch stream.event {
            case .stream(.success(let text)): texts.append(text)
            case .complete(let completion):
                ends += 1
                #expect(completion.error == nil && completion.response?.statusCode == 200)
            }
        }
        #expect(texts == ["ab", "c"] && ends == 1)
    }

    @Test func anErrorOfAHandlerEndsTheStream() async throws {
        struct Enough: Error {}
        let response = StubResponse(status: 200, chunks: [.init(Data("ab".utf8)), .init(Data("c".utf8))])
        let error: AFError? = await self.value { done in
            self.session(response).streamRequest(Self.url).responseStream(on: self.queue) { stream in
                if case .complete(let completion) = stream.event { return done(completion.error) }
                throw Enough()
            }
        }
        #expect(error?.underlyingError is Enough)
    }

    @Test(arguments: [true, false]) func aChunkThatCannotBeDecodedIsAnEvent(cancels: Bool) async throws {
        struct Pet: Decodable, Sendable { var id: Int }
        let response = StubResponse(status: 200, chunks: [.init(Data("no".utf8)), .init(Data(#"{"id":1}"#.utf8))])
        let request = self.session(response).streamRequest(Self.url, automaticallyCancelOnStreamError: cancels)
        var ids: [Int?] = []
        var end: AFError?
        for await stream in request.streamTask().streamingDecodables(Pet.self) {
            if let result = stream.result { ids.append(try? result.get().id) }
            end = stream.completion?.error ?? end
        }
        #expect(ids == (cancels ? [nil] : [nil, 1]))
        #expect(end?.isExplicitlyCancelledError == (cancels ? true : nil))
    }

    // MARK: Responses

    @Test func validationsReturnResults() async throws {
        struct Bad: Error {}
        let session = self.session(.json("{}", status: 404))
        let refused = await session.request(Self.url).validate { _, response, _ in
            response.statusCode == 404 ? .failure(Bad()) : .success(())
        }.serializingData().response
        #expect(refused.error?.underlyingError is Bad)
        let accepted = await session.request(Self.url).validate { _, _, data in .success(()) }.serializingString().response
        #expect(accepted.value == "{}" && accepted.response?.statusCode == 404)
        let standard = await session.request(Self.url).validate().serializingData().response
        #expect(standard.error?.isResponseValidationError == true && standard.error?.responseCode == 404)
    }

    @Test func handlersOfTheHeadDecide() async throws {
        let session = self.session(.json("{}"))
        let status: Int = await self.value { done in
            session.request(Self.url).onHTTPResponse(on: self.queue) { done($0.statusCode) }.response { _ in }
        }
        #expect(status == 200)
        let waiting = self.session(StubResponse(status: 200, ending: .hang))
        let cancelled = await waiting.request(Self.url).onHTTPResponse(on: self.queue) { _, completion in completion(.cancel) }
            .serializingData().response
        #expect(cancelled.error?.isExplicitlyCancelledError == true)
        let asynchronous = await waiting.request(Self.url).onHTTPResponse { (_: HTTPURLResponse) async in .cancel }.serializingData()
            .response
        #expect(asynchronous.error?.isExplicitlyCancelledError == true)
    }

    @Test func eachAttemptHasItsRequestAndResponse() async throws {
        let session = Session(transport: StubTransport([.failure(.reset), .json("{}")]))
        let request = session.request(
            Self.url, interceptor: RetryPolicy(retryLimit: 1, exponentialBackoffBase: 2, exponentialBackoffScale: 0))
        let (commands, responses) = (request.cURLDescriptions(), request.httpResponses())
        _ = await request.serializingData().response
        var lines: [String] = []
        for await command in commands { lines.append(command) }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("curl") && $0.contains(Self.url) })
        var statuses: [Int] = []
        for await response in responses { statuses.append(response.statusCode) }
        #expect(statuses == [200])
    }

    @Test func credentialsAreSentAtOnce() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let session = Session(transport: transport)
        let credential = URLCredential(user: "user", password: "secret", persistence: .none)
        _ = await session.request(Self.url).authenticate(with: credential).serializingData().response
        #expect(transport.requests[0].headers["Authorization"] == "Basic dXNlcjpzZWNyZXQ=")
    }

    @Test func allRequestsAreCancelledBeforeTheCall() async throws {
        let session = self.session(.hang)
        let request = session.request(Self.url).response { _ in }
        await withCheckedContinuation { continuation in
            session.cancelAllRequests(completingOn: self.queue) { continuation.resume() }
        }
        #expect(request.isCancelled)
    }

    // MARK: Files

    @Test func aMissingFileFailsItsUpload() async throws {
        let file: URL? = nil
        let response = await self.session(.json("{}")).upload(file, to: Self.url).serializingData().response
        #expect(response.error?.message.contains("there is no file to upload") == true)
    }

    @Test func aDownloadThatHasNothingHasNoResumeData() async throws {
        let session = self.session(.hang)
        let data: Data?? = await self.value { done in session.download(Self.url).cancel { done($0) } }
        #expect(data == .some(nil))
        let resumed = await session.download(resumingWith: Data()).serializingURL().response
        #expect(resumed.error?.message.contains("no resume data of a Wiretape download") == true)
    }

    @Test func partsAreAppendedWithoutTry() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let response = await Session(transport: transport).upload(
            multipartFormData: { form in
                form.append(Data("one".utf8), withName: "one")
                form.append(Data("two".utf8), withName: "two", fileName: "two.txt", mimeType: "text/plain")
            }, to: Self.url
        ).serializingData().response
        #expect(response.error == nil)
        guard case .data(let body) = transport.requests[0].body else {
            Issue.record("no body")
            return
        }
        #expect(String(decoding: body, as: UTF8.self).contains("name=\"two\"; filename=\"two.txt\""))
    }

    // MARK: Policies

    @Test func redirectsAreChanged() async throws {
        let moved = StubResponse.response(302, headers: ["Location": "/new"])
        let transport = StubTransport { $0.url.path == "/new" ? .text("new") : moved }
        let session = Session(
            transport: transport,
            redirectHandler: Redirector(
                behavior: .modify { request, response in
                    var request = request
                    request.setValue("\(response.statusCode)", forHTTPHeaderField: "X-Was")
                    return request
                }))
        #expect(await session.request("https://pets.test/old").serializingString().response.value == "new")
        #expect(transport.requests.last?.headers["X-Was"] == "302")
        let stays = Session(transport: StubTransport { _ in moved }, redirectHandler: Redirector(behavior: .doNotFollow))
        #expect(await stays.request("https://pets.test/old").serializingData().response.response?.statusCode == 302)
    }

    @Test func aCredentialIsRefreshedByACompletion() async throws {
        struct Token: AuthenticationCredential {
            var text: String
            var requiresRefresh: Bool { self.text == "old" }
        }
        struct Tokens: WiretapeAlamofire.Authenticator {
            func apply(_ credential: Token, to request: inout URLRequest) {
                request.headers.update(.authorization(bearerToken: credential.text))
            }

            func refresh(_ credential: Token, for session: Session, completion: @escaping @Sendable (Result<Token, any Error>) -> Void) {
                completion(.success(Token(text: "new")))
            }

            func didRequest(_ request: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error) -> Bool {
                false
            }
        }
        let transport = StubTransport { _ in .json("{}") }
        let interceptor = AuthenticationInterceptor(authenticator: Tokens(), credential: Token(text: "old"))
        _ = await Session(transport: transport).request(Self.url, interceptor: interceptor).serializingData().response
        #expect(transport.requests[0].headers["Authorization"] == "Bearer new")
    }

    @Test func aSerializerGetsFoundationsResponse() async throws {
        struct Status: WiretapeAlamofire.ResponseSerializer {
            func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> String {
                let text = try StringResponseSerializer().serialize(request: request, response: response, data: data, error: error)
                return "\(response?.statusCode ?? 0) \(text)"
            }
        }
        let response = await self.session(.text("hi", status: 201)).request(Self.url).serializing(Status()).response
        #expect(response.value == "201 hi")
    }

    @Test func bodiesAreCompressed() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let session = Session(transport: transport)
        let text = String(repeating: "pets ", count: 1000)
        func send(_ headers: HTTPHeaders? = nil, _ compressor: DeflateRequestCompressor) async -> AFError? {
            await session.upload(Data(text.utf8), to: Self.url, headers: headers, interceptor: compressor).serializingData().response.error
        }
        #expect(await send(nil, .deflateCompressor) == nil)
        let sent = try #require(transport.requests.last)
        #expect(sent.headers["Content-Encoding"] == "deflate" && (sent.body.size ?? .max) < 200)
        guard case .data(let body) = sent.body else {
            Issue.record("no body")
            return
        }
        // The header of zlib (RFC 1950, 2.2).
        #expect(body.first == 0x78)
        #expect(
            await send(["Content-Encoding": "br"], .deflateCompressor)?.underlyingError is DeflateRequestCompressor.DuplicateHeaderError)
        #expect(await send(["Content-Encoding": "br"], .deflateCompressor(duplicateHeaderBehavior: .skip)) == nil)
        #expect(transport.requests.last?.headers["Content-Encoding"] == "br")
        #expect(await send(["Content-Encoding": "br"], .deflateCompressor(duplicateHeaderBehavior: .replace)) == nil)
        #expect(transport.requests.last?.headers["Content-Encoding"] == "deflate")
        #expect(await send(nil, DeflateRequestCompressor { $0.count > 100_000 }) == nil)
        #expect(transport.requests.last?.headers["Content-Encoding"] == nil)
    }

    @Test func aConfigurationOfURLSessionIsTaken() throws {
        let system = URLSessionConfiguration.af.default
        system.headers.update(name: "X-Key", value: "1")
        system.timeoutIntervalForRequest = 7
        let session = Session(configuration: system, startRequestsImmediately: false)
        #expect(session.configuration.headers["X-Key"] == "1" && session.configuration.headers["User-Agent"] != nil)
        #expect(session.configuration.timeouts.idle == .seconds(7) && !session.configuration.startsRequestsImmediately)
    }

    @Test func evaluatorsArePolicies() {
        let manager = ServerTrustManager(evaluators: ["pets.test": PinnedCertificatesTrustEvaluator(certificates: [Data([1])])])
        guard case .pinnedCertificates(let pins, true, true)? = manager.trust(forHost: "pets.test") else {
            Issue.record("not pinned")
            return
        }
        #expect(pins == [[1]] && manager.trust(forHost: "other.test") == nil && manager.allHostsMustBeEvaluated)
    }

    @Test func reachabilityAnswersOnce() async {
        let manager = NetworkReachabilityManager(host: "pets.test")
        let status: NetworkReachabilityManager.NetworkReachabilityStatus = await self.value { done in
            manager?.startListening(onQueue: self.queue) { done($0) }
        }
        #expect(status == manager?.status)
    }
}
