import Foundation
import Seeds
import Testing
import Wiretape
import WiretapeTesting

@Suite(.cassettes("policies", ignoring: [.host, .port])) struct PolicyTests {
    @Test func retriesUntilTheServerIsThere() async throws {
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [
            HTTPSession.RetryPolicy(backoff: HTTPSession.RetryPolicy.ExponentialBackoff(scale: .milliseconds(10)))
        ]
        let url = try Origin.url.appendingPathComponent("flaky/policy")
        let response = await HTTPSession(configuration: configuration).request(url).validate().serializingJSON().response
        #expect(response.error == nil)
        #expect(response.attempts.map(\.response?.status) == [503, 503, 200])
        #expect(response.metrics.attempts == 3)
    }

    @Test func keyIsSentWhereItIsAskedFor() async throws {
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [KeyInterceptor()]
        let response = await HTTPSession(configuration: configuration).request(try Origin.url.appendingPathComponent("key"))
            .validate().serializingJSON().response
        #expect(response.attempts.map(\.response?.status) == [403, 200])
    }

    /// Ten requests with a token that has expired: one of them asks for a new one.
    @Test func tokenIsRefreshedOnceForAll() async throws {
        let url = try Origin.url
        let authentication = HTTPSession.AuthenticationInterceptor(
            authenticator: MemberAuthenticator(url, session: HTTPSession()),
            credential: MemberToken(access_token: UUID().uuidString, expires: 0))
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [authentication]
        let session = HTTPSession(configuration: configuration)
        struct Member: Decodable, Sendable { var name: String }
        let first = try await session.get(url.appendingPathComponent("me"), as: Member.self)
        #expect(first.name == "보리 집사")
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await session.get(url.appendingPathComponent("me"), as: Member.self).name } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(names == ["보리 집사"])
    }

    @Test func timesOfARequest() async throws {
        let response = await HTTPSession().request(try Origin.url.appendingPathComponent("slow")).serializingString().response
        #expect(response.value == "one\ntwo\nthree\n")
        let timeline = response.timeline
        let latency = try #require(timeline.latency)
        let request = try #require(timeline.requestDuration)
        let total = try #require(timeline.totalDuration)
        #expect(latency <= request && request <= total)
        let hop = try #require(response.metrics.hops.first)
        #expect(hop.received == 14 && hop.status == 200)
        // A replay also has the times of the recording.
        if case .replayed = response.source { #expect(try #require(hop.reported).timing.total ?? 0 > 90) }
    }

    @Test func linesAsTheyCome() async throws {
        var lines: [String] = []
        for try await line in HTTPSession().stream(try Origin.url.appendingPathComponent("slow")).validate().lines { lines.append(line) }
        #expect(lines == ["one", "two", "three"])
    }
}
