internal import Platform
internal import TapeBytes

/// Finds out what a server does by trying it, with objects that it removes afterwards.
package struct StoreCheck {
    package struct Line: Sendable, Hashable {
        package enum Verdict: String, Sendable, Hashable {
            case ok
            /// The server cannot do it, and Wiretape does without.
            case without
            /// Wiretape cannot work there, or not safely.
            case bad
        }

        package var subject: String
        package var verdict: Verdict
        package var text: String
    }

    private static let racers = 8

    private let client: StoreClient
    private let folder: String

    package init(client: StoreClient) {
        self.client = client
        self.folder = "check/\(UInt64.random(in: 0 ... .max))"
    }

    package func run(_ report: @escaping (Line) -> Void) throws(StoreError) {
        var names: [String] = []
        defer { for name in names { try? self.client.delete(name) } }
        func object(_ name: String) -> String {
            names.append("\(self.folder)/\(name)")
            return "\(self.folder)/\(name)"
        }
        func line(_ subject: String, _ verdict: Line.Verdict, _ text: String) {
            report(Line(subject: subject, verdict: verdict, text: text))
        }

        let skew = try self.client.serverTime() - Int(Timestamp.now.microseconds / 1_000_000)
        line("reach, list", .ok, "the bucket is there and may be listed")
        line(
            "clock", abs(skew) < 300 ? .ok : .without,
            abs(skew) < 2 ? "the same as here" : "the server's is \(abs(skew)) s \(skew > 0 ? "ahead of" : "behind") this machine's")
        guard self.client.isWritable else { return line("writing", .without, "a web server is only read") }

        let (one, other) = (try Payload(Array("one".utf8)), try Payload(Array("other".utf8)))
        let plain = object("plain")
        _ = try self.client.put(plain, one, type: "text/plain", .always)
        line("write", .ok, "objects may be stored")
        let read = try self.client.bytes(plain, limit: 1000)
        line(
            "read", read == Array("one".utf8) ? .ok : .bad,
            read == nil ? "an object is not there right after it was stored" : "an object comes back")
        var listed = false
        try self.client.list("\(self.folder)/") { (page) throws(StoreError) in
            listed = listed || page.contains { $0.name == plain && $0.size == 3 }
            return true
        }
        line(
            "list after write", listed ? .ok : .bad,
            listed
                ? "an object is listed right after it was stored" : "a new object is not listed: pushes and collections cannot be trusted")
        let missing = try self.client.head("\(self.folder)/missing")
        line("missing object", missing == nil ? .ok : .bad, "HEAD of a missing object is 404")

        try self.checkConditions(object, one, other, line)
        try self.checkDigests(object, one, line)

        let renewed = try? self.client.renew(plain, type: "text/plain")
        line(
            "renew", renewed == true ? .ok : .without,
            renewed == true
                ? "a copy onto itself renews an object"
                : "objects cannot be renewed: choose a grace for \"store gc\" that is longer than the time between pushes")
        let range = try self.client.probe("GET", plain, fields: [("range", "bytes=0-0")])
        line("ranges", range.status == 206 ? .ok : .without, range.status == 206 ? "206" : "answered with \(range.status); not used")
        try self.client.delete(plain)
        let gone = try self.client.head(plain) == nil
        line("remove", gone ? .ok : .bad, gone ? "objects may be removed" : "a removed object is still there")
    }

    private func checkConditions(
        _ object: (String) -> String, _ one: Payload, _ other: Payload, _ line: (String, Line.Verdict, String) -> Void
    ) throws(StoreError) {
        let name = object("new")
        let first = try self.client.probe("PUT", name, fields: [("if-none-match", "*")], body: one).status
        let second = try self.client.probe("PUT", name, fields: [("if-none-match", "*")], body: other).status
        switch (first, second) {
        case (501, _):
            return line(
                "store only if new", .without, "501: unknown here; plain writes are used, which are as safe, since names are digests")
        case (200...299, 412): break
        case (200...299, 200...299):
            return line("store only if new", .without, "ignored, and overwritten: harmless, since names are digests")
        default: return line("store only if new", .bad, "answered with \(first) and \(second)")
        }
        let raced = object("raced")
        let winners = Guarded(0)
        try ParallelWork.run(Array(0..<Self.racers), threads: Self.racers) { [client] (_) throws(StoreError) in
            let status = try client.probe("PUT", raced, fields: [("if-none-match", "*")], body: one).status
            if (200...299).contains(status) { winners.withLock { $0 += 1 } }
        }
        let count = winners.withLock { $0 }
        line(
            "store only if new", count == 1 ? .ok : .without,
            count == 1
                ? "works, also with \(Self.racers) at once"
                : "works, but \(count) of \(Self.racers) at once were told that they were first: harmless")
    }

    private func checkDigests(
        _ object: (String) -> String, _ one: Payload, _ line: (String, Line.Verdict, String) -> Void
    ) throws(StoreError) {
        let name = object("wrong-digest")
        let digest = String(repeating: "0", count: 64)
        let status = try self.client.probe("PUT", name, body: one, digest: digest).status
        line(
            "wrong SHA-256", (200...299).contains(status) ? .without : .ok,
            (200...299).contains(status)
                ? "stored all the same: only a pull notices bytes that changed on their way" : "refused (\(status))")
        let sum = object("wrong-md5")
        // The MD5 of an empty text.
        let answer = try self.client.probe("PUT", sum, fields: [("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==")], body: one).status
        line(
            "wrong MD5", (200...299).contains(answer) ? .without : .ok,
            (200...299).contains(answer) ? "stored all the same" : "refused (\(answer))")
    }
}
