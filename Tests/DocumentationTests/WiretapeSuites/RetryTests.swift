import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RetryTests {
    @Test func aPolicySendsAgain() async throws {
        let transport = StubTransport([.response(503), .response(503), .json(Answers.pets)])
        // snippet: retry
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [HTTPSession.RetryPolicy(retryLimit: 3)]
        configuration.clock = ImmediateClock()
        configuration.timeouts = HTTPSession.Timeouts(idle: nil)
        let session = HTTPSession(configuration: configuration, transport: transport)

        let response = await session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .response
        #expect(response.value?.count == 2)
        #expect(response.attempts.map(\.response?.status) == [503, 503, 200])
        // snippet end
    }

    @Test func aClosureDecides() async throws {
        let session = HTTPSession(transport: StubTransport([.response(409), .json(Answers.pets)]))
        // snippet: retry-own
        let conflicts = HTTPSession.Interceptor.retrying { context, _ in
            context.response?.status == 409 && context.retryCount < 2 ? .retry : .doNotRetry
        }
        let pets = try await session.request(
            "https://example.test/pets", interceptor: conflicts
        )
        .validate()
        .serializingDecodable([Pet].self)
        .value
        // snippet end
        #expect(pets.count == 2)
    }

    @Test func timesAreTheSameForTheSameSeed() {
        // snippet: retry-seed
        let backoff = HTTPSession.RetryPolicy.ExponentialBackoff(base: 2, scale: .milliseconds(500), seed: 7)
        let policy = HTTPSession.RetryPolicy(backoff: backoff)
        let second = policy.backoff.delay(retryCount: 1)
        #expect(second > .milliseconds(500) && second <= .seconds(1))
        // snippet end
    }

    @Test func anAdapterSeesEachAttempt() async throws {
        let transport = StubTransport([.response(503), .json(Answers.pets)])
        var configuration = HTTPSession.Configuration()
        configuration.clock = ImmediateClock()
        configuration.timeouts = HTTPSession.Timeouts(idle: nil)
        let session = HTTPSession(configuration: configuration, transport: transport)
        // snippet: retry-adapter
        let counting = HTTPSession.Interceptor.adapting { request, context in
            var request = request
            request.headers.update(name: "X-Attempt", value: "\(context.retryCount + 1)")
            return request
        }
        let interceptor = HTTPSession.Interceptor([counting, HTTPSession.RetryPolicy()])
        let request = session.request(
            "https://example.test/pets", interceptor: interceptor
        ).validate()
        // snippet end
        _ = try await request.serializingData().value
        #expect(transport.requests.map { $0.headers["X-Attempt"] } == ["1", "2"])
    }
}
