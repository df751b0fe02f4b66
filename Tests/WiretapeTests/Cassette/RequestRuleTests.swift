@testable import CassettePlayback
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct RequestRuleTests {
    @Test func eachIsARuleOfTheCommandLine() throws {
        let rules: [RequestRule] =
            [.method, .scheme, .host, .port, .path, .query, .queryOrder, .url, .body, .partOrder, .header("X-Id")]
        #expect(
            rules.map(\.description) == [
                "method", "scheme", "host", "port", "path", "query", "query-order", "url", "body", "part-order", "header:X-Id",
            ])
        #expect(try MatchRules(match: rules.map(\.description)).rules.contains(.header("x-id")))
        for kind in RequestRule.BodyKind.allCases {
            #expect(
                try MatchRules(match: ["method", RequestRule.body(kind).description]).rules.contains {
                    if case .body = $0 { true } else { false }
                })
        }
        #expect(try MatchRules(match: [RequestRule.graphQL.description]).rules == [.graphQL])
        #expect(RequestRule.method == "method" && RequestRule("path") == .path)
    }
}

@Suite struct RequestPlaceTests {
    @Test func eachIsAPlaceOfTheCommandLine() throws {
        let places: [(RequestPlace, MatchPlace)] = [
            (.method, .method), (.scheme, .scheme), (.host, .host), (.port, .port), (.path, .path), (.query, .query), (.body, .body),
            (.query("ts"), .queryItem("ts")), (.header("X-Id"), .header("x-id")), (.form("a b"), .formField("a b")),
            (.part("photo"), .part("photo")), (.part("photo").fileName, .partFilename("photo")),
            (.part("a/b").fileName, .partFilename("a/b")),
            (.json("/items/*/id"), .json(try PlacePointer("/items/*/id"))), ("query:ts", .queryItem("ts")),
            (.xml("/a/@b"), .xml(try PlacePointer(elements: "/a/@b"))),
            (.part("meta").content(.json("/id")), .within(.part("meta"), .json(try PlacePointer("/id")))),
            (.form("x").content(.xml("/a/b")), .within(.formField("x"), .xml(try PlacePointer(elements: "/a/b")))),
        ]
        let part = RequestPlace.part("whole")
        #expect(part.description == "part:whole")
        for (place, meant) in places { #expect(try MatchPlace(place.description) == meant) }
    }

    /// A name is taken literally, whatever characters it has.
    @Test func noNameMeansAnythingElse() throws {
        var generator = SeededGenerator(seed: 11)
        let characters = Array(":=/*,\"'{}[]% &보리a~.#")
        for _ in 0..<500 {
            let name = String(
                (0..<Int.random(in: 1...6, using: &generator)).map { _ in characters.randomElement(using: &generator) ?? "a" })
            #expect(try MatchPlace(RequestPlace.query(name).description) == .queryItem(name))
            #expect(try MatchPlace(RequestPlace.form(name).description) == .formField(name))
            #expect(try MatchPlace(RequestPlace.part(name).description) == .part(name))
            #expect(try MatchPlace(RequestPlace.part(name).fileName.description) == .partFilename(name))
        }
    }

    @Test func invalidPlaceIsReportedWhenTheCassetteIsOpened() throws {
        let folder = try TemporaryFolder()
        for place in [RequestPlace.header("a b"), .json("no/slash"), "nonsense"] {
            var settings = Cassette.Settings()
            settings.ignore = [place.description]
            #expect(throws: MatchRuleError.self) { try Cassette(folder.file("c.json"), mode: .once, settings: settings) }
        }
    }
}
