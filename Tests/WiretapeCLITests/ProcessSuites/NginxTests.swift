import Foundation
import Testing
import TapeTestSupport

/// Common clients get the same from nginx, from the recorder, and from the cassette without nginx.
@Suite struct NginxTests {
    /// A client that stores an answer in its folder: in `head` and `body`, or in `whole`.
    private struct Client {
        var name: String
        var program: String
        var arguments: [String]
        /// curl writes the head of a HEAD response to the body's file too.
        var isHead = false
        /// nginx generates a new boundary for each answer with several ranges.
        var varies = false
    }

    private static func clients(_ nginx: Nginx) throws -> [Client] {
        let url = nginx.url
        let etag = try Self.field("ETag", of: "pets.json", nginx)
        let curl = { (name: String, options: [String]) throws -> Client in
            let always = [
                "-q", "--silent", "--show-error", "--max-time", "20", "--noproxy", "", "--dump-header", "head", "--output", "body",
            ]
            return Client(name: "curl, \(name)", program: try Programs.find("curl"), arguments: always + options)
        }
        let python = { (name: String, options: [String]) throws -> Client in
            Client(
                name: "http.client, \(name)", program: try Programs.find("python3"),
                arguments: [Programs.fixture("client.py"), "."] + options)
        }
        var clients = [
            try curl("JSON", [url("pets.json")]),
            try curl("gzip", ["--header", "Accept-Encoding: gzip", url("pets.json?gzip")]),
            try curl("gzip, unpacked", ["--compressed", url("log.txt")]),
            try curl("not modified", ["--header", "If-None-Match: \(etag)", url("pets.json?match")]),
            try curl("range", ["--range", "10-19", url("bytes.bin?range")]),
            try curl("range out of the file", ["--range", "1000-", url("bytes.bin?out")]),
            try curl("10 MiB", [url("large.bin")]),
            try curl("chunked", [url("chunked/log.txt")]),
            try curl("chunked, raw", ["--raw", url("chunked/pets.json")]),
            try curl("small, from behind", [url("chunked/page")]),
            try curl("redirect", [url("old")]),
            try curl("redirect, followed", ["--location", url("old?follow")]),
            try curl("missing", [url("no-such-page")]),
            try curl("an error with a field", [url("teapot")]),
            try curl("refused method", ["--request", "PUT", "--data", "x=1", url("pets.json?put")]),
            try curl("HTTP/1.0", ["--http1.0", url("bytes.bin?http10")]),
            try curl("several on one connection", [url("bytes.bin?a"), url("bytes.bin?b"), "--output", "second"]),
            try python("JSON", ["GET", url("pets.json?python")]),
            try python("gzip", ["GET", url("log.txt?python"), "Accept-Encoding=gzip"]),
            try python("chunked", ["GET", url("chunked/log.txt?python")]),
            try python("HEAD", ["HEAD", url("pets.json?head")]),
            try python("10 MiB", ["GET", url("large.bin?python")]),
        ]
        var head = try curl("HEAD", ["--head", url("bytes.bin?head")])
        head.isHead = true
        var ranges = try curl("two ranges", ["--range", "0-9,100-109", url("bytes.bin?ranges")])
        ranges.varies = true
        clients += [head, ranges]
        if let node = try? Programs.find("node") {
            clients += ["pets.json?node", "chunked/log.txt?node", "large.bin?node"].map {
                Client(name: "node, \($0)", program: node, arguments: [Programs.fixture("client.js"), ".", url($0)])
            }
        }
        if let wget = try? Programs.find("wget") {
            clients.append(
                Client(
                    name: "wget", program: wget,
                    arguments: [
                        "--quiet", "--tries=1", "--timeout=20", "--save-headers", "--output-document=whole", url("bytes.bin?wget"),
                    ]))
        }
        return clients
    }

    private static func field(_ name: String, of path: String, _ nginx: Nginx) throws -> String {
        let answer = try RawClient.exchange(port: nginx.port, Array("HEAD /\(path) HTTP/1.0\r\n\r\n".utf8))
        let lines = String(decoding: answer, as: UTF8.self).components(separatedBy: "\r\n")
        guard let line = lines.first(where: { $0.hasPrefix(name + ":") }) else { throw TestProblem("no \(name) on \(path)") }
        return String(line.dropFirst(name.count + 2))
    }

    /// Runs the client, and returns the answers that it has stored.
    private static func answer(_ client: Client, proxy: Int?) throws -> [String: WireMessage] {
        let folder = try TemporaryFolder()
        let environment = proxy.map { ["http_proxy": "http://127.0.0.1:\($0)"] } ?? [:]
        let end = try ExternalProgram.run(client.program, client.arguments, environment: environment, directory: folder.path)
        guard end.status == 0 else { throw TestProblem("\(client.name) ended with \(end.status): \(end.errors)") }
        var answers: [String: WireMessage] = [:]
        for name in try folder.names() {
            let bytes = try folder.read(name)
            answers[name] =
                switch name {
                case "whole": WireMessage(bytes)
                case "body" where client.isHead, "head": WireMessage(heads: bytes)
                default: WireMessage(body: bytes)
                }
        }
        return answers
    }

    @Test func everyClientGetsTheSameDirectRecordedAndReplayed() throws {
        let nginx = try Nginx()
        defer { nginx.stop() }
        let clients = try Self.clients(nginx)
        let folder = try TemporaryFolder()
        let cassette = folder.file("nginx.json")

        let recorder = try Wiretape.listening(["record", cassette])
        defer { recorder.program.stop() }
        var wanted: [[String: WireMessage]] = []
        for client in clients {
            let direct = try Self.answer(client, proxy: nil)
            let recorded = try Self.answer(client, proxy: recorder.port)
            if !client.varies { #expect(recorded.mapValues(\.undated) == direct.mapValues(\.undated), "recorded, \(client.name)") }
            wanted.append(recorded)
        }
        let end = try recorder.program.end()
        #expect(end.status == 0, "\(end.errors)")
        try CassetteFile.expectValid(cassette)

        nginx.stop()
        let player = try Wiretape.listening(["replay", cassette])
        defer { player.program.stop() }
        for (client, wanted) in zip(clients, wanted) {
            let replayed = try Self.answer(client, proxy: player.port)
            #expect(replayed == wanted, "replayed, \(client.name)")
        }
        #expect(try player.program.end().status == 0, "\(player.program.errors)")
    }
}
