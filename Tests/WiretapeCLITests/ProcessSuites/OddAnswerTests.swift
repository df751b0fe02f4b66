import Foundation
import Testing
import TapeTestSupport

/// A raw client gets the same bytes from the origin, from the recorder, and from the cassette without the origin.
@Suite struct OddAnswerTests {
    /// A request for the origin; the proxy expects the scheme and authority at `%@`.
    private struct Request {
        var name: String
        var text: [UInt8]

        init(_ name: String, _ head: String, body: [UInt8] = []) {
            self.name = name
            self.text = Array((head.replacingOccurrences(of: "\n", with: "\r\n") + "\r\n").utf8) + body
        }

        func bytes(proxied port: Int?) -> [UInt8] {
            let prefix = port.map { "http://127.0.0.1:\($0)" } ?? ""
            var bytes = self.text
            if let place = bytes.firstRange(of: Array("%@".utf8)) { bytes.replaceSubrange(place, with: prefix.utf8) }
            return bytes
        }
    }

    private static func requests(_ names: [Substring], port: Int) -> [Request] {
        let host = "Host: 127.0.0.1:\(port)\nConnection: close\n"
        let closing = ["http10-until-close", "until-close", "empty-until-close", "cut-length", "cut-chunk", "cut-between-chunks"]
        var requests = names.map { name in
            // If the origin closes the connection itself, the client waits for that.
            Request(
                String(name),
                "GET %@/\(name) HTTP/1.1\nHost: 127.0.0.1:\(port)\n" + (closing.contains(String(name)) ? "" : "Connection: close\n"))
        }
        requests += [
            Request("HEAD", "HEAD %@/bytes HTTP/1.1\n" + host),
            Request("HEAD of chunks", "HEAD %@/chunked HTTP/1.1\n" + host),
            Request("odd fields", "GET %@/echo?a=%20b&c HTTP/1.1\n\(host)x-tight:1\nX-Wide:  \t two  words \t\nX-Empty:\nX-A: 1\nx-a: 2\n"),
            Request("odd URL", "GET %@/echo?q=%ED%95%9C&%zz&x=[1]|2' HTTP/1.1\n" + host),
            Request("latin-1 field", "GET %@/echo?latin1 HTTP/1.1\n\(host)X-Place: caf", body: []),
            Request("own method", "BREW %@/echo?brew HTTP/1.1\n" + host),
            Request("OPTIONS", "OPTIONS %@/echo?options HTTP/1.1\n" + host),
            Request("POST", "POST %@/echo?post HTTP/1.1\n\(host)Content-Length: 256\n", body: Array(0...255)),
            Request("empty POST", "POST %@/echo?empty HTTP/1.1\n\(host)Content-Length: 0\n"),
            Request("POST without length", "POST %@/echo?none HTTP/1.1\n" + host),
            Request("GET with a body", "GET %@/echo?body HTTP/1.1\n\(host)Content-Length: 2\n", body: Array("hi".utf8)),
            Request(
                "chunked PUT", "PUT %@/echo?put HTTP/1.1\n\(host)Transfer-Encoding: chunked\nTrailer: X-Sum\n",
                body: Array("A;x=y\r\n0123456789\r\n003\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n".utf8)),
            Request(
                "expecting to go on", "POST %@/echo?go HTTP/1.1\n\(host)Expect: 100-continue\nContent-Length: 2\n", body: Array("hi".utf8)),
        ]
        let latin1 = requests.firstIndex { $0.name == "latin-1 field" } ?? 0
        requests[latin1].text.removeLast(2)
        requests[latin1].text += [0xe9, 0x0d, 0x0a, 0x0d, 0x0a]
        return requests
    }

    @Test func everyAnswerIsTheSameDirectRecordedAndReplayed() throws {
        let names = try Python.run("odd_origin.py", ["--list"]).outputText.split(separator: "\n")
        try #require(names.count > 40)
        let folder = try TemporaryFolder()
        let cassette = folder.file("odd.json")
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let requests = Self.requests(names, port: origin.port)

        let recorder = try Wiretape.listening(["record", cassette, "--no-redaction"])
        defer { recorder.program.stop() }
        var wanted: [WireMessage] = []
        for request in requests {
            let direct = WireMessage(try RawClient.exchange(port: origin.port, request.bytes(proxied: nil)))
            let recorded = WireMessage(try RawClient.exchange(port: recorder.port, request.bytes(proxied: origin.port)))
            #expect(recorded == direct, "recorded, \(request.name)")
            wanted.append(direct)
        }
        let end = try recorder.program.end()
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("recorded \(requests.count) exchanges"), "\(end.errors)")
        try CassetteFile.expectValid(cassette)

        origin.program.stop()
        let player = try Wiretape.listening(["replay", cassette])
        defer { player.program.stop() }
        for (request, wanted) in zip(requests, wanted) {
            let replayed = WireMessage(try RawClient.exchange(port: player.port, request.bytes(proxied: origin.port)))
            #expect(replayed == wanted, "replayed, \(request.name)")
        }
        let replayEnd = try player.program.end()
        #expect(replayEnd.status == 0, "\(replayEnd.errors)")
        #expect(replayEnd.errors.contains("replayed \(requests.count) of \(requests.count) exchanges"), "\(replayEnd.errors)")
    }
}
