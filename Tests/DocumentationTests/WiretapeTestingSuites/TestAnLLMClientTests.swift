import Foundation
import Testing
import Wiretape
import WiretapeTesting

// snippet: llm-tests
@Suite struct ChatTests {
    private let question = "What is the weather in Busan?"

    /// Waits of the policy take no time.
    private func chat() -> Chat {
        var configuration = HTTPSession.Configuration()
        configuration.clock = .immediate
        configuration.interceptors = [
            HTTPSession.RetryPolicy(
                retryLimit: 2, retryableMethods: [.post],
                retryableStatusCodes: [429, 500, 502, 503, 529])
        ]
        return Chat(session: HTTPSession(configuration: configuration))
    }

    @Test(.cassette("llm/weather")) func callsATool() async throws {
        let words = try await self.chat().ask(
            self.question,
            tools: [
                "weather": { arguments in
                    arguments == #"{"city": "Busan"}"# ? "rain" : "unknown"
                }
            ])
        #expect(words == "It rains in Busan.")
    }

    @Test(
        .cassette(
            "llm/weather", unused: .allow,
            modify: [
                .fault(.status(429, retryAfter: .seconds(20)), first: 1),
                .fault(.status(529), .nth([2])),
            ]))
    func waitsWhenTheModelIsBusy() async throws {
        #expect(try await self.chat().ask(self.question) == "")
    }

    @Test(
        .cassette(
            "llm/weather", unused: .allow,
            modify: [.fault(.truncate(after: .events(2)), name: "cut")]))
    func takesNoHalfAnAnswer() async {
        await #expect(throws: (any Error).self) {
            try await self.chat().ask(self.question)
        }
    }
}
// snippet end
