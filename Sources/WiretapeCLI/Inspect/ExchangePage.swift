internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// One exchange in full, for people.
struct ExchangePage {
    private static let labelWidth = 12

    var screen: InspectScreen
    var reader: BodyReader
    /// The command line that shows this exchange.
    var command: String
    /// The exchange that opened a reused connection, and its TLS handshake; nil if not known.
    var opening: (number: Int, tls: TLSDetails)?
    /// Whether its recording is still running.
    var isOpen = false
    var write: (String) throws -> Void

    /// - Parameter first: when the cassette's first exchange started.
    /// - Returns: why a body could not be read; nil if all could.
    func show(_ interaction: Interaction, number: Int, first: Timestamp) throws -> CassetteError? {
        let offset = Double(interaction.started.microseconds) - Double(first.microseconds)
        let id = interaction.id == number ? "" : " (id \(interaction.id))"
        try self.line("exchange \(number)\(id), \(interaction.started.formatted), +\(Quantity.seconds(offset / 1_000_000))", .dim)
        var problems: [CassetteError] = []

        try self.space()
        let request = interaction.request
        try self.line(VisibleText.line("\(request.method) \(request.url) \(request.version)"), .bold)
        if let target = request.target { try self.facts("target", [target]) }
        try self.fields(request.headers)
        if let body = request.body { problems += try self.body(body, request.headers, "request") }
        try self.trailers(request.trailers)

        for interim in interaction.interim {
            try self.space()
            let start = self.statusLine(interim.version, interim.status, interim.reason)
            try self.line("\(start)  after \(Quantity.milliseconds(interim.at))", .dim)
            try self.fields(interim.headers)
        }

        if let response = interaction.response {
            try self.space()
            let grpc = GRPCStatus(response)
            try self.line(
                self.statusLine(response.version, response.status, response.reason), Paint.color(status: grpc?.likeHTTP ?? response.status))
            try self.fields(response.headers)
            if let body = response.body { problems += try self.body(body, response.headers, "response") }
            try self.trailers(response.trailers)
            try self.call(response, grpc)
        }
        if let messages = interaction.webSocket { problems += try self.conversation(messages) }

        try self.space()
        try self.end(of: interaction)
        return problems.first
    }

    /// The outcome of a gRPC call, and how much the client had sent by the head and by the end of the answer.
    private func call(_ response: RecordedResponse, _ status: GRPCStatus?) throws {
        guard GRPCType(response.headers) != nil else { return }
        try self.space()
        var words = [status.map { $0.name == "\($0.code)" ? $0.name : "\($0.code) \($0.name)" } ?? "no grpc-status"]
        if let message = GRPCStatus.words(response) { words.append(message) }
        try self.facts("grpc", [words.joined(separator: ": ")], Paint.color(status: status?.likeHTTP ?? 500))
        if let after = response.after { try self.facts("", ["head \(BodyMessage.words(after: after))"]) }
        if let end = response.endAfter { try self.facts("", ["end \(BodyMessage.words(after: end)), which had not ended"]) }
    }

    /// - Returns: why the messages could not be read; empty if they could.
    private func conversation(_ messages: WebSocketMessages) throws -> [CassetteError] {
        try self.space()
        do {
            try self.facts("websocket", SocketSummary(messages, reader: self.reader).lines)
            try ConversationPage(command: self.command, screen: self.screen, reader: self.reader, write: self.write).show(messages)
            return []
        } catch let error as CassetteError {
            try self.facts("websocket", [Quantity.count(messages.count, "message")])
            try self.facts("", ["cannot be read: \(error.message)"], .red)
            return [error]
        }
    }

    private func statusLine(_ version: HTTPVersion, _ status: Int, _ reason: [UInt8]) -> String {
        "\(version) \(status)" + (reason.isEmpty ? "" : " " + VisibleText.line(reason))
    }

    private func end(of interaction: Interaction) throws {
        switch interaction.outcome {
        case _ where self.isOpen:
            try self.facts(
                "outcome", ["open: its recording has not ended, or its recorder was killed; this is what there is so far"], .yellow)
        case .complete: try self.facts("outcome", ["complete"])
        case .cut(let cut): try self.facts("outcome", [self.sentence("cut by the \(cut.by.rawValue)", cut.reason)], .red)
        case .failed(let failure): try self.facts("outcome", [self.sentence("failed, \(failure.kind.rawValue)", failure.message)], .red)
        }
        if let tunnel = interaction.tunnel {
            try self.facts("tunnel", ["\(Quantity.bytes(tunnel.sent)) sent, \(Quantity.bytes(tunnel.received)) received"])
        }
        if let connection = interaction.connection {
            for fact in ConnectionWords.facts(connection, opening: self.opening, at: interaction.started) {
                try self.facts(fact.label, fact.lines)
            }
        }
        for (index, line) in TimingBars.lines(interaction.timing, self.screen.paint).enumerated() {
            try self.line(self.label(index == 0 ? "timing" : "") + line, nil)
        }
        if let comment = interaction.comment { try self.facts("comment", [comment], .yellow) }
        let known = interaction.unknown.filter { $0.name != "comment" }
        let unknown = known + interaction.request.unknown + (interaction.response?.unknown ?? [])
        if !unknown.isEmpty { try self.facts("unknown", ["members " + unknown.map(\.name).joined(separator: ", ")]) }
    }

    private func sentence(_ start: String, _ reason: String) -> String { reason.isEmpty ? start : "\(start): \(reason)" }

    // MARK: Messages

    private func fields(_ fields: HeaderFields) throws {
        for index in 0..<fields.count {
            let name = fields.nameBytes(at: index)
            let rest = fields.line(at: index).dropFirst(name.count)
            try self.write(self.screen.paint(VisibleText.line(name), .cyan) + VisibleText.line(rest) + "\n")
        }
    }

    private func trailers(_ fields: HeaderFields?) throws {
        guard let fields else { return }
        try self.space()
        try self.facts("trailers", [fields.isEmpty ? "an empty section" : Quantity.count(fields.count, "line")])
        try self.fields(fields)
    }

    /// - Returns: why the body could not be read; empty if it could.
    private func body(_ body: Body, _ headers: HeaderFields, _ side: String) throws -> [CassetteError] {
        try self.space()
        let contents: BodyContents
        let events: BodyEvents?
        do {
            contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
            events = try BodyEvents(body, headers: headers, contents: contents)
        } catch let error as CassetteError {
            try self.facts("body", BodyWords.lines(body, headers: headers, contents: nil))
            try self.facts("", ["cannot be read: \(error.message)"], .red)
            return [error]
        }
        try self.facts("body", BodyWords.lines(body, headers: headers, contents: contents, events: events))
        let command = "\(self.command) --body \(side)"
        if contents.size > 0, try self.upload(contents, body, headers, side, command) { return [] }
        if let messages = BodyMessages(body, reader: self.reader) {
            try MessagesPage(command: command, screen: self.screen, write: self.write).show(messages)
            return []
        }
        if let events {
            try EventsPage(command: command, screen: self.screen, write: self.write).show(events)
            return []
        }
        try BodyPage(command: command, screen: self.screen, write: self.write).show(contents, headers: headers, known: body.known)
        return []
    }

    /// - Returns: whether the body could be split into parts.
    private func upload(
        _ contents: BodyContents, _ body: Body, _ headers: HeaderFields, _ side: String, _ command: String
    ) throws -> Bool {
        guard side == "request" || MultipartType(headers) != nil else { return false }
        let context = BodyLint.Context(side: MessageChoice(rawValue: side) ?? .request, body: body)
        guard let lint = try BodyLint(contents, headers: headers, context) else { return false }
        let problems = lint.findings
        let parts = try BodyParts(contents, headers: headers)
        if let parts {
            let boundary = parts.isOfOtherBoundary || parts.isHidden ? ", by the boundary that the body uses" : ""
            try self.facts("", ["\(Quantity.count(parts.all.count, "part"))\(boundary)"])
        }
        if let first = problems.first {
            let more = problems.count > 1 ? ", and \(Quantity.count(problems.count - 1, "more defect"))" : ""
            try self.facts("", ["\(first.description)\(more)"], .yellow)
            try self.see("\(self.command) --lint", .yellow)
        }
        guard let parts else { return false }
        try PartsPage(command: command, screen: self.screen, write: self.write).show(parts, in: contents.forRandomAccess())
        return true
    }

    // MARK: Lines

    private func line(_ text: String, _ color: Paint.Color?) throws { try self.write(self.screen.paint(text, color) + "\n") }
    private func space() throws { try self.write("\n") }

    private func label(_ text: String) -> String { self.screen.paint(TextWidth.padded(text, to: Self.labelWidth), .dim) }

    /// A label, and lines after it, one below the other; sentences are wrapped at the screen's width.
    private func facts(_ label: String, _ lines: [String], _ color: Paint.Color? = nil) throws {
        let visible = lines.map { VisibleText.line($0) }
        let shown = self.screen.width.map { width in
            visible.flatMap { TextWidth.wrapped($0, to: max(width - Self.labelWidth, Self.labelWidth)) }
        }
        for (index, line) in (shown ?? visible).enumerated() {
            try self.line(self.label(index == 0 ? label : "") + self.screen.paint(line, color), nil)
        }
    }

    /// A command line, not wrapped, so that it can be copied.
    private func see(_ text: String, _ color: Paint.Color) throws {
        try self.line(self.label("") + self.screen.paint("see: \(VisibleText.line(text))", color), nil)
    }
}

extension Body {
    fileprivate var known: BodyPage.Known {
        switch self.content {
        case .json: .json
        case .text, .form, .lines, .events: .text
        case .empty, .encodedText, .multipart, .grpc, .binary, .file, .raw: .nothing
        }
    }
}

/// The facts about an exchange's connection and its TLS.
enum ConnectionWords {
    struct Fact: Equatable {
        var label: String
        var lines: [String]
    }

    /// Half of the digest, which people compare by eye; the JSON has all of it.
    private static let shownDigits = 32

    /// - Parameters:
    ///   - opening: the exchange that opened a reused connection and has its certificates; nil if not known.
    ///   - time: when the exchange started; certificates are checked against it.
    static func facts(_ connection: ConnectionInfo, opening: (number: Int, tls: TLSDetails)?, at time: Timestamp) -> [Fact] {
        var line = "\(connection.id) to \(connection.remote)"
        if let stream = connection.stream { line += ", stream \(stream)" }
        if connection.isReused { line += ", reused" }
        if let opening { line += ", opened by exchange \(opening.number)" }
        guard let tls = connection.tls else { return [Fact(label: "connection", lines: [line])] }
        let chain = tls.chain.isEmpty ? opening?.tls.chain ?? [] : tls.chain
        return [Fact(label: "connection", lines: [line]), Fact(label: "tls", lines: self.lines(tls))]
            + chain.map { Fact(label: "certificate", lines: self.lines($0, at: time)) }
    }

    private static func lines(_ tls: TLSDetails) -> [String] {
        let names = [tls.sni.map { "server name \($0)" }, tls.alpn.map { "protocol \($0)" }].compactMap { $0 }
        return ["\(tls.version), \(tls.cipher)\(tls.isResumed ? ", resumed" : "")"] + (names.isEmpty ? [] : [names.joined(separator: ", ")])
    }

    private static func lines(_ certificate: RecordedCertificate, at time: Timestamp) -> [String] {
        var dates = "valid from \(self.day(certificate.notBefore)) to \(self.day(certificate.notAfter))"
        if time > certificate.notAfter { dates += ", expired by then" }
        if time < certificate.notBefore { dates += ", not valid yet then" }
        let issuer = certificate.issuer == certificate.subject ? "itself" : certificate.issuer
        return [
            certificate.subject.isEmpty ? "without a subject" : certificate.subject, "issued by \(issuer)", dates,
            "sha256 \(certificate.sha256.prefix(self.shownDigits))…",
        ]
    }

    private static func day(_ time: Timestamp) -> Substring { time.formatted.prefix(10) }
}

/// The phases of an exchange, one line each, with a bar that begins where the previous phase ended.
enum TimingBars {
    static let width = 32

    /// - Parameter paint: gives each bar the colour that its phase has in the list.
    static func lines(_ timing: Timing, _ paint: Paint = Paint(isOn: false)) -> [String] {
        let phases: [(String, Double, Paint.Color)] = [
            ("blocked", timing.blocked, .magenta), ("dns", timing.dns, .magenta), ("connect", timing.connect, .magenta),
            ("tls", timing.tls, .magenta), ("send", timing.send, .yellow), ("wait", timing.wait, .cyan),
            ("receive", timing.receive, .green),
        ].compactMap { name, value, color in value.map { (name, max(0, $0), color) } }
        let sum = phases.reduce(0) { $0 + $1.1 }
        let whole = max(timing.total ?? 0, sum)
        var elapsed = 0.0
        var lines: [String] = []
        for (name, value, color) in phases {
            let bar = self.bar(from: elapsed, length: value, of: whole)
            elapsed += value
            lines.append(self.line(name, value) + (bar.isEmpty ? "" : "  " + paint(bar, color)))
        }
        if let total = timing.total { lines.append(self.line("total", total)) }
        return lines
    }

    private static func line(_ name: String, _ value: Double) -> String {
        TextWidth.padded(name, to: 8) + TextWidth.padded(Quantity.milliseconds(value), to: 10, .right)
    }

    /// At least a sliver for a phase longer than zero.
    private static func bar(from start: Double, length: Double, of whole: Double) -> String {
        guard whole > 0, whole.isFinite, length > 0 else { return "" }
        let first = min(Int(start / whole * Double(self.width)), self.width - 1)
        let eighths = min(Int(length / whole * Double(self.width * 8) + 0.5), (self.width - first) * 8)
        let blocks = String(repeating: "█", count: eighths / 8)
        let rest = eighths % 8 > 0 || eighths == 0 ? String(Unicode.Scalar(0x2590 - UInt32(max(1, eighths % 8))) ?? " ") : ""
        return String(repeating: " ", count: first) + blocks + rest
    }
}
