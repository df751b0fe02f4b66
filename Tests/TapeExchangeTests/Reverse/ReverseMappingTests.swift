internal import CassetteModel
internal import Testing

@testable internal import TapeExchange

@Suite struct ReverseMappingTests {
    private func mapping(_ path: String) throws -> ReverseMapping {
        ReverseMapping(target: try #require(try ReverseTarget(path, method: "GET")), authority: "127.0.0.1:7070")
    }

    @Test func theOriginMeetsItsOwnNames() throws {
        let fields = HeaderFields([
            "hOST: 127.0.0.1:7070", "X-A:  1", "Origin: http://127.0.0.1:7070", "Referer: http://127.0.0.1:7070/https://b/c?d",
            "Cookie: a=b",
        ])
        #expect(
            try self.mapping("/https://a:444/").request(fields).lines
                == ["hOST: a:444", "X-A:  1", "Origin: https://a:444", "Referer: https://b/c?d", "Cookie: a=b"])
    }

    @Test(arguments: ["https://b/c", "http://127.0.0.1:7070/", "http://127.0.0.1:7070/https://", "http://127.0.0.1:7071/https://b/"])
    func aRefererThatIsNoneOfOursStays(value: String) throws {
        #expect(try self.mapping("/https://a/").request(HeaderFields(["Referer: \(value)"])).lines == ["Referer: \(value)"])
    }

    private func location(_ value: String, path: String = "/https://a/b/c?d") throws -> String? {
        let head = ResponseHead(version: .http11, status: 302, reason: Array("Found".utf8), fields: HeaderFields(["Location: \(value)"]))
        return try self.mapping(path).response(head).fields.first("location")
    }

    @Test(arguments: [
        ("/x", "http://127.0.0.1:7070/https://a/x"), ("x", "http://127.0.0.1:7070/https://a/b/x"),
        ("../../../x", "http://127.0.0.1:7070/https://a/x"), ("https://a/x", "http://127.0.0.1:7070/https://a/x"),
        ("http://b:81/x?y#z", "http://127.0.0.1:7070/http://b:81/x?y#z"), ("//c/x", "http://127.0.0.1:7070/https://c/x"),
        ("?e", "http://127.0.0.1:7070/https://a/b/c?e"), ("app://x", "app://x"),
    ])
    func aRedirectLeadsThroughTheProxyAgain(value: String, location: String) throws {
        #expect(try self.location(value) == location)
        #expect(try self.location(value, path: "/https:/a/b/c?d") == location)
    }

    /// curl and browsers take the first word for a host, however many slashes are before it.
    @Test(arguments: ["https:/b/x", "https:b/x", "HTTP:/b/x", #"https:\\b/x"#, "http:"])
    func whatLenientClientsTakeForAURLDoesNotLeadPastTheProxy(value: String) throws {
        #expect(try self.location(value) == "http://127.0.0.1:7070/\(value)")
        #expect(try self.location(value, path: "/s1:t/https://a/b") == "http://127.0.0.1:7070/s1:t/\(value)")
    }

    @Test func aRedirectToNowhereIsNoneHereEither() throws {
        #expect(try self.location("") == "")
        #expect(try self.location("httpx:/b") == "httpx:/b")
    }

    @Test func credentialsGoOnWithARedirect() throws {
        #expect(try self.location("/x", path: "/s1:t%25/https://a/b") == "http://127.0.0.1:7070/s1:t%25/https://a/x")
    }

    @Test func onlyWhatLeadsSomewhereIsChanged() throws {
        let fields = HeaderFields(["X: y", "Set-Cookie: a=b; Domain=a", "set-cookie:c=d; Path=/", "Link: </x>", "Content-Location: /x"])
        let head = ResponseHead(version: .http11, status: 200, reason: [], fields: fields)
        #expect(
            try self.mapping("/https:/a/").response(head).fields.lines == [
                "X: y", "Set-Cookie: a=b; Path=/https:/a/", "set-cookie: c=d; Path=/https:/a/", "Link: </x>", "Content-Location: /x",
            ])
        let plain = ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields(["X:  y "]))
        #expect(try self.mapping("/https://a/").response(plain) == plain)
    }

    @Test func aWholeAnswerIsChangedInItsHead() throws {
        let mapping = try self.mapping("/https://a/")
        let wire = Array("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 14\r\n\r\nLocation: /y\r\n".utf8)
        #expect(
            String(decoding: mapping.response(wire: wire, clientVersion: .http11), as: UTF8.self)
                == "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:7070/https://a/x\r\nContent-Length: 14\r\n\r\nLocation: /y\r\n")
        let plain = Array("HTTP/1.1 200 OK\r\nX:  y \r\n\r\n".utf8)
        #expect(mapping.response(wire: plain, clientVersion: .http11) == plain)
    }
}
