import CassetteModel
import ClientCapabilities
import Testing
@testable import Wiretape

@Suite struct HTTPHeadersTests {
    @Test func duplicatesAndSpellingAreKept() {
        let headers = HTTPSession.Headers(HeaderFields(["Set-Cookie: a=1", "ETag: \"x\"", "set-cookie: b=2"]))
        #expect(headers.values(for: "SET-COOKIE") == ["a=1", "b=2"])
        #expect(headers.headerFields.lines == ["Set-Cookie: a=1", "ETag: \"x\"", "set-cookie: b=2"])
    }

    @Test func aLiteralKeepsItsOrder() {
        let headers: HTTPSession.Headers = ["b": "1", "a": "2", "B": "3"]
        #expect(headers.map(\.description) == ["b: 1", "a: 2", "B: 3"])
        #expect(
            headers == [
                HTTPSession.Header(name: "b", value: "1"), HTTPSession.Header(name: "a", value: "2"),
                HTTPSession.Header(name: "B", value: "3"),
            ])
        #expect(headers.headers.count == 3)
    }

    @Test func aDictionaryIsSorted() {
        let dictionary = ["c": "3", "A": "1", "b": "2"]
        #expect(HTTPSession.Headers(dictionary).map(\.name) == ["A", "b", "c"])
    }

    @Test func updatingTakesTheFirstPlaceAndRemovesTheOthers() {
        var headers: HTTPSession.Headers = ["a": "1", "B": "2", "A": "3", "c": "4"]
        headers.update(name: "A", value: "5")
        #expect(headers.description == "A: 5\nB: 2\nc: 4")
        headers.update(.accept("x/y"))
        #expect(headers.last == .accept("x/y"))
        headers.remove(name: "b")
        #expect(headers.map(\.name) == ["A", "c", "Accept"])
    }

    @Test func addingNeverReplaces() {
        var headers: HTTPSession.Headers = ["a": "1"]
        headers.add(name: "A", value: "2")
        headers.add(.cookie("x=y"))
        #expect(headers.values(for: "a") == ["1", "2"])
        #expect(headers.value(for: "A") == "1")
        #expect(headers.contains(name: "COOKIE") && !headers.contains(name: "cook"))
    }

    @Test func aSubscriptReadsUpdatesAndRemoves() {
        var headers: HTTPSession.Headers = ["a": "1", "a": "2"]
        #expect(headers["A"] == "1")
        headers["A"] = "3"
        #expect(headers.values(for: "a") == ["3"])
        headers["a"] = nil
        #expect(headers.isEmpty && headers["a"] == nil)
    }

    @Test func sortingKeepsTheOrderOfOneName() {
        var headers: HTTPSession.Headers = ["b": "2", "a": "z", "B": "1", "A": "y"]
        #expect(headers.sorted().description == "a: z\nA: y\nb: 2\nB: 1")
        headers.sort()
        #expect(headers.first?.value == "z")
    }

    @Test func aDictionaryJoinsDuplicates() {
        let headers: HTTPSession.Headers = ["Accept": "a/b", "Cookie": "a=1", "accept": "c/d", "cookie": "b=2"]
        #expect(headers.dictionary == ["Accept": "a/b, c/d", "Cookie": "a=1; b=2"])
    }

    @Test func bytesOutsideUTF8AreLatin1() {
        var fields = HeaderFields()
        fields.append(line: Array("A: caf".utf8) + [0xE9])
        fields.append(line: Array("B: 한".utf8))
        #expect(HTTPSession.Headers(fields).map(\.value) == ["café", "한"])
    }

    @Test(arguments: ["", "a", "a b\tc", "한글", "é"]) func valuesThatCanBeSentAreLetPass(value: String) throws {
        let headers: HTTPSession.Headers = ["X-A": value]
        #expect(try headers.validated() == headers)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\r", "\0", "\u{1}", "\u{7F}"]) func valuesThatEndTheFieldAreRefused(value: String) {
        #expect {
            try ([HTTPSession.Header(name: "X-A", value: "fine"), HTTPSession.Header(name: "X-B", value: value)] as HTTPSession.Headers)
                .validated()
        } throws: {
            guard let error = $0 as? HTTPSession.HeaderError else { return false }
            return error.name == "X-B" && error.message.contains("\"X-B\"") && !error.message.contains("Evil")
        }
    }

    @Test(arguments: ["", "a b", "a:", "a\r\nb", "한", "(a)"]) func namesThatAreNoTokensAreRefused(name: String) {
        #expect(throws: HTTPSession.HeaderError.self) {
            try ([HTTPSession.Header(name: name, value: "")] as HTTPSession.Headers).validated()
        }
    }
}

@Suite struct HTTPHeaderDefaultsTests {
    #if canImport(FoundationNetworking)
    @Test func codingsAreThoseOfTheLibcurl() {
        func codings(_ known: Set<String>) -> [String] {
            HTTPSession.Header.codings(LibcurlFacts(version: "8.0.0", protocols: [], hasHTTP2: true, contentCodings: known))
        }
        #expect(codings(["zstd", "deflate", "gzip", "br"]) == ["br", "gzip", "deflate", "zstd"])
        #expect(codings(["gzip"]) == ["gzip"] && codings([]).isEmpty)
        #expect(HTTPSession.Header.codings(nil) == ["gzip", "deflate"])
        // The libcurl of this process is known, since its URLSession uses it.
        #expect(PlatformReading.libcurl != nil)
    }
    #endif

    @Test func weightsFallAndStayAboveNothing() {
        #expect(HTTPSession.Header.weighted([]) == "")
        let twelve = HTTPSession.Header.weighted(Array(repeating: "a", count: 12))
        #expect(twelve.hasPrefix("a;q=1.0, a;q=0.9, ") && twelve.hasSuffix("a;q=0.1, a;q=0.1, a;q=0.1"))
        #expect(!HTTPSession.Header.defaultAcceptLanguage.value.isEmpty)
    }

    @Test func theAgentIsTheAppAndTheLibrary() {
        #expect(HTTPSession.Header.userAgent(of: [:]) == "Wiretape/1")
        #expect(HTTPSession.Header.userAgent(of: ["CFBundleExecutable": "Pets"]) == "Pets Wiretape/1")
        #expect(
            HTTPSession.Header.userAgent(of: ["CFBundleExecutable": "Pets", "CFBundleShortVersionString": "2.1"]) == "Pets/2.1 Wiretape/1")
        #expect(HTTPSession.Header.userAgent(of: ["CFBundleExecutable": "My (Pets)\r\n"]) == "My--Pets--- Wiretape/1")
        #expect(HTTPSession.Header.userAgent(of: ["CFBundleExecutable": ""]) == "Wiretape/1")
    }
}

@Suite struct HTTPHeaderErrorTests {
    @Test func theTextNamesTheFieldOnOneLine() {
        #expect {
            try ([HTTPSession.Header(name: "a\n\"b", value: "")] as HTTPSession.Headers).validated()
        } throws: {
            "\($0)" == "\"a\\n\\\"b\" is not a header field name: use letters, digits and \"-\""
        }
    }
}

@Suite struct HTTPHeaderTests {
    @Test func makersNameTheirFields() {
        let made: [(HTTPSession.Header, String)] = [
            (.accept("a/b"), "Accept: a/b"), (.acceptCharset("utf-8"), "Accept-Charset: utf-8"),
            (.acceptEncoding("br"), "Accept-Encoding: br"), (.acceptLanguage("ko"), "Accept-Language: ko"),
            (.authorization("Digest x"), "Authorization: Digest x"), (.authorization(bearerToken: "t"), "Authorization: Bearer t"),
            (.cacheControl("no-store"), "Cache-Control: no-store"), (.contentDisposition("inline"), "Content-Disposition: inline"),
            (.contentEncoding("gzip"), "Content-Encoding: gzip"), (.contentType("a/b"), "Content-Type: a/b"),
            (.cookie("a=b"), "Cookie: a=b"),
            (.ifMatch("*"), "If-Match: *"), (.ifNoneMatch("*"), "If-None-Match: *"), (.origin("null"), "Origin: null"),
            (.range("bytes=0-1"), "Range: bytes=0-1"), (.referer("a"), "Referer: a"), (.userAgent("u"), "User-Agent: u"),
            (.websocketProtocol("chat"), "Sec-WebSocket-Protocol: chat"),
        ]
        for (header, line) in made { #expect(header.description == line) }
    }

    /// The examples of RFC 7617, 2 and 2.1.
    @Test func basicCredentialsAreUTF8InBase64() {
        #expect(
            HTTPSession.Header.authorization(username: "Aladdin", password: "open sesame").value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(HTTPSession.Header.authorization(username: "test", password: "123£").value == "Basic dGVzdDoxMjPCow==")
    }

    @Test func namesAreComparedWithoutRegardToASCIICase() {
        #expect(HTTPSession.Header(name: "ETag", value: "").isNamed("etag"))
        #expect(!HTTPSession.Header(name: "ETag", value: "").isNamed("etags"))
        #expect(!HTTPSession.Header(name: "[", value: "").isNamed("{"))
    }
}

@Suite struct HTTPHeadersChangeTests {
    private let headers: HTTPSession.Headers = ["B": "1", "a": "2", "B": "3"]
    private let view: HTTPSession.Headers = ["A": "2", "B": "1, 3"]

    @Test func unchangedFieldsStay() { #expect(self.headers.changed(from: self.view, to: self.view) == self.headers) }

    @Test func changesKeepTheirPlaceAndTheSpelling() {
        #expect(self.headers.changed(from: self.view, to: ["A": "9", "B": "1, 3"]) == ["B": "1", "a": "9", "B": "3"])
        #expect(self.headers.changed(from: self.view, to: ["A": "2", "B": "7"]) == ["B": "7", "a": "2"])
    }

    @Test func removedFieldsGoAndNewOnesAreAppendedByName() {
        #expect(self.headers.changed(from: self.view, to: ["Z": "1", "A": "2", "C": "3"]) == ["a": "2", "C": "3", "Z": "1"])
    }
}

@Suite struct HTTPHeadersDefaultsTests {
    @Test func theDefaultIsThreeFieldsThatCanBeSent() throws {
        #expect(HTTPSession.Headers.default.map(\.name) == ["Accept-Encoding", "Accept-Language", "User-Agent"])
        #expect(try HTTPSession.Headers.default.validated() == .default)
    }

    @Test func onlyMissingNamesAreAdded() {
        let own: HTTPSession.Headers = ["accept-encoding": "identity", "X": "1"]
        let defaults: HTTPSession.Headers = ["Accept-Encoding": "br", "A": "1", "A": "2"]
        #expect(own.adding(missing: defaults).description == "accept-encoding: identity\nX: 1\nA: 1\nA: 2")
    }
}
