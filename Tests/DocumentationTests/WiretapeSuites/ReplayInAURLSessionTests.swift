import Foundation
import TapeTestSupport
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ReplayInAURLSessionTests {
    // snippet: urlsession-client
    struct Weather: Sendable {
        var session: URLSession = .shared

        func today() async throws -> String {
            let url = URL(string: "https://example.test/weather")!
            let (data, _) = try await self.session.data(from: url)
            return String(decoding: data, as: UTF8.self)
        }
    }
    // snippet end

    @Test func aConfigurationReplays() async throws {
        let file = Repository.path("Tests/DocumentationTests/Cassettes/weather.json")
        // snippet: urlsession
        let cassette = try Cassette(file)
        let weather = Weather(session: URLSession(configuration: .replaying(cassette)))
        #expect(try await weather.today() == "rain")
        // snippet end
    }

    @Test func aConfigurationRecords() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("weather.json")
        let network = StubTransport { _ in .text("rain") }
        // snippet: urlsession-record
        let cassette = try Cassette(file, mode: .all)
        let recording = RecordingTransport(cassette, around: network)
        let weather = Weather(session: URLSession(configuration: .answered(by: recording)))
        _ = try await weather.today()
        try cassette.close()
        // snippet end
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"rain\""))
    }

    @Test func aConfigurationIsAnsweredByAnyTransport() async throws {
        // snippet: urlsession-stub
        let stub = StubTransport { _ in .text("sun") }
        let weather = Weather(session: URLSession(configuration: .answered(by: stub)))
        #expect(try await weather.today() == "sun")
        // snippet end
    }

    @Test func aMissIsAnError() async throws {
        let file = Repository.path("Tests/DocumentationTests/Cassettes/weather.json")
        let session = URLSession(configuration: .replaying(try Cassette(file)))
        let url = try #require(URL(string: "https://example.test/tides"))
        // snippet: urlsession-miss
        do {
            _ = try await session.data(from: url)
        } catch {
            let failure = try #require(TransportFailure(error))
            if case .noMatch(let report) = failure.kind { print(report) }
        }
        // snippet end
    }

    @Test func theExactHeadIsKept() async throws {
        let file = Repository.path("Tests/DocumentationTests/Cassettes/weather.json")
        let session = URLSession(configuration: .replaying(try Cassette(file)))
        let url = try #require(URL(string: "https://example.test/weather"))
        // snippet: urlsession-head
        let (_, response) = try await session.data(from: url)
        let head = (response as? HTTPURLResponse)?.exactHead
        #expect(head?.headers.values(for: "Vary") == ["Accept", "Accept-Language"])
        // snippet end
    }
}
