import Foundation
import Testing
import Wiretape

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
        let session = Session(transport: transport)
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
        let session = Session(transport: transport)
        // snippet: alamofire-interceptor
        struct Keys: RequestInterceptor {
            func adapt(
                _ request: URLRequest, for context: RequestContext
            ) async throws -> URLRequest {
                var request = request
                request.headers.update(name: "X-Key", value: "demo")
                return request
            }

            func retry(
                _ context: RequestContext, dueTo error: any Error
            ) async -> RetryResult {
                context.retryCount < 1 ? .retryAfter(.seconds(1)) : .doNotRetry
            }
        }
        let request = session.request("https://example.test/pets", interceptor: Keys())
        // snippet end
        _ = try await request.serializingData().value
        #expect(transport.requests.first?.headers["X-Key"] == "demo")
    }

    @Test func redirectsAreDecidedByHandlers() async throws {
        let location = HTTPHeader(name: "Location", value: "https://example.test/pets")
        let session = Session(transport: StubTransport([.response(302, headers: [location]), .json(Answers.pets)]))
        // snippet: alamofire-redirect
        let response = await session.request("https://example.test/old")
            .redirect(using: Redirector.doNotFollow)
            .serializingData()
            .response
        #expect(response.response?.status == 302)
        // snippet end
    }

    @Test func serializersAreValues() async throws {
        let session = Answers.session(.text("a,b\nc,d\n", type: "text/csv"))
        // snippet: alamofire-serializer
        struct CSVSerializer: ResponseSerializer {
            func serialize(
                request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?
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
        print(CurlDescription(request))
        // snippet end
        #expect("\(CurlDescription(request))".contains("secret") == false)
    }

    @Test func trustIsAValue() throws {
        // snippet: alamofire-trust
        let trust = try ServerTrustManager([
            "*.example.test": .default, "legacy.example.test": .disabled,
        ])
        var configuration = Session.Configuration()
        configuration.serverTrust = trust
        let session = Session(configuration: configuration)
        // snippet end
        #expect(trust.rules.count == 2)
        #expect(session.configuration.eventMonitors.isEmpty)
    }
}
