import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet: login-credential
struct Token: Codable, Sendable, HTTPSession.AuthenticationCredential {
    var access: String
    var refresh: String
    var expiry: Date

    /// Refreshed before it is too late.
    var requiresRefresh: Bool { self.expiry < Date().addingTimeInterval(60) }
}
// snippet end

// snippet: login-authenticator
struct ShopAuthenticator: HTTPSession.Authenticator {
    var session: HTTPSession

    func apply(_ credential: Token, to request: inout URLRequest) {
        request.headers.update(.authorization(bearerToken: credential.access))
    }

    func refresh(_ credential: Token) async throws -> Token {
        try await self.session.request(
            "https://example.test/refresh", method: .post,
            parameters: ["refresh": credential.refresh], encoder: .json
        )
        .validate()
        .serializingDecodable(Token.self)
        .value
    }
}
// snippet end

@Suite struct LogInAndRefreshATokenTests {
    @Test func basicCredentialsGoOutAtOnce() async throws {
        let transport = StubTransport { _ in .json(Answers.pet) }
        let session = HTTPSession(transport: transport)
        // snippet: login-basic
        let pet = try await session.request("https://example.test/pets/3")
            .authenticate(username: "bori", password: "초코-2026")
            .validate()
            .serializingDecodable(Pet.self)
            .value
        // snippet end
        #expect(pet.id == 3)
        #expect(transport.requests.first?.headers["Authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test func aRefusedTokenIsRefreshedOnce() async throws {
        let transport = StubTransport { request in
            if request.url.path == "/refresh" { return .json(#"{"access": "new", "refresh": "r2", "expiry": 99999999999}"#) }
            return request.headers["Authorization"] == "Bearer new" ? .json(Answers.pets) : .response(401)
        }
        let plain = HTTPSession(transport: transport)
        let token = Token(access: "old", refresh: "r1", expiry: .distantFuture)
        // snippet: login-use
        let authentication = HTTPSession.AuthenticationInterceptor(
            authenticator: ShopAuthenticator(session: plain), credential: token)
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [authentication]
        let session = HTTPSession(configuration: configuration, transport: transport)

        async let first = session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .value
        async let second = session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .value
        // snippet end
        #expect(try await first == second)
        #expect(transport.requests.filter { $0.url.path == "/refresh" }.count == 1)
    }
}
