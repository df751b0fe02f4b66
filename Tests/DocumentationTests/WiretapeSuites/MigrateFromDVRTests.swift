import Foundation
import Testing
import Wiretape
import WiretapeTesting
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct MigrateFromDVRTests {
    @Test func aConfigurationTakesThePlaceOfTheSession() async throws {
        let file = Repository.path("Tests/DocumentationTests/Cassettes/weather.json")
        let url = try #require(URL(string: "https://example.test/weather"))
        // snippet: dvr-session
        let cassette = try Cassette(file)
        let session = URLSession(configuration: .replaying(cassette))
        let (data, _) = try await session.data(from: url)
        // snippet end
        #expect(data == Data("rain".utf8))
    }
}

// snippet: dvr-xctest
nonisolated final class WeatherXCTests: XCTestCase {
    func testWeather() async throws {
        try await withCassette("weather", mode: .once) {
            let session = HTTPSession()
            let weather = session.request("https://example.test/weather")
            let text = try await weather.serializingString().value
            XCTAssertEqual(text, "rain")
        }
    }
}
// snippet end
