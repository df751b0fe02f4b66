import Testing

@testable import TapeCore

struct BodyFacetsFitTests {
    /// Recorded, live, header lines, whether they fit.
    @Test(arguments: [
        (#"{"t":"{{jwt:1}}","n":1}"#, #"{"t":"abc","n":1}"#, "application/json", true),
        (#"{"t":"{{jwt:1}}","n":1}"#, #"{"t":"abc","n":2}"#, "application/json", false),
        (#"{"t":"{{jwt:1}}","n":1}"#, #"{"t":"abc","n":"1"}"#, "application/json", false),
        (#"{"t":"{{jwt:1}}"}"#, #"{"t":""}"#, "application/json", false), (#"{"t":"{{jwt:1}}"}"#, #"{"t":12}"#, "application/json", true),
        (#"{"t":"x-{{jwt:1}}"}"#, #"{"t":"x-9"}"#, "application/json", true),
        (#"{"t":"x-{{jwt:1}}"}"#, #"{"t":"y-9"}"#, "application/json", false),
        (#"{"t":"{{jwt:1}}"}"#, #"{"t":"a","u":1}"#, "application/json", false),
        ("a={{x:1}}&a={{x:2}}", "a=1&a=2", "application/x-www-form-urlencoded", true),
        ("a={{x:1}}", "b=1", "application/x-www-form-urlencoded", false), ("pass {{x:1}}.", "pass word.", "text/plain", true),
        ("pass {{x:1}}.", "pass word", "text/plain", false), ("a{{x:1}}", "ab", "application/octet-stream", true),
        ("ab", "ac", "text/plain", false),
    ]) func aMarkStandsForTextOfTheLiveBody(recorded: String, live: String, type: String, expected: Bool) {
        let lines = ["Content-Type: \(type)"]
        #expect(MatchFixture.live(recorded, lines).fits(live: MatchFixture.live(live, lines)) == expected)
    }

    @Test func equalOnesFit() {
        let facets = MatchFixture.live("{}", MatchFixture.json)
        #expect(facets.fits(live: facets))
        #expect(!facets.fits(live: .none))
    }

    @Test func partsFitToo() {
        func part(_ data: String, filename: String = "a") -> BodyFacets {
            let head = ["Content-Disposition: form-data; name=\"p\"; filename=\"\(filename)\""]
            return MatchFixture.live(MatchFixture.multipart("0123456789abcdef", [(head, data)]), MatchFixture.parts("0123456789abcdef"))
        }
        #expect(part("x{{password:1}}").fits(live: part("xyz")))
        #expect(!part("x{{password:1}}").fits(live: part("xyz", filename: "b")))
        #expect(part("x", filename: "{{env-A:1}}").fits(live: part("x", filename: "b")))
    }

    @Test func aValueThatWasNotKeptWholeDoesNotFit() {
        let long = String(repeating: "x", count: BodyFacets.valueLimit)
        let recorded = MatchFixture.live(long + "{{a:1}}", MatchFixture.text)
        #expect(!recorded.fits(live: MatchFixture.live(long + "y", MatchFixture.text)))
    }
}
