import Testing

@testable import CassettePlayback

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

    /// Recorded and live, of a type, around a text longer than what is kept to be shown.
    @Test(arguments: [
        ("text/plain", "X{{a:1}}", "Xy", "yX"), ("application/json", #"{"a":"X{{a:1}}"}"#, #"{"a":"Xyz"}"#, #"{"a":"yX"}"#),
        ("application/x-www-form-urlencoded", "a=X{{a:1}}&b=1", "b=1&a=Xy", "b=2&a=Xy"),
        ("application/octet-stream", "X{{a:1}}X", "XyX", "Xy"),
        (
            "multipart/form-data; boundary=0123456789",
            "--0123456789\r\nContent-Disposition: form-data; name=a\r\n\r\nX{{a:1}}\r\n--0123456789--\r\n",
            "--0123456789\r\nContent-Disposition: form-data; name=a\r\n\r\nXy\r\n--0123456789--\r\n",
            "--0123456789\r\nContent-Disposition: form-data; name=a\r\n\r\nyX\r\n--0123456789--\r\n"
        ),
    ]) func longValuesFitWhereTheyAreKeptWhole(type: String, recorded: String, live: String, other: String) throws {
        let rules = MatchRules.standard.keepingWholeValues()
        func facets(_ text: String) -> BodyFacets {
            let long = text.replacing("X", with: String(repeating: "x", count: BodyFacets.valueLimit + 1000))
            return MatchFixture.live(long, ["Content-Type: \(type)"], rules)
        }
        #expect(facets(recorded).fits(live: facets(live)))
        #expect(!facets(recorded).fits(live: facets(other)))
    }

    @Test func aMarkFarBehindFitsToo() {
        let rules = MatchRules.standard.keepingWholeValues()
        let values = (0..<BodyFacets.facetLimit + 10).map { "\($0)" }.joined(separator: ",")
        let recorded = MatchFixture.live("[\(values),\"{{a:1}}\"]", MatchFixture.json, rules)
        #expect(recorded.fits(live: MatchFixture.live("[\(values),\"x\"]", MatchFixture.json, rules)))
        #expect(!recorded.fits(live: MatchFixture.live("[\(values),\"\"]", MatchFixture.json, rules)))
    }

    @Test func aValueThatWasNotKeptWholeDoesNotFit() {
        let long = String(repeating: "x", count: BodyFacets.valueLimit)
        let recorded = MatchFixture.live(long + "{{a:1}}", MatchFixture.text)
        #expect(!recorded.fits(live: MatchFixture.live(long + "y", MatchFixture.text)))
    }
}
