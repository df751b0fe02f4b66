import Testing
@testable import CassettePlayback

@Suite struct LatencyTests {
    @Test(arguments: [
        ("none", Latency.none), ("recorded", .scaled(1)), ("×2", .scaled(2)), ("x0.5", .scaled(0.5)), ("10×", .scaled(10)),
        ("1x", .scaled(1)), ("250ms", .fixed(250)), ("2s", .fixed(2000)), ("1.5s", .fixed(1500)), ("0ms", .fixed(0)),
    ])
    func aTextSaysIt(text: String, latency: Latency) throws {
        #expect(try Latency(text) == latency)
        #expect(try Latency(latency.description) == latency, "and is written so again")
    }

    @Test(arguments: [
        "", "fast", "2", "x", "×", "x-1", "-5ms", "s", "ms", "x0", "×x2", "2xx", "1e3ms", "nan×", "infs", "1.s", ".5s", "x1001", "3601s",
        "recorded x2", "None",
    ])
    func otherTextsAreNone(text: String) {
        let error = #expect(throws: LatencyError.self) { try Latency(text) }
        #expect(error?.message.hasPrefix("\"\(text)\" ") == true)
        #expect(error?.message.contains("\"recorded\"") == true, "says what to write")
    }
}
