internal import CassetteModel
@testable internal import TapeExchange
internal import Testing

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
    func aForeignRefererStays(value: String) throws {
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

    /// curl and browsers take the first segment for a host, regardless of the number of slashes before it.
    @Test(arguments: ["https:/b/x", "https:b/x", "HTTP:/b/x", #"https:\\b/x"#, "http:"])
    func pathsThatLenientClientsReadAsURLsStayWithinTheProxy(value: String) throws {
        #expect(try self.location(value) == "http://127.0.0.1:7070/\(value)")
        #expect(try self.location(value, path: "/s1:t/https://a/b") == "http://127.0.0.1:7070/s1:t/\(value)")
    }

    @Test func anInvalidRedirectStaysInvalid() throws {
        #expect(try self.location("") == "")
        #expect(try self.location("httpx:/b") == "httpx:/b")
    }

    @Test func credentialsGoOnWithARedirect() throws {
        #expect(try self.location("/x", path: "/s1:t%25/https://a/b") == "http://127.0.0.1:7070/s1:t%25/https://a/x")
    }

    @Test func onlyWhatLeadsSomewhereIsChanged() throws {
        let fields = HeaderFields(["X: y", "Set-Cookie: a=b; Domain=a", "set-cookie:c=d; Path=/", "X-Link: </x>", "Content-Type: /x"])
        let head = ResponseHead(version: .http11, status: 200, reason: [], fields: fields)
        #expect(
            try self.mapping("/https:/a/").response(head).fields.lines == [
                "X: y", "Set-Cookie: a=b; Path=/https:/a/", "set-cookie: c=d; Path=/https:/a/", "X-Link: </x>", "Content-Type: /x",
            ])
        let plain = ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields(["X:  y "]))
        #expect(try self.mapping("/https://a/").response(plain) == plain)
    }

    @Test(arguments: [
        ("Destination: http://127.0.0.1:7070/https://a/b", "Destination: https://a/b"),
        ("Destination: http://127.0.0.1:7070/https://a/보 c", "Destination: https://a/%EB%B3%B4%20c"),
        ("If: <http://127.0.0.1:7070/https://a/보> ([\"1\"])", "If: <https://a/%EB%B3%B4> ([\"1\"])"),
        ("destination: /https://a/b?c", "destination: https://a/b?c"), ("Destination: /b", "Destination: /b"),
        ("Destination: https://a/b", "Destination: https://a/b"),
        ("Content-Location: http://127.0.0.1:7070/https://a/b", "Content-Location: https://a/b"),
        (
            "Link: <http://127.0.0.1:7070/https://a/b>; rel=next, <https://c/>; title=\"<http://127.0.0.1:7070/https://a/>\"",
            "Link: <https://a/b>; rel=next, <https://c/>; title=\"<http://127.0.0.1:7070/https://a/>\""
        ),
        ("If: <http://127.0.0.1:7070/https://a/b> (<opaquelocktoken:1>)", "If: <https://a/b> (<opaquelocktoken:1>)"),
        ("X-Ms-Copy-Source: http://127.0.0.1:7070/https://a/b?sig=c", "X-Ms-Copy-Source: https://a/b?sig=c"),
        ("Operation-Location: http://127.0.0.1:7070/https://a/b", "Operation-Location: https://a/b"),
        ("X-Vault-Location: http://127.0.0.1:7070/https://a/b", "X-Vault-Location: https://a/b"),
        ("X-Place: http://127.0.0.1:7070/https://a/b", "X-Place: http://127.0.0.1:7070/https://a/b"),
    ])
    func theOriginMeetsItsOwnURLs(line: String, mapped: String) throws {
        #expect(try self.mapping("/https://a/").request(HeaderFields([line])).lines == [mapped])
    }

    @Test(arguments: [
        ("Content-Location: x", "Content-Location: http://127.0.0.1:7070/https://a/b/x"),
        (
            "Link: </x>; rel=next,<?p=2>;rel=\"a,<b>\"",
            "Link: <http://127.0.0.1:7070/https://a/x>; rel=next,<http://127.0.0.1:7070/https://a/b/c?p=2>;rel=\"a,<b>\""
        ),
        ("Link: <mailto:a@b>; rel=author", "Link: <mailto:a@b>; rel=author"), ("Link: <x", "Link: <x"),
        ("Refresh: 5; url=/x", "Refresh: 5; url=http://127.0.0.1:7070/https://a/x"),
        ("Refresh: 0;URL='https://c/x'", "Refresh: 0;URL='http://127.0.0.1:7070/https://c/x'"),
        ("Refresh: 0, \"/x\" y", "Refresh: 0, \"http://127.0.0.1:7070/https://a/x\" y"), ("Refresh: 5", "Refresh: 5"),
        ("Refresh: 5; ", "Refresh: 5; "), ("Refresh: 5; url=", "Refresh: 5; url="),
        ("Operation-Location: https://c/ops/1?v=2", "Operation-Location: http://127.0.0.1:7070/https://c/ops/1?v=2"),
        ("operation-location: /ops/1", "operation-location: http://127.0.0.1:7070/https://a/ops/1"),
        ("Azure-AsyncOperation: https://c/ops/1", "Azure-AsyncOperation: http://127.0.0.1:7070/https://c/ops/1"),
        ("X-Goog-Upload-URL: https://c/up?id=1", "X-Goog-Upload-URL: http://127.0.0.1:7070/https://c/up?id=1"),
        ("SourceMap: x.js.map", "SourceMap: http://127.0.0.1:7070/https://a/b/x.js.map"),
        ("SourceMap: data:application/json,{}", "SourceMap: data:application/json,{}"),
        ("X-Vault-Location: HTTPS://c/x", "X-Vault-Location: http://127.0.0.1:7070/https://c/x"),
        ("X-Vault-Location: /shelf", "X-Vault-Location: /shelf"), ("X-Vault-Location: httpserver", "X-Vault-Location: httpserver"),
        ("X-Place: https://c/x", "X-Place: https://c/x"),
    ])
    func theClientMeetsURLsThatLeadThroughTheProxy(line: String, mapped: String) throws {
        for status in [200, 201, 202, 302] {
            let head = ResponseHead(version: .http11, status: status, reason: [], fields: HeaderFields([line]))
            #expect(try self.mapping("/https://a/b/c?d").response(head).fields.lines == [mapped])
        }
    }

    @Test(arguments: [201, 202, 302]) func aLocationIsMappedWithAnyStatus(status: Int) throws {
        let head = ResponseHead(version: .http11, status: status, reason: [], fields: HeaderFields(["Location: /x"]))
        #expect(
            try self.mapping("/https://a/").response(head).fields.lines == ["Location: http://127.0.0.1:7070/https://a/x"])
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

@Suite struct ReverseCookieTests {
    private func mapped(_ value: String, originForm: String = "/a/b?c=/d") -> String {
        String(decoding: ReverseCookie(prefix: "/https://h", originForm: originForm).mapped(Array(value.utf8)[...]), as: UTF8.self)
    }

    @Test(arguments: [
        ("a=b", "a=b; Path=/https://h/a"),
        ("a=b; Path=/", "a=b; Path=/https://h/"),
        ("a=b; path = /x ; HttpOnly", "a=b; HttpOnly; Path=/https://h/x"),
        ("a=b; Domain=h; Secure; SameSite=Lax; Max-Age=9", "a=b; SameSite=Lax; Max-Age=9; Path=/https://h/a"),
        (
            "a=b;SECURE;DOMAIN=.h;PATH=/;Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            "a=b;Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/https://h/"
        ),
        ("a=b; Path=/x; Path=/y", "a=b; Path=/https://h/y"), ("a=b; Path=/x; Path=y", "a=b; Path=/https://h/a"),
        ("a=b; Path=", "a=b; Path=/https://h/a"), ("secure=b; Path=/", "secure=b; Path=/https://h/"), ("", "; Path=/https://h/a"),
    ])
    func itComesBackToItsOriginAlone(value: String, mapped: String) { #expect(self.mapped(value) == mapped) }

    @Test(arguments: [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b/c", "/a/b"), ("/?x=/y/z", "/"), ("*", "/")])
    func thePathOfACookieWithoutOne(originForm: String, path: String) {
        #expect(self.mapped("a=b", originForm: originForm) == "a=b; Path=/https://h\(path)")
    }
}

@Suite struct URLReferenceTests {
    private func resolved(_ reference: String, target: String = "/b/c/d;p?q", scheme: String = "http") -> String? {
        URLReference(scheme: scheme, authority: "a", target: target).resolved(Array(reference.utf8)[...]).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// RFC 3986, 5.4: only its references to http.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ])
    func theExamplesOfTheStandard(reference: String, url: String) { #expect(self.resolved(reference) == url) }

    @Test func absoluteReferenceStaysAbsolute() {
        #expect(self.resolved("https://b:8/c?d#e") == "https://b:8/c?d#e")
        #expect(self.resolved("HTTP://B") == "http://B/")
        #expect(self.resolved("https://b?c") == "https://b/?c")
        #expect(self.resolved("//b/c", scheme: "https") == "https://b/c")
    }

    /// A client that removes segments of `/https://host/../x` would lose the host.
    @Test func noDotSegmentIsLeft() {
        #expect(self.resolved("https://b/../../c") == "https://b/c")
        #expect(self.resolved("/%2e%2E/x/.%2e/y") == "http://a/y")
        #expect(self.resolved("/...%2e/x") == "http://a/...%2e/x")
    }

    @Test(arguments: ["mailto:a@b", "app://open/x", "javascript:1", "http:g", "https:/g", "x-1+2.3:y"])
    func otherSchemesAreNotTouched(reference: String) { #expect(self.resolved(reference) == nil) }

    @Test func textThatOnlyLooksLikeASchemeIsAPath() {
        #expect(self.resolved("1a:b") == "http://a/b/c/1a:b")
        #expect(self.resolved("./a:b") == "http://a/b/c/a:b")
        #expect(self.resolved("a/b:c") == "http://a/b/c/a/b:c")
    }

    @Test func bytesOutsideOfURLsStay() {
        let raw: [UInt8] = [0x2F, 0xE9, 0x20, 0x22]
        #expect(URLReference(scheme: "https", authority: "a", target: "/").resolved(raw[...]) == Array("https://a".utf8) + raw)
    }
}
