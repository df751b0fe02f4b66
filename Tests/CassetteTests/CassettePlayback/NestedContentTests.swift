import Testing

@testable import CassettePlayback

/// The content of parts and of form fields, compared according to its kind.
struct NestedContentTests {
    private static let boundary = "0123456789abcdef"

    private func form(_ parts: [(name: String, type: String?, data: String)], _ rules: MatchRules = .standard) -> BodyFacets {
        let parts = parts.map { part in
            (["Content-Disposition: form-data; name=\"\(part.name)\""] + (part.type.map { ["Content-Type: \($0)"] } ?? []), part.data)
        }
        return MatchFixture.live(MatchFixture.multipart(Self.boundary, parts), MatchFixture.parts(Self.boundary), rules)
    }

    private func mixed(_ subtype: String, _ parts: [(lines: [String], data: String)], _ rules: MatchRules = .standard) -> BodyFacets {
        let parts = parts.map { ($0.lines, $0.data) }
        return MatchFixture.live(
            MatchFixture.multipart(Self.boundary, parts), ["Content-Type: multipart/\(subtype); boundary=\(Self.boundary)"], rules)
    }

    @Test(
        arguments: [
            ("application/json", "{\"a\":1,\"b\":2}", "{ \"b\": 2, \"a\": 1.0 }"), (nil, "{\"a\":1,\"b\":2}", "{ \"b\": 2, \"a\": 1.0 }"),
            ("text/xml", "<a b='1' c='2'/>", "<a  c=\"2\" b=\"1\"></a>"), ("application/x-www-form-urlencoded", "a=1&b=2", "b=2&a=%31"),
            ("application/x-ndjson", "{\"a\":1}\n{}\n", "{ \"a\": 1}\n{}"), ("application/msgpack", "\u{1}", "\u{1}"),
        ] as [(String?, String, String)]) func aPartIsComparedByItsKind(type: String?, left: String, right: String)
    {
        #expect(self.form([("meta", type, left)]) == self.form([("meta", type, right)]))
        #expect(self.form([("meta", type, left)]) != self.form([("meta", type, left + "x")]))
        #expect(self.form([("meta", type, left)]) != self.form([("other", type, left)]))
        #expect(self.form([("meta", type, left)]) != self.form([("meta", "application/octet-stream", left)]))
    }

    @Test func aDifferenceNamesItsPlaceInThePart() {
        let live = self.form([("meta", "application/json", "{\"id\":1}"), ("x", nil, "1")])
        let recorded = self.form([("meta", "application/json", "{\"id\":2}"), ("x", nil, "1")])
        let differences = live.differences(fromRecorded: recorded)
        #expect(differences.map(\.description) == ["part:meta: JSON \"/id\" is 1, recorded is 2"])
        #expect(differences.map(\.ignorablePlace) == ["part:meta|json:/id"])
        #expect(
            live.differences(fromRecorded: self.form([("x", nil, "1")])).map(\.description) == ["part \"meta\" (8 bytes) was not recorded"])
    }

    @Test func rulesReachIntoAPart() throws {
        let rules = try MatchRules(ignore: ["part:meta|json:/id"], patterns: ["part:meta|json:/at=[0-9]+", "part:doc|xml:/a/@t=[0-9]+"])
        func body(_ id: Int, _ at: String, _ t: String, name: String = "n") -> BodyFacets {
            self.form(
                [
                    ("meta", "application/json", "{\"id\":\(id),\"at\":\"\(at)\",\"name\":\"\(name)\"}"),
                    ("doc", "text/xml", "<a t='\(t)'/>"),
                ], rules)
        }
        #expect(body(1, "1", "1") == body(2, "2", "2"))
        #expect(body(1, "1", "1") != body(1, "x", "1"))
        #expect(body(1, "1", "1") != body(1, "1", "x"))
        #expect(body(1, "1", "1") != body(1, "1", "1", name: "m"))
        // A rule for the body, or for another part, does not apply to this part.
        let others = try MatchRules(ignore: ["json:/id", "part:other|json:/id"])
        #expect(self.form([("meta", nil, "{\"id\":1}")], others) != self.form([("meta", nil, "{\"id\":2}")], others))
    }

    /// Facets of two parts with the same name must not be exchanged.
    @Test func partsOfOneNameAreNotMixedUp() {
        func body(_ one: String, _ other: String) -> BodyFacets { self.form([("p", nil, one), ("p", nil, other)]) }
        #expect(body("{\"a\":1,\"b\":1}", "{\"a\":2,\"b\":2}") != body("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"))
        #expect(body("{\"a\":1}", "{\"a\":2}") == body("{\"a\":2}", "{\"a\":1}"))
        #expect(
            !body("{\"a\":\"{{jwt:1}}-1\",\"b\":1}", "{\"a\":\"{{jwt:2}}-2\",\"b\":2}").fits(
                live: body("{\"a\":\"x-2\",\"b\":1}", "{\"a\":\"x-1\",\"b\":2}")))
        let differences = body("{\"a\":1,\"b\":1}", "{\"a\":2,\"b\":2}").differences(
            fromRecorded: body("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"))
        #expect(!differences.isEmpty)
    }

    @Test func placeholdersInAPartMatchLiveValues() {
        let recorded = self.form([("meta", "application/json", "{\"token\":\"{{jwt:1}}\",\"a\":1}")])
        #expect(recorded.fits(live: self.form([("meta", "application/json", "{ \"a\":1, \"token\":\"abc\" }")])))
        #expect(!recorded.fits(live: self.form([("meta", "application/json", "{ \"a\":2, \"token\":\"abc\" }")])))
    }

    @Test func partsWithoutNamesHaveNumbersAndAnOrder() throws {
        let json = ["Content-Type: application/json; charset=UTF-8"]
        let data = ["Content-Type: image/png"]
        for subtype in ["related", "mixed"] {
            let one = self.mixed(subtype, [(json, "{\"name\":\"a\",\"id\":1}"), (data, "x")])
            #expect(one == self.mixed(subtype, [(json, "{ \"id\":1, \"name\":\"a\" }"), (data, "x")]))
            #expect(one != self.mixed(subtype, [(data, "x"), (json, "{\"name\":\"a\",\"id\":1}")]))
            let other = self.mixed(subtype, [(json, "{\"name\":\"a\",\"id\":2}"), (data, "x")])
            #expect(one.differences(fromRecorded: other).map(\.ignorablePlace) == ["part:1|json:/id"])
            let rules = try MatchRules(ignore: ["part:1|json:/id"])
            #expect(self.mixed(subtype, [(json, "{\"id\":1}")], rules) == self.mixed(subtype, [(json, "{\"id\":2}")], rules))
        }
    }

    @Test func anEncodedPartIsDecodedFirst() {
        let lines = ["Content-Disposition: form-data; name=\"m\"", "Content-Type: application/json", "Content-Transfer-Encoding: base64"]
        func body(_ data: String) -> BodyFacets {
            MatchFixture.live(MatchFixture.multipart(Self.boundary, [(lines, data)]), MatchFixture.parts(Self.boundary))
        }
        // {"a":1,"b":2} and {"b":2,"a":1}
        #expect(body("eyJhIjoxLCJiIjoyfQ==") == body("eyJiIjoyLCJhIjoxfQ=="))
    }

    @Test func recordedPartsAreReadAlike() throws {
        let fixture = try RecordedFixture()
        for data in ["{\"a\":1}", "{\"a\":\"" + String(repeating: "x", count: 100_000) + "\"}", "{"] {
            for type in ["application/json", "text/plain", "image/png"] {
                let lines = ["Content-Disposition: form-data; name=\"m\"; filename=\"a\"", "Content-Type: \(type)"]
                let body = MatchFixture.multipart(Self.boundary, [(lines, data)])
                let live = MatchFixture.live(body, MatchFixture.parts(Self.boundary))
                #expect(try fixture.facets(Array(body.utf8), MatchFixture.parts(Self.boundary)) == live)
                #expect(try fixture.facets(Array(body.utf8), MatchFixture.parts(Self.boundary), .standard, .contents) == live)
            }
        }
    }

    // MARK: Fields

    @Test func aFieldThatHoldsJSONIsComparedByValue() throws {
        let one = MatchFixture.live("data={\"id\":1,\"a\":2}&x=1", MatchFixture.form)
        #expect(one == MatchFixture.live("x=1&data=%7B+%22a%22:2,%22id%22:1%7D", MatchFixture.form))
        let other = MatchFixture.live("data={\"id\":2,\"a\":2}&x=1", MatchFixture.form)
        #expect(one.differences(fromRecorded: other).map(\.description) == ["form:data: JSON \"/id\" is 1, recorded is 2"])
        let rules = try MatchRules(ignore: ["form:data|json:/id"])
        #expect(
            MatchFixture.live("data={\"id\":1}", MatchFixture.form, rules) == MatchFixture.live("data={\"id\":2}", MatchFixture.form, rules)
        )
        #expect(
            MatchFixture.live("data={\"id\":1}", MatchFixture.form, rules) != MatchFixture.live("data={}&data={}", MatchFixture.form, rules)
        )
        #expect(MatchFixture.live("d={\"a\":1}", MatchFixture.form) != MatchFixture.live("d=x", MatchFixture.form))
        #expect(
            MatchFixture.live("d={\"a\":1}", MatchFixture.form).differences(fromRecorded: MatchFixture.live("d=x", MatchFixture.form)).map(
                \.description)
                == ["form field \"d\" is \"{\\\"a\\\":1}\", recorded is \"x\""])
    }

    @Test func fieldsOfOneNameAreNotMixedUp() {
        func form(_ one: String, _ other: String) -> BodyFacets { MatchFixture.live("p=\(one)&p=\(other)", MatchFixture.form) }
        #expect(form("{\"a\":1,\"b\":1}", "{\"a\":2,\"b\":2}") != form("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"))
    }

    @Test func placeholdersInAFieldMatchLiveValues() {
        let recorded = MatchFixture.live("d={\"t\":\"{{jwt:1}}\",\"a\":1}", MatchFixture.form)
        #expect(recorded.hasMarks)
        #expect(recorded.fits(live: MatchFixture.live("d={\"a\":1,\"t\":\"x\"}", MatchFixture.form)))
        #expect(!recorded.fits(live: MatchFixture.live("d={\"a\":2,\"t\":\"x\"}", MatchFixture.form)))
    }

    @Test func depthIsBounded() {
        var value = "{}"
        for _ in 0..<10 { value = "d=" + value.utf8.map { "%" + String($0, radix: 16) }.joined() }
        #expect(MatchFixture.live(value, MatchFixture.form).kind == .form)
    }
}
