import Foundation
import Testing
import Wiretape

@Suite struct MeasureTests {
    @Test func aResponseHasItsTimes() async throws {
        let session = Answers.session()
        // snippet: measure
        let response = await session.request("https://example.test/pets")
            .serializingDecodable([Pet].self)
            .response

        print(response.timeline)
        print(response.timeline.latency ?? .zero, response.timeline.totalDuration ?? .zero)
        for hop in response.metrics.hops {
            print(hop.method, hop.url, hop.status ?? 0, hop.received, hop.pieces.count)
        }
        // snippet end
        #expect(response.metrics.hops.count == 1)
        #expect(response.timeline.serializationCompleted != nil)
        #expect("\(response.timeline)".hasPrefix("Timeline: { \"Latency\": "))
    }

    @Test func aReplayHasTheTimesOfItsRecording() async throws {
        let file = Repository.path("Cassettes/stream.json")
        // snippet: measure-recorded
        let session = HTTPSession(cassette: try Cassette(file))
        let response = await session.request("http://127.0.0.1:42427/stream")
            .serializingData()
            .response
        let recorded = response.metrics.hops.first?.reported
        #expect(recorded?.source == .recording)
        #expect(recorded?.timing.total == 83.322)
        // snippet end
    }

    @Test func eventsAreReported() async throws {
        let lines = AsyncStream<String>.makeStream()
        let write: @Sendable (String) -> Void = { lines.continuation.yield($0) }
        // snippet: measure-events
        var configuration = HTTPSession.Configuration()
        configuration.eventMonitors = [
            HTTPSession.LoggingEventMonitor { write($0) },
            HTTPSession.ClosureEventMonitor { event in
                if case .finished(let error) = event.kind {
                    write("over: \(error.map { "\($0)" } ?? "no error")")
                }
            },
        ]
        // snippet end
        let session = Answers.session(configuration: configuration)
        _ = try await session.request("https://example.test/pets").serializingData().value
        var seen: [String] = []
        for await line in lines.stream {
            seen.append(line)
            if line == "over: no error" { break }
        }
        #expect(seen.count > 1)
    }
}
