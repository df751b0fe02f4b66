import CassettePlayback
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// The real proxy with up to 64 connections at once, on up to four event loops. The same requests together get the same answers, whatever
/// their order.
@Suite struct ConcurrentReplayTests {
    /// The number of URLs. Each has several recordings with and without a body.
    private static let keys = 12
    private static let recordings = 24

    private struct Request: Hashable {
        var key: Int
        var body: Int?

        var text: String {
            let url = "http://h.test/\(self.key)?b=1&a=2"
            guard let body else { return "GET \(url) HTTP/1.1\r\nHost: h.test\r\n\r\n" }
            // The same JSON in one of two spellings.
            let json = body.isMultiple(of: 2) ? "{\"n\":\(body),\"m\":1}" : "{ \"m\": 1.0, \"n\": \(body) }"
            return
                "POST \(url) HTTP/1.1\r\nHost: h.test\r\nContent-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)"
        }
    }

    private static func recorded() -> [Request] {
        (0..<self.recordings).flatMap { round in
            (0..<self.keys).map { key in Request(key: key, body: key.isMultiple(of: 2) ? nil : round % 3) }
        }
    }

    private static func cassette() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let interactions = self.recorded().enumerated().map { index, request in
            let body = request.body.map { ", \"body\": { \"size\": 13, \"json\": {\"n\":\($0),\"m\":1} }" } ?? ""
            let second = "\(index / 60)".count == 1 ? "0\(index / 60):" : "\(index / 60):"
            let started = "2026-11-21T04:\(second)\(index % 60 < 10 ? "0" : "")\(index % 60).000000Z"
            return """
                    {
                      "id": \(index + 1),
                      "started": "\(started)",
                      "request": { "method": "\(request.body == nil ? "GET" : "POST")", "url": "http://h.test/\(request.key)?a=2&b=1",
                        "headers": ["Content-Type: application/json"]\(body) },
                      "response": { "status": 200, "reason": "OK", "headers": ["Content-Length: 5"],
                        "body": { "size": 5, "text": "\(10_000 + index)" } }
                    }
                """
        }
        let text = "{\n  \"wiretape\": 1,\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n  ]\n}\n"
        try folder.write(Array(text.utf8), to: "tape.json")
        return folder
    }

    /// Sends the requests in rounds: one request on each connection before any answer is read.
    private func answers(_ requests: [Request], connections: Int, loops: Int) throws -> (answers: [Request: [String]], verdict: Verdict) {
        let replay = try RunningProxy(.none, in: Self.cassette(), loops: loops)
        let clients = try (0..<connections).map { _ in try replay.connect() }
        var answers: [Request: [String]] = [:]
        var rest = requests[...]
        while !rest.isEmpty {
            let round = rest.prefix(connections)
            rest = rest.dropFirst(connections)
            for (client, request) in zip(clients, round) { try client.send(request.text) }
            for (client, request) in zip(clients, round) {
                let head = String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self)
                guard head.hasPrefix("HTTP/1.1 200 ") else { throw RawError("\(head) in answer to \(request)") }
                answers[request, default: []].append(String(decoding: try client.read(count: 5), as: UTF8.self))
            }
        }
        try replay.stop()
        return (answers.mapValues { $0.sorted() }, replay.session.verdict())
    }

    @Test(arguments: [1, 2, 7, 16, 64], [1, 2, 4])
    func theSameRequestsGetTheSameAnswers(connections: Int, loops: Int) throws {
        var generator = SeededGenerator(seed: UInt64(connections))
        let recorded = Self.recorded()
        let inOrder = Dictionary(grouping: recorded.indices, by: { recorded[$0] }).mapValues { $0.map { "\(10_000 + $0)" } }
        let (answers, verdict) = try self.answers(recorded.shuffled(using: &generator), connections: connections, loops: loops)
        #expect(answers == inOrder)
        #expect(verdict.hits == recorded.count && verdict.misses == 0 && verdict.unused.isEmpty)
    }

    @Test(arguments: [1, 2, 4]) func theStrictOrderIsOneWhicheverLoopARequestCameInOn(loops: Int) throws {
        let replay = try RunningProxy(.none, in: Self.cassette(), order: .strict, loops: loops)
        let clients = try (0..<7).map { _ in try replay.connect() }
        let recorded = Self.recorded()
        for (index, request) in recorded.enumerated() {
            let client = clients[index % clients.count]
            // The request after the next one is sent out of turn, on another connection.
            if index.isMultiple(of: 5), index + 1 < recorded.count, recorded[index + 1] != request {
                let other = clients[(index + 1) % clients.count]
                try other.send(recorded[index + 1].text)
                #expect(String(decoding: try other.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 424 "))
            }
            try client.send(request.text)
            let answer = String(decoding: try client.readMessage(), as: UTF8.self)
            #expect(answer.hasSuffix("\r\n\r\n\(10_000 + index)"), "\(answer)")
        }
        #expect(replay.session.verdict().hits == recorded.count && replay.session.verdict().unused.isEmpty)
    }

    @Test(arguments: [1, 2, 4]) func oneRequestTooManyIsAMissWhicheverItIs(loops: Int) throws {
        let replay = try RunningProxy(.none, in: Self.cassette(), loops: loops)
        let clients = try (0...Self.recordings).map { _ in try replay.connect() }
        for client in clients { try client.send(Request(key: 0).text) }
        let statuses = try clients.map { String(decoding: try $0.read(through: "\r\n").prefix(12), as: UTF8.self) }
        #expect(statuses.count { $0 == "HTTP/1.1 200" } == Self.recordings)
        #expect(statuses.count { $0 == "HTTP/1.1 424" } == 1)
        #expect(replay.session.verdict().misses == 1)
    }
}
