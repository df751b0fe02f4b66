import CassetteModel
import Testing

@testable import WiretapeCLI

@Suite struct LiveRequestTests {
    private func make(
        _ method: String = "GET", _ url: String, _ headers: [String] = ["Host: a"], body: Body? = nil, target: String? = nil,
        unsafe: Bool = false
    ) throws -> LiveRequest {
        let request = RecordedRequest(method: method, url: url, target: target, headers: HeaderFields(headers), body: body)
        return try LiveRequest(request, allowsUnsafe: unsafe) { $0.content.inlineBytes ?? [] }
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
            String(decoding: request.bytes, as: UTF8.self)
                == "GET http://h:8080/p?q#f HTTP/1.1\r\nHost: h:8080\r\nX: 1\r\nConnection: close\r\n\r\n")
        #expect(!request.isSecure && request.host == "h" && request.authority == "h:8080")
    }

    @Test func inATunnelThePathIs() throws {
        let request = try self.make("GET", "https://h?q", [])
        #expect(String(decoding: request.bytes, as: UTF8.self) == "GET /?q HTTP/1.1\r\nHost: h:443\r\nConnection: close\r\n\r\n")
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

    @Test func callsOfGRPCAreLeftOut() throws {
        let request = RecordedRequest(
            method: "POST", url: "http://h/s.S/M", version: .http2, headers: HeaderFields(["content-type: application/grpc+proto"]))
        #expect(try self.reason { try LiveRequest(request, allowsUnsafe: true) { _ in [] } }.hasPrefix("gRPC needs HTTP/2"))
    }

    @Test func aBodyGetsANewLength() throws {
        let body = Body(size: 3, content: .text(Array("abc".utf8)))
        let request = try self.make("POST", "http://h/", ["Host: h", "Transfer-Encoding: chunked"], body: body, unsafe: true)
        #expect(
            String(decoding: request.bytes, as: UTF8.self)
                == "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
    }

    @Test func requestThatCannotBeSentHasAReason() throws {
        #expect(try self.reason { try self.make("POST", "http://h/") }.contains("--unsafe-methods"))
        #expect(try self.reason { try self.make("CONNECT", "https://h/", unsafe: true) }.contains("tunnel"))
        #expect(try self.reason { try self.make("GET", "http://h/", ["Upgrade: websocket"]) }.contains("protocol"))
        var inHTTP2 = RecordedRequest(method: "GET", url: "https://h/", version: .http2)
        inHTTP2.connectProtocol = "websocket"
        #expect(try self.reason { try LiveRequest(inHTTP2, allowsUnsafe: true) { _ in [] } }.contains("protocol"))
        #expect(try self.reason { try self.make("GET", "ftp://h/") }.contains("http"))
        #expect(
            try self.reason { try self.make("GET", "http://h/", body: Body(size: 1, isComplete: false, content: .text([65]))) }.contains(
                "cut short"))
        #expect(try self.reason { try self.make("GET", "http://h/", body: Body(size: 100 << 20, content: .empty)) }.contains("more than"))
    }

    @Test(arguments: ["http://h/?k=%7B%7Bapi-key:1%7D%7D", "http://h/?k={{access_token:12}}"])
    func aPlaceholderIsNotSent(url: String) throws {
        #expect(try self.reason { try self.make("GET", url) }.contains("whose value is not known"))
        #expect(
            try self.reason { try self.make("GET", "http://h/", ["Cookie: a={{cookie:1}}"]) }.contains("--fill cookie:1=NAME takes it"))
        #expect(try self.reason { try self.make("GET", "http://h/?k={{template}}") } == "")
        let body = Body(size: 11, content: .text(Array("a {{jwt:1}}".utf8)))
        #expect(try self.reason { try self.make("POST", "http://h/", body: body, unsafe: true) }.contains("jwt:1"))
        let coded = Body(size: 11, codings: [.gzip(nil, header: .plain)], content: .text(Array("a {{jwt:1}}".utf8)))
        #expect(
            try self.reason {
                _ = try LiveRequest(
                    RecordedRequest(method: "POST", url: "http://h/", headers: HeaderFields(["Host: h"]), body: coded), allowsUnsafe: true
                ) { _ in [31, 139, 8] }
                return try self.make("GET", "http://h/")
            }.contains("compressed"))
    }

    @Test func aKnownValueTakesThePlaceOfEach() throws {
        let fill = try PlaceholderFill([
            PlaceholderFill.Source("token:1=T"), PlaceholderFill.Source("name:2=N"),
        ]) { ["T": Array("a/b c".utf8), "N": Array("\"x\"".utf8)][$0] }
        func bytes(_ type: String, _ content: String) throws -> String {
            let request = RecordedRequest(
                method: "POST", url: "http://h/?a=%7B%7Btoken:1%7D%7D&b={{token:1}}",
                headers: HeaderFields(["Host: h", "Authorization: Bearer {{token:1}}", "Content-Type: \(type)"]),
                body: Body(size: content.utf8.count, content: .text(Array(content.utf8))))
            let live = try LiveRequest(request, allowsUnsafe: true, fill: fill) { $0.content.inlineBytes ?? [] }
            return String(decoding: live.bytes, as: UTF8.self)
        }
        let json = try bytes("application/json; charset=utf-8", #"{"n":"{{name:2}}"}"#)
        #expect(json.hasPrefix("POST http://h/?a=a%2Fb%20c&b=a%2Fb%20c HTTP/1.1\r\n"), "\(json)")
        #expect(json.contains("Authorization: Bearer a/b c\r\n") && json.contains("Content-Length: 13\r\n"), "\(json)")
        #expect(json.hasSuffix(#"{"n":"\"x\""}"#), "\(json)")
        #expect(try bytes("application/x-www-form-urlencoded", "n=%7B%7Bname:2%7D%7D&m={{name:2}}").hasSuffix("n=%22x%22&m=%22x%22"))
        #expect(try bytes("text/plain", "{{name:2}}").hasSuffix("\r\n\r\n\"x\""))
        #expect(throws: LiveRequest.LeftOut.self) { try bytes("text/plain", "{{name:1}}") }
    }
}
