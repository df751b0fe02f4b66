@testable import CassettePlayback
@testable import CassetteStore
import Testing

@Suite struct MissReportTests {
    private func refuse(
        _ method: String, _ url: String, recorded: [(String, String)], mode: RecordMode = .none, hasCassette: Bool = true,
        after: Int = 0
    ) -> MissReport? {
        let session = CassetteSession(mode: mode, keys: RecordedKeys(recorded), hasCassette: hasCassette)
        for _ in 0..<after { _ = session.head(method, url) }
        guard case .refuse(let report) = session.head(method, url) else { return nil }
        return report
    }

    @Test func saysWhatWasMissedWhatIsNearAndWhatToDo() {
        let report = self.refuse(
            "GET", "http://a.test/users/17?page=2",
            recorded: [("GET", "http://a.test/users/17?page=1"), ("POST", "http://a.test/users/18")])
        #expect(
            report?.description == """
                no recorded exchange answers "GET http://a.test/users/17?page=2"
                nearest recorded requests:
                  exchange 1, "GET http://a.test/users/17?page=1"
                    query item is "page=2", recorded is "page=1"
                  exchange 2, "POST http://a.test/users/18"
                    method is "GET", recorded is "POST"
                    path is "/users/17", recorded is "/users/18" (1 segment differs)
                    query item "page=2" was not recorded
                to match it with exchange 1, run with: --ignore query:page; to record it, run: wiretape run --mode new-episodes CASSETTE -- COMMAND
                """)
    }

    /// A number may be the id of another resource, whose answer would be wrong.
    @Test func aRandomSegmentOfThePathGetsAPattern() throws {
        let (one, other) = ("/orders/5f0c1d2e-1111-4222-8333-123456789abc/items", "/orders/0a9b8c7d-9999-4888-8777-abcdefabcdef/items")
        let recorded = [("GET", "http://a.test\(one)?t=1")]
        var report = try #require(self.refuse("GET", "http://a.test\(other)?t=2", recorded: recorded))
        let pattern = "path=/orders/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/items"
        #expect(report.rules.patterns == [pattern] && report.rules.ignore == ["query:t"] && report.ignorablePlaces.isEmpty)
        #expect(report.nextStep.hasPrefix("to match it with exchange 1, run with: --pattern '\(pattern)' --ignore query:t; to record it"))
        let steps: [(MissReport.Audience, String)] = [
            (.program, #"add to settings.patterns: "\#(pattern)", and to settings.ignore: "query:t";"#),
            (.session, #"open the session with "rules": {"patterns": ["\#(pattern)"], "ignore": ["query:t"]};"#),
            (.test(namesMode: true), #"pass patterns: ["\#(pattern)"], ignoring: ["query:t"];"#),
        ]
        for (audience, step) in steps {
            report.audience = audience
            #expect(report.nextStep.hasPrefix("to match it with exchange 1, \(step)"), "\(report.nextStep)")
        }
        let rules = try MatchRules(ignore: ["query:t"], patterns: [pattern])
        let session = CassetteSession(mode: .none, keys: RecordedKeys(recorded, rules: rules), hasCassette: true, rules: rules)
        guard case .replay(index: 0, _) = session.head("GET", "http://a.test\(other)?t=2") else {
            Issue.record("the advice does not lead to the answer")
            return
        }
    }

    @Test func noneOfTwoRequestsWithRandomPathsIsGuessed() throws {
        let paths = ["a1b2c3d4e5f60718", "ffeeddccbbaa0011"].map { ("GET", "http://a.test/orders/\($0)") }
        let report = try #require(self.refuse("GET", "http://a.test/orders/0123456789abcdef", recorded: paths))
        #expect(report.rules.patterns.isEmpty && !report.nextStep.contains("--pattern"), "\(report.nextStep)")
    }

    @Test(arguments: [
        ("/orders/7", "/orders/12"), ("/orders/1732720000000", "/orders/1732720000001"), ("/users/miso-the-first-cat", "/users/bori"),
        ("/a/0123456789abcdef/1", "/a/fedcba9876543210/2"), ("/a/0123456789abcdef", "/a/0123456789abcdef/b"),
    ])
    func aSegmentThatMayNameAThingGetsNone(here: String, recorded: String) throws {
        let report = try #require(self.refuse("GET", "http://a.test\(here)", recorded: [("GET", "http://a.test\(recorded)")]))
        #expect(report.rules.patterns.isEmpty && !report.nextStep.contains("--pattern"), "\(report.nextStep)")
    }

    /// A client of the control API has no command line: it creates sessions with JSON.
    @Test func clientsOfTheControlAPIGetAdviceInMembersOfTheirOrders() {
        var report = self.refuse(
            "GET", "http://a.test/pets?page=2&q=2", recorded: [("GET", "http://a.test/pets?page=1&q=1"), ("GET", "http://a.test/owners")])
        report?.audience = .session
        #expect(
            report?.nextStep
                == #"to match it with exchange 1, open the session with "rules": {"ignore": ["query:page", "query:q"]}; to record it, open the session with "mode": "new-episodes""#
        )
        var used = self.refuse("GET", "http://a.test/", recorded: [("GET", "http://a.test/")], mode: .once, after: 1)
        used?.audience = .session
        #expect(
            used?.nextStep
                == #"to repeat the last answer, open the session with "repeat": "last"; to record one more, open the session with "mode": "new-episodes""#
        )
        for (reason, step) in [
            (MissReport.Reason.noCassette, #"to record one, open the session with "mode": "once""#),
            (.notRecorded, #"to record it, open the session with "mode": "new-episodes""#),
            (.otherMessages(index: 0), #"to record it anew, open the session with "mode": "all""#),
            (.clientStayed(index: 0), #"to record it whole, open the session with "mode": "all""#),
            (.recorderEnded(index: 0), #"to record it whole, open the session with "mode": "all""#),
            (
                .outOfOrder(index: 1, due: 0, dueRequest: "GET /"),
                #"to accept requests in any order, open the session with "order": "any""#
            ),
        ] {
            #expect(MissReport(request: "GET /", mode: .none, reason: reason, audience: .session).nextStep == step)
        }
    }

    @Test func saysThatEqualOnesAreUsedUp() {
        let one = self.refuse("GET", "http://a.test/", recorded: [("GET", "http://a.test/")], mode: .once, after: 1)
        #expect(
            one?.description == """
                the only recorded exchange for "GET http://a.test/" is used up
                to repeat the last answer, run with: --repeat last; to record one more, run: wiretape run --mode new-episodes CASSETTE -- COMMAND
                """)
        let two = self.refuse("GET", "http://a.test/", recorded: [("GET", "http://a.test/"), ("GET", "http://a.test/")], after: 2)
        #expect(two?.reason == .usedUp(count: 2))
        #expect(two?.description.hasPrefix("all 2 recorded exchanges for \"GET http://a.test/\" are used up") == true)
    }

    @Test func saysThatThereIsNoCassette() {
        let report = self.refuse("GET", "http://a.test/", recorded: [], hasCassette: false)
        #expect(
            report?.description == """
                there is no cassette to answer "GET http://a.test/" from
                to record one, run: wiretape record CASSETTE -- COMMAND
                """)
    }

    @Test func hostileRequestsStayPlainAndShort() {
        let junk = String(repeating: "\u{1B}]0;\u{7}\r\n\u{202E}\u{0}\"", count: 2_000)
        let recorded = (0..<5).map { index in
            ("GET\u{1B}", "http://h\(index)\(junk)/" + (0..<200).map { "\(junk.prefix(50))\($0)&" }.joined() + "?\(junk)")
        }
        let query = (0..<500).map { "k\($0)=\(junk.prefix(90))" }.joined(separator: "&")
        let report = self.refuse("GET", "http://a\(junk)/\(junk)/\(junk)?\(query)", recorded: recorded)
        let text = report?.description ?? "\u{0}"
        #expect(text.utf8.count <= 10_240)
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)) })
        #expect(!text.contains("\u{202E}"))
    }

    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib3JpQGEudGVzdCJ9.c2lnbmF0dXJlLW9mLWFub3RoZXI"
    private static let cut = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib3JpQGEudGVz…"

    @Test(arguments: [
        RequestDifference.json(pointer: "/data", here: "\"\(token)\"", recorded: "\"\(cut)\""),
        .formField(name: "data", here: token, recorded: cut),
        .queryItemChanged(here: "data=\(token)", recorded: "data=\(cut)"), .queryItemAdded("data=\(token)"),
        .queryItemRemoved("data=\(cut)"),
        .header(name: "x-data", here: token, recorded: cut), .path(here: "/a/\(token)", recorded: "/a/\(cut)", edits: 1),
        .part(name: "data", .text(here: token, recorded: cut)), .innerQueryItem(name: "query", here: "me(t:\"\(token)\")", recorded: cut),
        .text(line: 1, here: "the token is \(token).", recorded: "t \(cut)"),
        .json(pointer: "/data", here: "\"AKIAIOSFODNN7ZQXWEJ3\"", recorded: "\"ghp_0123456789abcdefghijABCDEFGHIJ012345\""),
    ])
    func textThatLooksLikeATokenIsNeverShown(difference: RequestDifference) {
        let shown = ShownSecrets.hidden(in: difference).description
        #expect(!["eyJzdWIiOiJi", "AKIA", "ghp_"].contains { shown.contains($0) } && shown.contains("…"), "\(shown)")
    }

    @Test func aTokenInAURLIsNotShown() {
        for url in ["http://a.test/v/\(Self.token)", "http://a.test/?data=\(Self.token)&\(String(repeating: "x", count: 500))"] {
            let report = self.refuse("GET", url, recorded: [])
            #expect(report.map { !$0.description.contains("eyJzdWIi") && $0.description.contains("…") } == true)
        }
    }

    @Test(arguments: [
        RequestDifference.json(pointer: "/password/0", here: "\"geheim7\"", recorded: "\"bori2026\""),
        .json(pointer: "/a/client_secret/x~1y", here: "\"geheim7\"", recorded: nil),
        .json(pointer: "/password", here: "\"geheim7\"", recorded: "\"bori2026\""),
        .text(line: 3, here: "password: geheim7", recorded: "password: bori2026"),
        .text(line: 1, here: "GET https://me:geheim7@a.test/", recorded: ""),
        .queryItemAdded("next=https%3A%2F%2Fb.test%2F%3Faccess_token%3Dgeheim77geheim77"),
    ])
    func valueNamedLikeASecretIsNeverShown(difference: RequestDifference) {
        let shown = ShownSecrets.hidden(in: difference).description
        #expect(!shown.contains("geheim7") && !shown.contains("bori2026"), "\(shown)")
        #expect(shown.contains("…"))
    }

    @Test func otherDifferencesAreShownAsTheyAre() {
        for difference in [
            RequestDifference.json(pointer: "/pets/0", here: "1", recorded: "2"), .text(line: 1, here: "a: b", recorded: "{{password:1}}"),
        ] { #expect(ShownSecrets.hidden(in: difference) == difference) }
    }

    @Test func userInformationIsNeverShown() {
        let report = self.refuse("GET", "http://me:secret@a.test/x", recorded: [("GET", "http://me:hidden@a.test/x")])
        let text = report?.description ?? "secret"
        #expect(!text.contains("secret") && !text.contains("hidden"))
        #expect(text.contains("\"GET http://…@a.test/x\""))
        #expect(text.contains("user information differs"))
    }

    @Test(arguments: [
        ("http://a.test/?a=1&b=1", "http://a.test/?a=2&b=2", ["query:a", "query:b"]),
        ("http://a.test/?a=1&a=2", "http://a.test/?a=3&a=4", ["query:a"]),
        ("http://a.test/?a=1&b=1&c=1&d=1", "http://a.test/", []),
        ("http://a.test/x?a=1", "http://a.test/y?a=2", []),
        ("http://a.test/?1732720000000", "http://a.test/?1732720000001", ["query:"]),
        ("http://a.test/?acl", "http://a.test/?policy", ["query:acl", "query:policy"]),
        ("http://a.test/?a=1&173", "http://a.test/?174&a=2", ["query:", "query:a"]),
        ("http://a.test/?a%20b=1", "http://a.test/?a%20b=2", ["query:a b"]), ("http://a.test:81/", "http://a.test:82/", ["port"]),
        ("https://a.test:81/", "http://a.test:81/", ["scheme"]), ("http://a.test/", "http://b.test/", []),
    ])
    func placesThatRulesCanIgnoreAreSuggested(here: String, recorded: String, places: [String]) {
        let report = self.refuse("GET", here, recorded: [("GET", recorded)])
        #expect(report?.ignorablePlaces == places)
        #expect(report?.nextStep.contains("--ignore") == !places.isEmpty)
    }

    @Test func theNextStepIsACommandThatAShellTakes() {
        var report = MissReport(request: "GET /", mode: .none, reason: .notRecorded, cassette: "My Tapes/pets.json")
        #expect(report.nextStep == "to record it, run: wiretape run --mode new-episodes 'My Tapes/pets.json' -- COMMAND")
        report.cassette = "it's.json"
        #expect(report.nextStep.contains("new-episodes CASSETTE -- COMMAND"))
        report.cassette = "a.json"
        report.nearest = [
            NearRequest(index: 0, request: "GET /", isUsedUp: false, differences: [.json(pointer: "/$id", here: "1", recorded: "2")])
        ]
        #expect(
            report.nextStep
                == "to match it with exchange 1, run with: --ignore 'json:/$id'; to record it, run: wiretape run --mode new-episodes a.json -- COMMAND"
        )
    }

    @Test func aProgramGetsTheSettingInsteadOfACommand() {
        let near = NearRequest(
            index: 2, request: "GET /", isUsedUp: false, differences: [.json(pointer: "/a\"b", here: "1", recorded: "2")])
        let cases: [(MissReport.Reason, [NearRequest], String)] = [
            (.noCassette, [], "to record one, open the cassette with mode .once"),
            (.notRecorded, [], "to record it, open the cassette with mode .newEpisodes"),
            (
                .notRecorded, [near],
                #"to match it with exchange 3, add to settings.ignore: "json:/a\"b"; to record it, open the cassette with mode .newEpisodes"#
            ),
            (.outOfOrder(index: 1, due: 0, dueRequest: ""), [], "to accept requests in any order, set settings.order to .any"),
            (
                .usedUp(count: 1), [],
                "to repeat the last answer, set settings.repetition to .last; to record one more, open the cassette with mode .newEpisodes"
            ),
        ]
        for (reason, nearest, expected) in cases {
            let report = MissReport(request: "GET /", mode: .none, reason: reason, nearest: nearest, cassette: "a.json", audience: .program)
            #expect(report.nextStep == expected)
            #expect(report.description.hasSuffix("\n" + expected))
        }
    }

    @Test(arguments: [MissReport.Audience.commandLine, .program])
    func aSessionRefusesInTheWordsOfItsAudience(audience: MissReport.Audience) throws {
        let session = try CassetteSession(mode: .none, audience: audience)
        guard case .decided(.refuse(let report)) = session.begin(method: "GET", url: "http://a.test/") else {
            Issue.record("not refused")
            return
        }
        #expect(report.audience == audience)
    }

    @Test func placeWithinASuggestedOneIsNotNamed() {
        let differences = ["/a", "/a/b", "/a/b/0", "/a/c", "/ab"].map { RequestDifference.json(pointer: $0, here: "1", recorded: nil) }
        let near = NearRequest(index: 0, request: "GET /", isUsedUp: false, differences: differences)
        let report = MissReport(request: "GET /", mode: .none, reason: .notRecorded, nearest: [near])
        #expect(report.ignorablePlaces == ["json:/a", "json:/ab"])
    }

    @Test(arguments: [
        (["/a/0/x", "/a/0/y", "/a/1", "/a/2"], ["json:/a"]), (["/a/0/x", "/a/1/x", "/a/2/x", "/a/3/y"], ["json:/a/*/x", "json:/a/*/y"]),
        (["/a", "/b", "/c", "/d"], ["body"]),
        (["/a", "/b", "/c"], ["json:/a", "json:/b", "json:/c"]),
        ([""], ["body"]), (["", "/a"], ["body"]),
    ])
    func ofManyPlacesInABodyTheOneAroundThemIsNamed(pointers: [String], places: [String]) {
        let near = NearRequest(
            index: 0, request: "GET /", isUsedUp: false, differences: pointers.map { .json(pointer: $0, here: "1", recorded: "2") })
        let report = MissReport(request: "GET /", mode: .none, reason: .notRecorded, nearest: [near])
        #expect(report.ignorablePlaces == places)
    }

    @Test func nothingIsOfferedForARequestThatIsUsedUp() {
        var report = MissReport(request: "GET /", mode: .none, reason: .notRecorded)
        let near = NearRequest(index: 0, request: "GET /", isUsedUp: true, differences: [.queryItemAdded("a=1")])
        report.nearest = [near]
        #expect(report.ignorablePlaces.isEmpty)
    }

    @Test func manyDifferencesAreCounted() {
        let query = (0..<20).map { "k\($0)" }.joined(separator: "&")
        let report = self.refuse("GET", "http://a.test/?\(query)", recorded: [("GET", "http://a.test/")])
        #expect(report?.description.contains("    and 14 more differences\n") == true)
    }

    @Test func nearRequestsTellWhetherTheyAreUsedUp() {
        let session = CassetteSession(mode: .none, keys: RecordedKeys([("GET", "http://a.test/1")]), hasCassette: true)
        #expect(session.head("GET", "http://a.test/1") == .replay(index: 0))
        guard case .refuse(let report) = session.head("GET", "http://a.test/2") else {
            Issue.record("not refused")
            return
        }
        #expect(report.nearest.map(\.isUsedUp) == [true])
        #expect(report.description.contains("exchange 1, \"GET http://a.test/1\", used up\n"))
    }
}

@Suite struct IgnorablePlaceTests {
    @Test(arguments: [
        (RequestDifference.queryItemAdded("ts=1"), "query:ts"), (.queryItemRemoved("ts"), "query:ts"),
        (.queryItemChanged(here: "a.b=1", recorded: "a.b=2"), "query:a.b"),
        (.header(name: "accept", here: "a", recorded: nil), "header:accept"),
        (.json(pointer: "/items/0/created~1at", here: "1", recorded: nil), "json:/items/0/created~1at"),
        (.formField(name: "nonce", here: "1", recorded: "2"), "form:nonce"),
        (.xml(path: "/a/b[2]/@c", here: "1", recorded: nil), "xml:/a/b[2]/@c"), (.queryItemChanged(here: "1", recorded: "2"), "query:"),
        (.innerQueryItem(name: "id", here: "1", recorded: "2"), "query:id"), (.scheme(here: "http", recorded: "https"), "scheme"),
        (.port(here: "", recorded: "81"), "port"), (.queryItemAdded("$(rm)=1"), "query:$(rm)"), (.queryItemAdded("a%20b+c"), "query:a b c"),
        (.part(name: "outer/inner", .place), "part:outer/inner"),
        (.part(name: "photo", .filename(here: "a.png", recorded: "b.png")), "filename:photo"),
        (.part(name: "photo", .filename(here: "a.png", recorded: nil)), "part:photo"),
    ])
    func placesAreNamedAsRulesNameThem(difference: RequestDifference, place: String) {
        #expect(IgnorablePlace.text(difference) == place)
    }

    @Test(arguments: [
        RequestDifference.method(here: "GET", recorded: "PUT"), .host(here: "a", recorded: "b"), .path(here: "/", recorded: "/x", edits: 1),
        .queryItemAdded(""), .queryItemAdded("a'b"), .queryItemAdded("a%0A"), .queryItemAdded("a\\u{7f}"), .queryItemAdded("x…"),
        .queryItemChanged(here: "a=1", recorded: "b=1"), .formField(name: "{{*}}", here: nil, recorded: "x"), .queryOrder, .remainder,
        .json(pointer: "", here: "1", recorded: "2"), .xml(path: "!DOCTYPE", here: "1", recorded: "2"),
        .bodyRemainder, .bodyKind(here: "json", recorded: "none"),
        .custom(name: "a", reason: "b"),
    ])
    func placeThatCannotBeTypedIsNotSuggested(difference: RequestDifference) {
        #expect(IgnorablePlace.text(difference) == nil)
    }

    @Test(arguments: [("json:/a/b", "json:/a/b"), ("query:a b", "'query:a b'"), ("form:$(rm)", "'form:$(rm)'"), ("a~1_.-", "a~1_.-")])
    func aShellTakesItAsOneWord(place: String, word: String) {
        #expect(IgnorablePlace.word(place) == word)
    }
}
