import Foundation
import Testing
import Wiretape

@Suite struct FollowAStreamOfEventsTests {
    @Test func eventsAreASequence() async throws {
        let session = Answers.session(
            .text("event: arrived\ndata: Miso\n\nevent: closed\ndata:\n\n", type: "text/event-stream"))
        var seen: [String] = []
        // snippet: stream-events
        let stream = session.stream("https://example.test/events").validate()
        for try await event in stream.events {
            if event.event == "closed" { break }
            seen.append("\(event.event): \(event.data)")
        }
        // snippet end
        #expect(seen == ["arrived: Miso"])
    }

    @Test func linesAreASequence() async throws {
        let session = Answers.session(.text("one\r\ntwo\nthree"))
        var seen: [String] = []
        // snippet: stream-lines
        for try await line in session.stream("https://example.test/log").lines {
            seen.append(line)
        }
        // snippet end
        #expect(seen == ["one", "two", "three"])
    }

    @Test func valuesAreASequence() async throws {
        let session = Answers.session(
            .text("{\"id\": 1, \"name\": \"Miso\"}\n{\"id\": 2, \"name\": \"보리\"}\n", type: "application/x-ndjson"))
        var pets: [Pet] = []
        // snippet: stream-values
        let stream = session.stream("https://example.test/pets.ndjson")
        for try await pet in stream.decoding(Pet.self) {
            pets.append(pet)
        }
        // snippet end
        #expect(pets.map(\.id) == [1, 2])
    }

    @Test func handlersAreCalled() async throws {
        let session = Answers.session(.text("one\ntwo\n"))
        let words = AsyncStream<String>.makeStream()
        let show: @Sendable (String) -> Void = { words.continuation.yield($0) }
        // snippet: stream-handlers
        session.stream("https://example.test/log")
            .responseStreamLines(on: .global()) { event in
                switch event {
                case .value(let line): show(line)
                case .complete(let completion): show(completion.error?.message ?? "whole")
                }
            }
        // snippet end
        var seen: [String] = []
        for await word in words.stream.prefix(3) { seen.append(word) }
        #expect(seen == ["one", "two", "whole"])
    }

    @Test func aReplayHasTheChunksOfItsRecording() async throws {
        let file = Repository.path("Cassettes/stream.json")
        // snippet: stream-replay
        var settings = Cassette.Settings()
        settings.latency = .scaled(1)
        let cassette = try Cassette(file, settings: settings)
        let session = HTTPSession(transport: ReplayTransport(cassette, clock: ImmediateClock()))

        var sizes: [Int] = []
        for try await chunk in session.stream("http://127.0.0.1:42427/stream").bytes {
            sizes.append(chunk.count)
        }
        #expect(sizes == [15, 15, 15, 15, 15])
        // snippet end
    }
}
