import Foundation
import Testing
import Wiretape
import WiretapeAlamofire

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct MigrateFromAlamofireTests {
    @Test func aDecodableRequestLooksTheSame() async throws {
        let session = Answers.session()
        // snippet: alamofire-request
        let pets = try await session.request(
            "https://example.test/pets", parameters: ["kind": "cat"]
        )
        .validate(statusCode: 200..<300)
        .validate(contentType: ["application/json"])
        .serializingDecodable([Pet].self)
        .value
        // snippet end
        #expect(pets.count == 2)
    }

    @Test func dictionariesOfParametersHaveEncodings() async throws {
        let transport = StubTransport { _ in .json(Answers.pet) }
        let session = HTTPSession(transport: transport)
        // snippet: alamofire-encoding
        let parameters: Parameters = [
            "name": "초코", "tags": ["small", "asleep"], "owner": ["city": "서울"],
        ]
        let inQuery = session.request(
            "https://example.test/pets", parameters: parameters, encoding: URLEncoding.default)
        let asJSON = session.request(
            "https://example.test/pets", method: .post, parameters: parameters,
            encoding: JSONEncoding.default)
        // snippet end
        for request in [inQuery, asJSON] { _ = try await request.serializingData().value }
        #expect(transport.requests.first?.url.query?.hasPrefix("name=") == true)
    }

    @Test func interceptorsAreAsync() async throws {
        let transport = StubTransport { _ in .json(Answers.pets) }
        let session = HTTPSession(transport: transport)
        // snippet: alamofire-completion
        struct Tokens: RequestInterceptor {
            func adapt(
                _ urlRequest: URLRequest, for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                var urlRequest = urlRequest
                urlRequest.headers.update(.authorization(bearerToken: "t1"))
                completion(.success(urlRequest))
            }
        }
        let adapted = session.request("https://example.test/pets", interceptor: Tokens())
        // snippet end
        _ = try await adapted.serializingData().value
        #expect(transport.requests.last?.headers["Authorization"] == "Bearer t1")
        // snippet: alamofire-interceptor
        struct Keys: HTTPSession.RequestInterceptor {
            func adapt(
                _ request: URLRequest, for context: HTTPSession.RequestContext
            ) async throws -> URLRequest {
                var request = request
                request.headers.update(name: "X-Key", value: "demo")
                return request
            }

            func retry(
                _ context: HTTPSession.RequestContext, dueTo error: any Error
            ) async -> HTTPSession.RetryResult {
                context.retryCount < 1 ? .retryAfter(.seconds(1)) : .doNotRetry
            }
        }
        let request = session.request("https://example.test/pets", interceptor: Keys())
        // snippet end
        _ = try await request.serializingData().value
        #expect(transport.requests.last?.headers["X-Key"] == "demo")
    }

    @Test func redirectsAreDecidedByHandlers() async throws {
        let location = HTTPSession.Header(name: "Location", value: "https://example.test/pets")
        let session = HTTPSession(transport: StubTransport([.response(302, headers: [location]), .json(Answers.pets)]))
        // snippet: alamofire-redirect
        let response = await session.request("https://example.test/old")
            .redirect(using: HTTPSession.Redirector.doNotFollow)
            .serializingData()
            .response
        #expect(response.response?.status == 302)
        // snippet end
    }

    @Test func serializersAreValues() async throws {
        let session = Answers.session(.text("a,b\nc,d\n", type: "text/csv"))
        // snippet: alamofire-serializer
        struct CSVSerializer: HTTPSession.ResponseSerializer {
            func serialize(
                request: URLRequest?, response: HTTPSession.Response?, data: Data?, error: (any Error)?
            ) throws -> [[Substring]] {
                if let error { throw error }
                let text = String(decoding: data ?? Data(), as: UTF8.self)
                return text.split(separator: "\n").map { $0.split(separator: ",") }
            }
        }
        let rows = try await session.request("https://example.test/pets.csv")
            .serializing(CSVSerializer())
            .value
        // snippet end
        #expect(rows == [["a", "b"], ["c", "d"]])
    }

    @Test func curlIsAValue() throws {
        // snippet: alamofire-curl
        let request = try URLRequest(
            url: "https://example.test/pets", method: .get,
            headers: [.authorization(bearerToken: "secret")])
        print(HTTPSession.CurlDescription(request))
        // snippet end
        #expect("\(HTTPSession.CurlDescription(request))".contains("secret") == false)
    }

    @Test func trustIsAValue() throws {
        // snippet: alamofire-trust
        let trust = try HTTPSession.ServerTrustManager([
            "*.example.test": .default, "legacy.example.test": .disabled,
        ])
        var configuration = HTTPSession.Configuration()
        configuration.serverTrust = trust
        let session = HTTPSession(configuration: configuration)
        // snippet end
        #expect(trust.rules.count == 2)
        #expect(session.configuration.eventMonitors.isEmpty)
    }
}
