import Foundation
import Testing
import Wiretape
import WiretapeTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct MigrateFromReplayTests {
    // snippet: replay-test
    @Test(.cassette("weather")) func fetchesTheWeather() async throws {
        let session = HTTPSession()
        let weather = try await session.request("https://example.test/weather")
            .validate()
            .serializingString()
            .value
        #expect(weather == "rain")
    }
    // snippet end

    // snippet: replay-settings
    static var methodAndPath: Cassette.Settings {
        var settings = Cassette.Settings()
        settings.match = ["method", "path"]
        settings.redact = ["header:x-device", "query:device"]
        return settings
    }

    @Test(.cassette("weather", settings: Self.methodAndPath))
    func comparesMethodAndPath() async throws {
        let session = HTTPSession()
        let response = await session.request("https://other.test/weather?now=1")
            .serializingString()
            .response
        #expect(response.value == "rain")
    }
    // snippet end

    // snippet: replay-urlsession
    @Test(.cassette("weather")) func fetchesTheWeatherWithURLSession() async throws {
        let cassette = try #require(Cassette.current)
        let session = URLSession(configuration: .recording(cassette))
        let url = try #require(URL(string: "https://example.test/weather"))
        let (data, _) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "rain")
    }
    // snippet end

    // snippet: replay-stub
    @Test func greets() async throws {
        let session = HTTPSession(
            transport: StubTransport(rules: [
                StubTransport.Rule(method: "GET", path: "/greeting") { _ in .text("Hello!") }
            ]))
        let greeting = session.request("https://example.test/greeting").serializingString()
        #expect(try await greeting.value == "Hello!")
    }
    // snippet end
}
