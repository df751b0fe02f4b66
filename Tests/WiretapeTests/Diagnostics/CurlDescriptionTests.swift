import CassetteModel
import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct CurlDescriptionTests {
    private func command(_ method: String, _ url: String = "https://h/p", _ headers: HTTPSession.Headers = [:], _ body: RequestBody = .none)
        throws
        -> String
    {
        HTTPSession.CurlDescription(TransportRequest(method: method, url: try url.asURL(), headers: headers, body: body)).command
    }

    @Test func commands() throws {
        #expect(try self.command("GET") == "curl \\\n  'https://h/p'")
        #expect(try self.command("HEAD") == "curl \\\n  --head \\\n  'https://h/p'")
        #expect(try self.command("POST") == "curl \\\n  -X 'POST' \\\n  'https://h/p'")
        #expect(
            try self.command(
                "POST", "https://h/p", ["Content-Type": "application/json", "X-Empty": "", "Content-Length": "7"],
                .data(Data("{\"a\":1}".utf8)))
                    == """
                    curl \\
                      -H 'Content-Type: application/json' \\
                      -H 'X-Empty;' \\
                      --data-raw '{"a":1}' \\
                      'https://h/p'
                    """)
        #expect(
            try self.command("PUT", "https://h/../a?k[]=1", ["Accept-Encoding": "br"], .file(URL(fileURLWithPath: "/tmp/f"), size: 1))
                == """
                curl \\
                  -X 'PUT' \\
                  -H 'Accept-Encoding: br' \\
                  -H 'Content-Type:' \\
                  --compressed \\
                  --data-binary '@/tmp/f' \\
                  --path-as-is \\
                  'https://h/../a?k%5B%5D=1'
                """)
    }

    @Test func secretsAreTakenOut() throws {
        let headers: HTTPSession.Headers = [
            "Authorization": "Bearer abcdefgh1jklmnop", "Cookie": "session=qrstuvwxyz", "Content-Type": "application/json",
        ]
        let body = RequestBody.data(Data("{\"password\":\"hunter2hunter2\",\"again\":\"abcdefgh1jklmnop\"}".utf8))
        let request = TransportRequest(method: "POST", url: try "https://h/p?token=ABCD3FGH&x=1".asURL(), headers: headers, body: body)
        let hidden = HTTPSession.CurlDescription(request).command
        for secret in ["abcdefgh1jklmnop", "qrstuvwxyz", "hunter2hunter2", "ABCD3FGH"] { #expect(!hidden.contains(secret), "\(hidden)") }
        #expect(hidden.contains("--globoff") && hidden.contains("x=1"))
        let shown = HTTPSession.CurlDescription(request, redaction: nil).command
        for secret in ["abcdefgh1jklmnop", "qrstuvwxyz", "hunter2hunter2", "ABCD3FGH"] { #expect(shown.contains(secret)) }
    }

    @Test func secretsInAFormAreTakenOut() throws {
        var form = FormData()
        try form.append("choco", name: "name")
        try form.append("hunter2hunter2", name: "password")
        let request = TransportRequest(method: "POST", url: try "https://h/p".asURL(), headers: ["Content-Type": form.contentType])
        let command = HTTPSession.CurlDescription(request, form: form).command
        #expect(command.contains("--form-string 'name=choco'") && command.contains("--form-string 'password={{"))
        #expect(!command.contains("hunter2") && !command.contains("boundary"))
        #expect(HTTPSession.CurlDescription(request, form: form, redaction: nil).command.contains("'password=hunter2hunter2'"))
        // If curl has no argument for a part, the whole body is written.
        try form.append([0xFF], name: "b", fileName: "c")
        let encoded = HTTPSession.CurlDescription(request, form: form, redaction: nil).command
        #expect(encoded.hasPrefix("printf '%s' '") && encoded.contains("base64 -d | curl") && encoded.contains("boundary"))
    }

    @Test func notesNameTheOmissionsOfTheCommand() throws {
        var request = try URLRequest(url: "https://h/p", method: .post)
        request.httpBodyStream = InputStream(data: Data([1]))
        #expect(
            HTTPSession.CurlDescription(request).notes == [
                "the body is a stream, which can be read only once: save it to a file and add --data-binary @FILE"
            ])
        #expect(HTTPSession.CurlDescription(request).description.hasPrefix(": 'the body is a stream"))
        request.url = nil
        #expect(HTTPSession.CurlDescription(request).notes == ["the request has no URL: set one"])
        let large = TransportRequest(method: "POST", url: try "https://h/".asURL(), body: .data(Data(count: 1_000_001)))
        #expect(HTTPSession.CurlDescription(large).notes == ["the body has 1000001 bytes: save it as \"body\""])
        let unseen = TransportRequest(method: "POST", url: try "https://h/".asURL(), body: .unobservable)
        #expect(HTTPSession.CurlDescription(unseen).notes.first?.hasSuffix("add --data-binary @FILE") == true)
        let broken = TransportRequest(method: "GET", url: try "https://h/".asURL(), headers: ["A": "1\r\nB: 2", "C": "3"])
        #expect(HTTPSession.CurlDescription(broken).command == "curl \\\n  -H 'C: 3' \\\n  'https://h/'")
        #expect(HTTPSession.CurlDescription(broken).notes.first?.hasSuffix("control character: \"A\"") == true)
        let head = TransportRequest(method: "HEAD", url: try "https://h/".asURL(), body: .data(Data([1])))
        #expect(HTTPSession.CurlDescription(head).notes == ["curl sends no body with HEAD: it is left out"])
    }

    @Test func aRequestBeforeItGoesOutIsDescribedToo() throws {
        var request = try URLRequest(url: "https://h/p", method: .patch, headers: ["X-A": "it's"])
        request.httpBody = Data("x".utf8)
        let command = HTTPSession.CurlDescription(request).command
        #expect(
            command == "curl \\\n  -X 'PATCH' \\\n  -H 'X-A: it'\\''s' \\\n  -H 'Content-Type:' \\\n  --data-raw 'x' \\\n  'https://h/p'")
    }
}

/// Runs the commands, and compares the received request with the original.
@Suite struct CurlBuilderTests {
    private struct Sample {
        var method: String
        var target: String
        var headers: HTTPSession.Headers = [:]
        var body: [UInt8]?
    }

    private let samples = [
        Sample(method: "GET", target: "/"), Sample(method: "HEAD", target: "/h"), Sample(method: "DELETE", target: "/a/../b/./c"),
        Sample(method: "GET", target: "/?a%5B%5D=1&b=%7B%7D&c=%ED%95%9C+x%20y'$HOME"), Sample(method: "OPTIONS", target: "/;a=b"),
        Sample(
            method: "GET", target: "/x",
            headers: [
                "X-A": "1", "X-A": "2", "X-Empty": "", "X-Quote": "it's \"x\" $HOME `id` \\ !", "Accept": "a/b", "User-Agent": "me",
                "X-Ko": "한",
            ]),
        Sample(method: "GET", target: "/z", headers: ["Accept-Encoding": "gzip, deflate"]),
        Sample(
            method: "POST", target: "/j", headers: ["Content-Type": "application/json"],
            body: Array("{\"a\": \"it's\\n\",\n \"b\": \"한\"}".utf8)),
        Sample(method: "POST", target: "/e", body: []), Sample(method: "POST", target: "/at", body: Array("@/etc/passwd".utf8)),
        Sample(method: "PUT", target: "/b", headers: ["Content-Type": "application/octet-stream"], body: Array(0...255)),
        Sample(method: "PATCH", target: "/c", headers: ["Content-Type": "text/plain"], body: Array("a\tb\r\n100%\\n\u{0}1\u{7F}".utf8)),
        Sample(method: "GET", target: "/g", headers: ["Content-Type": "text/plain"], body: Array("body".utf8)),
        Sample(method: "QUERY", target: "/q", headers: ["Content-Type": "text/plain"], body: Array("-d x".utf8)),
        Sample(
            method: "POST", target: "/l", headers: ["Content-Type": "text/plain", "Expect": ""],
            body: Array(repeating: UInt8(ascii: "'"), count: 150_000)),
    ]

    @Test(arguments: ["sh", "bash"]) func commandSendsTheRequest(shell: String) throws {
        let server = try EchoServer()
        for sample in self.samples {
            let url = try (server.url + sample.target).asURL()
            let body = sample.body.map { RequestBody.data(Data($0)) } ?? .none
            var builder = CurlBuilder(
                TransportRequest(method: sample.method, url: url, headers: sample.headers, body: body), form: nil, redactor: nil)
            let run = try ShellRun(shell, builder.command())
            let arrived = try server.takeLast()
            #expect(builder.notes == [] && run.status == 0)
            #expect(arrived.method == sample.method)
            #expect(arrived.target == sample.target)
            #expect(arrived.bytes == sample.body ?? [], "\(sample.method) \(sample.target)")
            for name in Set(sample.headers.map(\.name)) {
                #expect(arrived.values(name) == sample.headers.values(for: name), "\(sample.target) \(name)")
            }
            #expect((arrived.values("content-type").isEmpty) == !sample.headers.contains(name: "Content-Type"), "\(sample.target)")
        }
    }

    @Test func aFormArrivesWithTheSameParts() throws {
        let server = try EchoServer()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape \"한\" \(UUID().uuidString).png")
        try Data(0...255).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var form = FormData()
        try form.append("초코 'n' $x", name: "user[name]")
        try form.append("@file;type=x", name: "at \"q\"")
        try form.append("line\nline", name: "empty; x")
        try form.append(url, withName: "photo", fileName: "a \"b\"; c.png", mimeType: "image/png")
        try form.append(url, withName: "photo")
        for bytesInMemory in [false, true] {
            if bytesInMemory { try form.append([0, 255, 13, 10], name: "raw", fileName: "raw.bin", mimeType: "a/b; c=d") }
            let request = TransportRequest(method: "POST", url: try server.url.asURL(), headers: ["Content-Type": form.contentType])
            var builder = CurlBuilder(request, form: form, redactor: nil)
            _ = try ShellRun("sh", builder.command())
            let arrived = try server.takeLast()
            let type = try #require(arrived.values("content-type").first)
            let boundary = try #require(MultipartType(type.utf8)?.boundary)
            #expect((boundary == MultipartBoundary(form.boundary.text)) == bytesInMemory)
            let parsed = try #require(arrived.bytes.withUnsafeBytes { MultipartBody.parse($0, boundary: boundary) })
            #expect(parsed.parts.count == form.parts.count)
            for (part, sent) in zip(parsed.parts, form.parts) {
                let fields = part.headers.fields
                #expect(ContentDisposition(fields) == ContentDisposition(sent.headers))
                #expect(fields.first("content-type") == sent.headers.first("content-type"))
                guard case .data(let range) = part.content else { continue }
                #expect(range.count == sent.source.length)
                if case .bytes(let bytes) = sent.source { #expect(Array(arrived.bytes[range]) == bytes) }
            }
        }
    }

    @Test func aFileArrivesWithoutBeingInTheCommand() throws {
        let server = try EchoServer()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-it's-\(UUID().uuidString)")
        try Data(repeating: 7, count: 3_000).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let request = TransportRequest(method: "POST", url: try server.url.asURL(), body: .file(url, size: 3_000))
        var builder = CurlBuilder(request, form: nil, redactor: nil)
        _ = try ShellRun("sh", builder.command())
        #expect(try server.takeLast().bytes == Array(repeating: 7, count: 3_000))
    }

    @Test func notesDoNotHinderAShell() throws {
        let server = try EchoServer()
        let request = TransportRequest(method: "GET", url: try server.url.asURL(), headers: ["A\n": "it's", "B": "1"])
        let text = HTTPSession.CurlDescription(request).description
        #expect(text.hasPrefix(": 'a header field"))
        _ = try ShellRun("sh", text)
        #expect(try server.takeLast().values("B") == ["1"])
    }
}
