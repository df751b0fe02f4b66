import CassetteModel
import Foundation
import Testing
import Wiretape

@testable import Wiretape

/// Commands are run, and what arrives is compared with the request.
@Suite struct CurlBuilderTests {
    private struct Sample {
        var method: String
        var target: String
        var headers: HTTPHeaders = [:]
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

    @Test(arguments: ["sh", "bash"]) func whatArrivesIsTheRequest(shell: String) throws {
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
        var form = MultipartFormData()
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
                if case .octets(let bytes) = sent.source { #expect(Array(arrived.bytes[range]) == bytes) }
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
        let text = CurlDescription(request).description
        #expect(text.hasPrefix(": 'a header field"))
        _ = try ShellRun("sh", text)
        #expect(try server.takeLast().values("B") == ["1"])
    }
}
