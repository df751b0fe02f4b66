import CassetteModel
import Testing
import Wiretape

@Suite struct HTTPHeadersTests {
    @Test func duplicatesAndSpellingAreKept() {
        let headers = HTTPHeaders(HeaderFields(["Set-Cookie: a=1", "ETag: \"x\"", "set-cookie: b=2"]))
        #expect(headers.values(for: "SET-COOKIE") == ["a=1", "b=2"])
        #expect(headers.headerFields.lines == ["Set-Cookie: a=1", "ETag: \"x\"", "set-cookie: b=2"])
    }

    @Test func aLiteralKeepsItsOrder() {
        let headers: HTTPHeaders = ["b": "1", "a": "2", "B": "3"]
        #expect(headers.map(\.description) == ["b: 1", "a: 2", "B: 3"])
        #expect(headers == [HTTPHeader(name: "b", value: "1"), HTTPHeader(name: "a", value: "2"), HTTPHeader(name: "B", value: "3")])
        #expect(headers.headers.count == 3)
    }

    @Test func aDictionaryIsSorted() {
        let dictionary = ["c": "3", "A": "1", "b": "2"]
        #expect(HTTPHeaders(dictionary).map(\.name) == ["A", "b", "c"])
    }

    @Test func updatingTakesTheFirstPlaceAndRemovesTheOthers() {
        var headers: HTTPHeaders = ["a": "1", "B": "2", "A": "3", "c": "4"]
        headers.update(name: "A", value: "5")
        #expect(headers.description == "A: 5\nB: 2\nc: 4")
        headers.update(.accept("x/y"))
        #expect(headers.last == .accept("x/y"))
        headers.remove(name: "b")
        #expect(headers.map(\.name) == ["A", "c", "Accept"])
    }

    @Test func addingNeverReplaces() {
        var headers: HTTPHeaders = ["a": "1"]
        headers.add(name: "A", value: "2")
        headers.add(.cookie("x=y"))
        #expect(headers.values(for: "a") == ["1", "2"])
        #expect(headers.value(for: "A") == "1")
        #expect(headers.contains(name: "COOKIE") && !headers.contains(name: "cook"))
    }

    @Test func aSubscriptReadsUpdatesAndRemoves() {
        var headers: HTTPHeaders = ["a": "1", "a": "2"]
        #expect(headers["A"] == "1")
        headers["A"] = "3"
        #expect(headers.values(for: "a") == ["3"])
        headers["a"] = nil
        #expect(headers.isEmpty && headers["a"] == nil)
    }

    @Test func sortingKeepsTheOrderOfOneName() {
        var headers: HTTPHeaders = ["b": "2", "a": "z", "B": "1", "A": "y"]
        #expect(headers.sorted().description == "a: z\nA: y\nb: 2\nB: 1")
        headers.sort()
        #expect(headers.first?.value == "z")
    }

    @Test func aDictionaryJoinsDuplicates() {
        let headers: HTTPHeaders = ["Accept": "a/b", "Cookie": "a=1", "accept": "c/d", "cookie": "b=2"]
        #expect(headers.dictionary == ["Accept": "a/b, c/d", "Cookie": "a=1; b=2"])
    }

    @Test func bytesOutsideUTF8AreLatin1() {
        var fields = HeaderFields()
        fields.append(line: Array("A: caf".utf8) + [0xE9])
        fields.append(line: Array("B: 한".utf8))
        #expect(HTTPHeaders(fields).map(\.value) == ["café", "한"])
    }

    @Test(arguments: ["", "a", "a b\tc", "한글", "é"]) func valuesThatCanBeSentAreLetPass(value: String) throws {
        let headers: HTTPHeaders = ["X-A": value]
        #expect(try headers.validated() == headers)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\r", "\0", "\u{1}", "\u{7F}"]) func valuesThatEndTheFieldAreRefused(value: String) {
        #expect {
            try ([HTTPHeader(name: "X-A", value: "fine"), HTTPHeader(name: "X-B", value: value)] as HTTPHeaders).validated()
        } throws: {
            guard let error = $0 as? HTTPHeaderError else { return false }
            return error.name == "X-B" && error.message.contains("\"X-B\"") && !error.message.contains("Evil")
        }
    }

    @Test(arguments: ["", "a b", "a:", "a\r\nb", "한", "(a)"]) func namesThatAreNoTokensAreRefused(name: String) {
        #expect(throws: HTTPHeaderError.self) { try ([HTTPHeader(name: name, value: "")] as HTTPHeaders).validated() }
    }
}
