@testable import CassettePlayback
import TapeTestSupport
import Testing

struct HeadKeyWriterTests {
    /// Rules, a URL, and its key.
    @Test func keyLacksThePartsThatAreNotCompared() throws {
        let url = "https://u:p@api.test:8443/v1/x?b=2&a=1"
        for (match, key) in [
            (["method"], "GET *://*/*"), (["scheme"], "* https://*/*"), (["host"], "* *://u:p@api.test/*"), (["port"], "* *://*:8443/*"),
            (["path"], "* *://*/v1/x"), (["query"], "* *://*/*?a=1&b=2"), (["query-order"], "* *://*/*?b=2&a=1"),
            (["method", "url"], "GET https://u:p@api.test:8443/v1/x?a=1&b=2"),
        ] {
            #expect(try MatchFixture.headKey(MatchRules(match: match), url) == key)
        }
    }

    @Test func ignoredItemsAreLeftOutByTheirDecodedNames() throws {
        let rules = try MatchRules(ignore: ["query:ts", "query:a b"])
        #expect(MatchFixture.headKey(rules, "http://a.test/?ts=1&x=2&a+b=3&%74s=4&a%20b") == "GET http://a.test/?x=2")
        #expect(MatchFixture.headKey(rules, "http://a.test/?ts=1") == "GET http://a.test/")
        #expect(MatchFixture.headKey(rules, "http://a.test/?tsx=1") == "GET http://a.test/?tsx=1")
    }

    @Test func patternsMakeMatchingValuesAlike() throws {
        let rules = try MatchRules(patterns: ["query:ts=[0-9]+", "path=/users/[0-9]+", "host=(a|b)\\.test"])
        func key(_ url: String) -> String { MatchFixture.headKey(rules, url) }
        #expect(key("http://a.test/users/1?ts=5") == key("http://b.test/users/22?ts=66"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://a.test/users/1?ts=5x"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://a.test/users/x?ts=5"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://c.test/users/1?ts=5"))
        #expect(key("http://a.test/users/1?ts=5") != key("http://a.test/users/1?tt=5"))
        #expect(key("http://a.test/users/1") != key("http://a.test/users/1?ts=5"))
    }

    @Test func fieldsFollowOnLinesOfTheirOwn() throws {
        let rules = try MatchRules(match: ["method", "header:b", "header:Accept"])
        let key = MatchFixture.headKey(rules, "http://a.test/", ["accept: x ", "B: 1", "c: 2", "b: 3"])
        #expect(key == "GET *://*/*\naccept: x\nb: 1, 3")
        #expect(MatchFixture.headKey(rules, "http://a.test/", ["B:"]) == "GET *://*/*\nb: ")
        #expect(MatchFixture.headKey(rules, "http://a.test/", []) == "GET *://*/*")
    }

    @Test func aBoundaryInAFieldDoesNotCount() throws {
        let rules = try MatchRules(match: ["header:content-type"])
        func key(_ boundary: String) -> String {
            MatchFixture.headKey(rules, "http://a.test/", ["Content-Type: multipart/form-data; boundary=\(boundary)"])
        }
        #expect(key("0123456789abcdef") == key("fedcba9876543210"))
        let form = MatchFixture.headKey(rules, "http://a.test/", ["Content-Type: multipart/mixed; boundary=0123456789abcdef"])
        #expect(form != key("0123456789abcdef"))
    }

    @Test func valuesOfFieldsCanMatchAPattern() throws {
        let rules = try MatchRules(match: ["header:x-id", "header:authorization"], patterns: ["header:X-Id=[a-f0-9]+"])
        func key(_ id: String, _ authorization: String) -> String {
            MatchFixture.headKey(rules, "http://a.test/", ["X-ID: \(id)", "Authorization: \(authorization)"])
        }
        #expect(key("12ab", "Bearer {{authorization:1}}") == key("ff", "Bearer {{authorization:7}}"))
        #expect(key("12ab", "Bearer x") != key("xyz", "Bearer x"))
        #expect(key("12ab", "Bearer x") != key("12ab", "Basic x"))
    }

    @Test func graphQLLeavesItsItemsToTheBody() throws {
        let rules = try MatchRules(match: ["url", "graphql"])
        #expect(MatchFixture.headKey(rules, "http://a.test/g?query=x&variables=y&v=1") == "* http://a.test/g?v=1")
    }
}

struct HeadPlanTests {
    @Test func onlyTheStandardHeadIsStandard() throws {
        for (match, ignore, expected) in [
            (["method", "url"], [], true), (["method", "url", "body:bytes"], ["json:/a", "form:b"], true), (["url"], [], false),
            (["method", "url", "query-order"], [], false), (["method", "url", "header:a"], [], false),
            (["method", "url"], ["query:a"], false),
            (["method", "url", "graphql"], [], false), (["method", "url"], ["port"], false),
        ] as [([String], [String], Bool)] {
            #expect(try MatchRules(match: match, ignore: ignore).isStandardHead == expected, "\(match) \(ignore)")
        }
        #expect(try !MatchRules(patterns: ["path=/a"]).isStandardHead)
        #expect(try !MatchRules(patterns: ["query:a=b"]).isStandardHead)
    }

    @Test func fieldsAreInOrder() throws {
        #expect(try MatchRules(match: ["header:b", "header:a"]).head.headers == ["a", "b"])
    }
}

@Suite struct RequestLayoutTests {
    private func parts(_ key: String) -> [String?] {
        let bytes = Array(key.utf8)
        let layout = bytes.withUnsafeBytes { RequestLayout($0) }
        let ranges = [layout.method, layout.scheme, layout.userInformation, layout.host, layout.port, layout.path, layout.query]
        return ranges.map { $0.map { String(decoding: bytes[$0], as: UTF8.self) } }
    }

    @Test(arguments: [
        ("GET http://a.test/x?y=1", ["GET", "http", "", "a.test", "", "/x", "y=1"]),
        ("GET http://u:p@a.test:8080/", ["GET", "http", "u:p", "a.test", "8080", "/", nil]),
        ("GET http://[::1]:81/?", ["GET", "http", "", "[::1]", "81", "/", ""]),
        ("GET http://[::1]/", ["GET", "http", "", "[::1]", "", "/", nil]),
        ("GET http:///x", ["GET", "http", "", "", "", "/x", nil]),
        ("CONNECT a.test:443", ["CONNECT", "", "", "", "", "a.test:443", nil]),
        ("GET http://@80/", ["GET", "http", "", "80", "", "/", nil]),
        ("GET", ["GET", "", "", "", "", "", nil]),
        (" ", ["", "", "", "", "", "", nil]),
        ("", ["", "", "", "", "", "", nil]),
        ("GET ?://", ["GET", "", "", "", "", "", "://"]),
    ])
    func findsTheParts(key: String, expected: [String?]) {
        #expect(self.parts(key) == expected)
    }

    @Test func anyBytesHaveALayout() {
        var generator = SeededGenerator(seed: 3)
        let alphabet = Array(" :/?#@[]8a".utf8)
        for _ in 0..<rounds(3_000) {
            let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let layout = bytes.withUnsafeBytes { RequestLayout($0) }
            #expect(max(layout.host.upperBound, layout.path.upperBound, layout.query?.upperBound ?? 0) <= bytes.count)
        }
    }
}

@Suite struct NamelessItemTests {
    @Test func theEmptyNameIsThatOfItemsWithoutEquals() throws {
        let rules = try MatchRules(ignore: ["query:"])
        let key = MatchFixture.headKey(rules, "http://a.test/?a=1")
        #expect(MatchFixture.headKey(rules, "http://a.test/?1732720000000&a=1") == key)
        #expect(MatchFixture.headKey(rules, "http://a.test/?a=1&=2") == key)
        #expect(MatchFixture.headKey(rules, "http://a.test/?a=1&b=") != key)
        #expect(MatchFixture.headKey(rules, "http://a.test/?172") == MatchFixture.headKey(rules, "http://a.test/"))
    }

    @Test func aPatternForThemComparesTheWholeItem() throws {
        let rules = try MatchRules(patterns: ["query:=[0-9]+"])
        let key = MatchFixture.headKey(rules, "http://a.test/?172")
        #expect(MatchFixture.headKey(rules, "http://a.test/?173") == key)
        #expect(MatchFixture.headKey(rules, "http://a.test/?wsdl") != key)
        #expect(MatchFixture.headKey(rules, "http://a.test/") != key)
        #expect(MatchFixture.headKey(rules, "http://a.test/?wsdl") != MatchFixture.headKey(rules, "http://a.test/?xsd"))
        #expect(MatchFixture.headKey(rules, "http://a.test/?=172") != MatchFixture.headKey(rules, "http://a.test/?=x"))
    }
}
