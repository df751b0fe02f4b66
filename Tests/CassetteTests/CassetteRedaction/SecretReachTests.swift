@testable import CassetteRedaction
import Testing

@Suite struct SecretReachTests {
    @Test(arguments: [
        ("abc", true, "place"), ("password", true, "place"), ("hunter", true, "word"), ("12345678", true, "word"),
        ("hunter2x", true, "anywhere"),
        ("correct horse battery", true, "anywhere"), ("accepted", false, "place"), ("1732160000", false, "place"),
        ("2026-11-21", false, "place"),
        ("a3f9c2d1e8", false, "anywhere"), ("Europe/Berlin", false, "place"), ("QmFzZTY0VGV4dEhlcmU", false, "anywhere"),
    ])
    func wordsStayWhereTheyAre(text: String, isSure: Bool, reach: String) {
        #expect("\(SecretReach(Array(text.utf8), isSure: isSure))" == reach)
    }
}
