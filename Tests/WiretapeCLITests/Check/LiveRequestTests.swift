import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct LiveRequestTests {
    private func make(
        _ method: String = "GET", _ url: String, _ headers: [String] = ["Host: a"], body: Body? = nil, target: String? = nil,
        unsafe: Bool = false
    ) throws -> LiveRequest {
        let request = RecordedRequest(method: method, url: url, target: target, headers: HeaderFields(headers), body: body)
        return try LiveRequest(request, allowsUnsafe: unsafe) { $0.content.inlineOctets ?? [] }
    }

    private func reason(_ make: () throws -> LiveRequest) throws -> String {
        do {
            _ = try make()
            return ""
        } catch let error as LiveRequest.LeftOut {
            return error.reason
        }
    }

    @Test func inClearTheURLIsTheTarget() throws {
        let request = try self.make(
            "GET", "http://h:8080/p?q#f", ["Host: h:8080", "X: 1", "Connection: keep-alive", "Proxy-Authorization: x", "TE: trailers"])
        #expect(
            String(decoding: request.octets, as: UTF8.self)
                == "GET http://h:8080/p?q#f HTTP/1.1\r\nHost: h:8080\r\nX: 1\r\nConnection: close\r\n\r\n")
        #expect(!request.isSecure && request.host == "h" && request.authority == "h:8080")
    }

    @Test func inATunnelThePathIs() throws {
        let request = try self.make("GET", "https://h?q", [])
        #expect(String(decoding: request.octets, as: UTF8.self) == "GET /?q HTTP/1.1\r\nHost: h:443\r\nConnection: close\r\n\r\n")
        #expect(request.isSecure && request.authority == "h:443")
    }

    @Test(arguments: [
        ("http://[::1]:81/", "::1", "[::1]:81"), ("https://[::1]/", "::1", "[::1]:443"), ("http://u:p@h/", "h", "h:80"),
        ("HTTPS://H:1", "H", "H:1"),
    ])
    func theAuthorityIsTakenApart(url: String, host: String, authority: String) throws {
        let request = try self.make("GET", url)
        #expect(request.host == host && request.authority == authority)
    }

    @Test func aBodyGetsItsLengthAnew() throws {
        let body = Body(size: 3, content: .text(Array("abc".utf8)))
        let request = try self.make("POST", "http://h/", ["Host: h", "Transfer-Encoding: chunked"], body: body, unsafe: true)
        #expect(
            String(decoding: request.octets, as: UTF8.self)
                == "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
    }

    @Test func whatCannotBeSentSaysWhy() throws {
        #expect(try self.reason { try self.make("POST", "http://h/") }.contains("--unsafe-methods"))
        #expect(try self.reason { try self.make("CONNECT", "https://h/", unsafe: true) }.contains("tunnel"))
        #expect(try self.reason { try self.make("GET", "http://h/", ["Upgrade: websocket"]) }.contains("protocol"))
        #expect(try self.reason { try self.make("GET", "ftp://h/") }.contains("http"))
        #expect(
            try self.reason { try self.make("GET", "http://h/", body: Body(size: 1, isComplete: false, content: .text([65]))) }.contains(
                "cut short"))
        #expect(try self.reason { try self.make("GET", "http://h/", body: Body(size: 100 << 20, content: .empty)) }.contains("more than"))
    }

    @Test(arguments: ["http://h/?k=%7B%7Bapi-key:1%7D%7D", "http://h/?k={{access_token:12}}"])
    func aPlaceholderIsNotSent(url: String) throws {
        #expect(try self.reason { try self.make("GET", url) }.contains("placeholders"))
        #expect(try self.reason { try self.make("GET", "http://h/", ["Cookie: a={{cookie:1}}"]) }.contains("placeholders"))
        #expect(try self.reason { try self.make("GET", "http://h/?k={{template}}") } == "")
    }
}
