internal import CassettePlayback
internal import CassetteTools
internal import TapeBytes
internal import TapeIsolation

/// The verdict on an isolated run, for people and as JSON.
struct IsolationLines {
    let report: IsolationReport
    /// Nothing was forwarded, so that the run needed no network if nothing was passed through either.
    let isReplay: Bool

    /// How many refusals are printed. JSON has all of them.
    static let limit = 20

    /// The names of programs, in the verdict and in the list.
    private static let nameLimit = 40

    // MARK: For people

    /// One line with numbers, and the refusals with what to do about each.
    var lines: [String] { [self.verdict] + self.refusals }

    var verdict: String {
        let report = self.report
        var parts = [
            "\(Quantity.count(report.proxied, "request")) through the proxy",
            "\(report.seen) seen without it\(self.programs)",
        ]
        if !report.passed.isEmpty {
            parts.append(
                "passed through: " + report.passed.map { "tcp \(Self.address($0.host, $0.port)) × \($0.count)" }.joined(separator: ", "))
        }
        parts.append(
            report.refusals == 0
                ? "nothing refused" : "refused: \(Quantity.count(report.refusals, "attempt")) to get past it")
        let start = self.isReplay && report.passed.isEmpty ? "isolated, no network used: " : "isolated: "
        return start + parts.joined(separator: ", ") + "."
    }

    /// The same for a program whose requests were not read.
    var connections: String {
        let report = self.report
        var parts = ["\(Quantity.count(report.connections, "connection"))\(self.programs)"]
        if !report.passed.isEmpty { parts.append("\(report.passed.reduce(0) { $0 + $1.count }) of them passed through by --allow") }
        parts.append(report.refusals == 0 ? "nothing refused" : "refused: \(Quantity.count(report.refusals, "attempt"))")
        return "isolated: " + parts.joined(separator: ", ") + "."
    }

    /// The servers for which connections were made, whether or not they answered.
    var reached: [String] {
        let targets = self.report.reached + self.report.passed
        let lines = targets.prefix(Self.limit).map { "asked for: tcp \(Self.address($0.host, $0.port)) × \($0.count)." }
        return targets.count > Self.limit ? lines + ["asked for: \(targets.count - Self.limit) more servers."] : lines
    }

    private var programs: String {
        self.report.programs.isEmpty ? "" : " (\(Quantity.count(self.report.programs.count, "program")))"
    }

    var refusals: [String] {
        var lines = self.report.refused.prefix(Self.limit).map { "refused: \(Self.text($0)); \(Self.advice($0))." }
        let rest = self.report.refused.dropFirst(Self.limit).reduce(self.report.unlisted) { $0 + $1.count }
        if rest > 0 { lines.append("refused: \(rest) more.") }
        return lines
    }

    /// `udp 1.1.1.1:443 × 2 by chromium (pid 77)`.
    static func text(_ refusal: IsolationReport.Refusal) -> String {
        let target = refusal.port.map { self.address(refusal.host, $0) } ?? refusal.host
        if refusal.reason == .inherited {
            let socket = refusal.transport.name + (target.isEmpty ? "" : " \(target)")
            return "descriptor \(refusal.descriptor ?? -1) (\(socket)), a socket of this machine's network"
        }
        return "\(refusal.transport.name) \(target) × \(refusal.count) by \(self.name(of: refusal.program))"
    }

    private static func name(of program: IsolatedProgram?) -> String {
        guard let program, let name = program.name else {
            // Only root sees the sockets of other users' programs, and of those with capabilities, such as ping.
            let user = program?.user.map { " of user \($0)" } ?? ""
            return "a program\(user) that had ended or may not be looked at"
        }
        return PlainText.sentence(String(name.prefix(self.nameLimit)), limit: 200) + (program.id.map { " (pid \($0))" } ?? "")
    }

    private static func address(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// What to do about it.
    static func advice(_ refusal: IsolationReport.Refusal) -> String {
        let port = refusal.port ?? 0
        switch refusal.reason {
        case .datagram where port == 443: return "this is QUIC: turn HTTP/3 off if the program does not fall back to TCP by itself"
        case .datagram where port == 123: return "this is NTP: the program's clock should not depend on the network"
        case .datagram: return "only names can be asked for over UDP: record the program without this feature"
        case .multicast: return "nothing answers to multicast in an isolated network"
        case .ping: return "nothing answers to a ping in an isolated network"
        case .transport: return "only TCP passes"
        case .inherited: return "it is closed for the program, which would have had it from its parent: start wiretape without it"
        case .offline: return "no connection may be made at all"
        case .reset: return "its client reset the connection, so that what it had sent could not be read: let it close the connection"
        case .failed: return "it could not be handled"
        case .port where port == 22: return "this is SSH: use an https URL, or pass --allow \(self.passage(refusal))"
        case .port where port == 53, .notHTTP where port == 53, .silent where port == 53:
            return "only names can be asked for on this port: replace the server by one of your own in the test"
        case .silent:
            return
                "its client sent nothing for two seconds: if it speaks HTTP, let it connect when it sends a request, or else pass --allow \(self.passage(refusal))"
        case .port, .notHTTP:
            return "this is not HTTP: replace the server by one of your own in the test, or pass --allow \(self.passage(refusal))"
        }
    }

    private static func passage(_ refusal: IsolationReport.Refusal) -> String { "tcp:\(self.address(refusal.host, refusal.port ?? 0))" }

    // MARK: For scripts

    /// An object on one line.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        self.number("proxied", self.report.proxied, &writer)
        self.number("seen", self.report.seen, &writer)
        self.number("connections", self.report.connections, &writer)
        writer.member("offline")
        writer.bool(self.isReplay && self.report.passed.isEmpty)
        writer.member("programs")
        writer.beginArray(.inline)
        for name in self.report.programs {
            writer.element()
            writer.string(name)
        }
        writer.endArray()
        self.list("reached", self.report.reached, &writer)
        self.list("passed", self.report.passed, &writer)
        self.number("refusals", self.report.refusals, &writer)
        writer.member("refused")
        writer.beginArray(.inline)
        for refusal in self.report.refused {
            writer.element()
            Self.write(refusal, to: &writer)
        }
        writer.endArray()
        writer.member("questions")
        writer.beginArray(.inline)
        for question in self.report.questions {
            writer.element()
            writer.beginObject(.inline)
            writer.member("name")
            writer.string(question.name)
            writer.member("type")
            writer.string(question.kind)
            self.number("count", question.count, &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ refusal: IsolationReport.Refusal, to writer: inout JSONWriter) {
        writer.beginObject(.inline)
        writer.member("protocol")
        writer.string(refusal.transport.name)
        if !refusal.host.isEmpty {
            writer.member("host")
            writer.string(refusal.host)
        }
        if let descriptor = refusal.descriptor {
            writer.member("descriptor")
            writer.integer(Int(descriptor))
        }
        if let port = refusal.port {
            writer.member("port")
            writer.integer(Int(port))
        }
        writer.member("reason")
        writer.string(refusal.reason.rawValue)
        if let program = refusal.program {
            if let path = program.path {
                writer.member("program")
                writer.string(path)
            }
            if let id = program.id {
                writer.member("pid")
                writer.integer(Int(id))
            }
            if let user = program.user {
                writer.member("user")
                writer.integer(Int(user))
            }
        }
        writer.member("count")
        writer.integer(refusal.count)
        writer.member("advice")
        writer.string(self.advice(refusal))
        writer.endObject()
    }

    private func list(_ name: StaticString, _ targets: [IsolationReport.Target], _ writer: inout JSONWriter) {
        writer.member(name)
        writer.beginArray(.inline)
        for target in targets {
            writer.element()
            writer.beginObject(.inline)
            writer.member("host")
            writer.string(target.host)
            self.number("port", Int(target.port), &writer)
            self.number("count", target.count, &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    private func number(_ name: StaticString, _ value: Int, _ writer: inout JSONWriter) {
        writer.member(name)
        writer.integer(value)
    }

    // MARK: Reports of a replay

    /// For a report in JUnit XML. Without `isFailure`, attempts are named but are no problem.
    func check(isFailure: Bool) -> ReplayReport.Check {
        let count = self.report.refusals
        let name = "nothing got past the isolation" + (count == 0 ? "" : " (\(Quantity.count(count, "attempt")) refused)")
        return ReplayReport.Check(kind: .client, name: name, problems: isFailure ? self.refusals : [], json: self.json)
    }

    /// For a report in JSON: the object with the member `isolation` at its end.
    func added(toJSON object: [UInt8]) -> [UInt8] {
        guard let end = object.lastIndex(of: UInt8(ascii: "}")) else { return object }
        var head = object[..<end]
        while let last = head.last, [0x20, 0x0A, 0x0D].contains(last) { head.removeLast() }
        var whole = Array(head)
        whole += ",\n  \"isolation\": ".utf8
        whole += self.json
        whole += "\n}".utf8
        whole += object[object.index(after: end)...]
        return whole
    }
}
