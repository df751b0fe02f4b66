@testable import CassetteModel
@testable import CassetteTools
import Testing

@Suite struct ExchangeComparisonTests {
    private func changes(_ old: Interaction, _ new: Interaction, all: Bool = false) throws -> [String] {
        try ExchangeComparison(old: "a.json", new: "b.json", showsAll: all).changes(old, new).map {
            "\($0.place): \($0.old ?? "-") \($0.new ?? "-")"
        }
    }

    @Test func meaninglessDifferencesAreOmitted() throws {
        let old = Interaction.care(
            1, at: 1, headers: ["Date: x"], connection: ConnectionInfo(id: 1, remote: "127.0.0.1:1", isReused: false))
        let new = Interaction.care(2, at: 2, headers: ["Date: y"], connection: ConnectionInfo(id: 2, remote: "127.0.0.1:2", isReused: true))
        #expect(try self.changes(old, new) == [])
        let all = try self.changes(old, new, all: true)
        #expect(all.map { String($0.prefix { $0 != ":" }) } == ["response header", "id", "started", "remote"])
    }

    @Test func everyFieldIsNamedWithItsMessage() throws {
        let old = Interaction.care(
            1, "POST", "http://a/?x=1", request: ["Host: a", "Accept: b"], requestBody: .json("1"), headers: ["ETag: a"], body: .text("a"))
        let new = Interaction.care(
            1, "POST", "http://a/?x=2", request: ["Host: a", "Accept: c"], requestBody: .json("2"), status: 404, headers: ["ETag: b"],
            body: .text("b"))
        #expect(
            try self.changes(old, new) == [
                "request query:x: 1 2", "request header:accept: b c", "request json:: 1 2", "response status: 200 404",
                "response header:etag: a b",
                "response body: byte 0: \"a\" \"b\"",
            ])
    }

    @Test func eachChangeHasItsGrade() throws {
        func drifts(_ old: Interaction, _ new: Interaction) throws -> [String] {
            try ExchangeComparison(old: "a.json", new: "b.json", showsAll: false).changes(old, new).map { "\($0.place): \($0.drift)" }
        }
        func body(_ text: String) -> Interaction { .care(1, body: .json(text)) }
        #expect(
            try drifts(
                body(#"{"id":1,"name":"a","gone":1,"on":true,"list":[1],"none":null}"#),
                body(#"{"id":"1","name":"b","new":1,"on":false,"list":{},"none":0}"#)) == [
                    "response json:/id: type", "response json:/name: value", "response json:/gone: removed", "response json:/on: value",
                    "response json:/list: type", "response json:/none: type", "response json:/new: added",
                ])
        #expect(try drifts(.care(1, body: .json("{}")), .care(1, body: .text("a"))) == ["response body: type"])
        #expect(try drifts(.care(1, body: .text("b")), .care(1, body: .text("a"))) == ["response body: value"])
        #expect(try drifts(.care(1, body: .text("b")), .care(1)) == ["response body: removed"])
        #expect(try drifts(.care(1, status: 200), .care(1, status: 201)) == ["response status: type"])
        #expect(
            try drifts(
                .care(1, headers: ["Content-Type: a/b", "X-A: 1", "X-B: 1"]), .care(1, headers: ["Content-Type: c/d", "X-A: 2", "X-C: 1"]))
                == [
                    "response header:content-type: type", "response header:x-a: value", "response header:x-b: removed",
                    "response header:x-c: added",
                ])
        var cut = Interaction.care(1)
        cut.outcome = .cut(Cut(by: .origin, reason: "gone"))
        #expect(try drifts(.care(1), cut).first == "outcome: type")
    }

    @Test func whatWasNotComparedIsGradedAsGone() throws {
        func numbers(_ first: Int) -> String { "[" + (first..<first + 60).map(String.init).joined(separator: ",") + "]" }
        let changes = try ExchangeComparison(old: "a.json", new: "b.json", showsAll: false).changes(
            .care(1, body: .json(numbers(0))), .care(1, body: .json(numbers(100))))
        #expect(changes.last?.drift == .removed && changes.first?.drift == .value)
    }

    @Test func howItEndedCounts() throws {
        var failed = Interaction.care(1)
        failed.response = nil
        failed.outcome = .failed(Failure(kind: .refused, message: "no"))
        #expect(try self.changes(.care(1), failed) == ["outcome: complete failed: refused", "response: 200 -"])
        #expect(try self.changes(failed, .care(1)).last == "response: - 200")
        var interim = Interaction.care(1)
        interim.interim = [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: 0)]
        #expect(try self.changes(.care(1), interim) == ["interim:  103"])
        var trailers = Interaction.care(1)
        trailers.response?.trailers = HeaderFields(["X: 1"])
        #expect(try self.changes(.care(1), trailers) == ["response trailer header:x: - 1"])
    }
}

@Suite struct HeaderComparisonTests {
    private func changes(_ old: [String], _ new: [String], all: Bool = false) -> [FieldChange] {
        HeaderComparison.changes(HeaderFields(old), HeaderFields(new), showsAll: all)
    }

    @Test func namesHaveNoCaseAndOrderCountsWithinANameAlone() {
        #expect(self.changes(["A: 1", "b: 2"], ["B: 2", "a:1"]) == [])
        #expect(self.changes(["ETag: x"], ["etag: y"]) == [FieldChange("header:etag", "x", "y")])
    }

    @Test func volatileFieldsAreShownOnlyOnDemand() {
        let (old, new) = (["Date: a", "X-Request-Id: 1", "Content-Length: 3"], ["Date: b", "X-Request-Id: 2"])
        #expect(self.changes(old, new) == [])
        #expect(self.changes(old, new, all: true).map(\.place) == ["header:date", "header:x-request-id", "header:content-length"])
    }

    @Test func aBoundaryDoesNotCount() {
        let field = { (boundary: String) in "Content-Type: multipart/form-data; charset=x; boundary=\(boundary)" }
        #expect(self.changes([field("a")], [field("b")]) == [])
        #expect(self.changes([field("a")], [field("b")], all: true).count == 1)
        #expect(self.changes(["Content-Type: text/plain; boundary=a"], ["Content-Type: text/plain; boundary=b"]).count == 1)
    }
}

@Suite struct NamedValuesTests {
    @Test func valuesOfOneNameAreComparedInOrder() {
        #expect(
            NamedValues.changes(
                [("a", "1"), ("b", "2"), ("a", "3")], [("b", "2"), ("a", "1"), ("a", "3")], kind: "query:", showsAll: false) == [])
        let changes = NamedValues.changes(
            [("a", "1"), ("a", "2"), ("gone", "x")], [("a", "2"), ("a", "1"), ("new", "")], kind: "query:", showsAll: false)
        #expect(
            changes == [FieldChange("query:a", "1, 2", "2, 1"), FieldChange("query:gone", "x", nil), FieldChange("query:new", nil, "")])
    }

    @Test func secretsAreHiddenByTheirNames() {
        #expect(
            NamedValues.changes([("token", "1")], [("token", "2")], kind: "form:", showsAll: false) == [
                FieldChange("form:token", "(hidden)", "(hidden)")
            ])
    }

    @Test func anotherNumberOfAPlaceholderIsNoChange() {
        let (old, new) = ([("a", "Bearer {{authorization:1}}")], [("a", "Bearer {{authorization:2}}")])
        #expect(NamedValues.changes(old, new, kind: "header:", showsAll: false) == [])
        #expect(NamedValues.changes(old, new, kind: "header:", showsAll: true).count == 1)
        #expect(NamedValues.changes(old, [("a", "Bearer {{jwt:1}}")], kind: "header:", showsAll: false).count == 1)
        #expect(NamedValues.changes(old, [("a", "Basic {{authorization:1}}")], kind: "header:", showsAll: false).count == 1)
    }
}

@Suite struct PlaceholderNumbersTests {
    @Test(arguments: [
        ("", ""), ("a", "a"), ("Bearer {{authorization:12}}; x", "Bearer {{authorization:}}; x"),
        ("{{a:1}}{{b-1:2}}", "{{a:}}{{b-1:}}"), ("q=%7B%7Bapi-key%3A3%7D%7D&r=1", "q={{api-key:}}&r=1"),
        ("{{a}} {{1}} {b:1}", "{{a}} {{1}} {b:1}"),
        ("100% {", "100% {"), ("{{{a:1}}}", "{{{a:}}}"), ("a-b {{a:0001}}", "a-b {{a:}}"),
        ("id=5ec7e700-0000-4000-8000-000000000012", "id={{uuid:}}"),
    ])
    func onlyNumbersOfPlaceholdersGo(text: String, rest: String) {
        #expect(PlaceholderNumbers.leftOut(text) == rest)
        #expect(PlaceholderNumbers.leftOut(Array(text.utf8)) == Array(rest.utf8))
    }
}

@Suite struct VolatileFieldsTests {
    @Test func namesAreInLowerCase() {
        #expect(VolatileFields.names.allSatisfy { $0 == $0.lowercased() })
        #expect(VolatileFields.contains("date") && VolatileFields.contains("server-timing") && VolatileFields.contains("x-request-id"))
        #expect(!VolatileFields.contains("etag") && !VolatileFields.contains("content-type") && !VolatileFields.contains("set-cookie"))
    }
}
