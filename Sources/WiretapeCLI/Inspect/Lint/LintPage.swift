internal import CassetteModel

/// The lint view of multipart bodies: each defect with its offset, a sentence, and the octets around it.
///
/// Offsets count in the body with its codings taken off.
struct LintPage {
    var screen: InspectScreen
    var write: (String) throws -> Void

    private var bodies = 0
    private var defects = 0

    init(screen: InspectScreen, write: @escaping (String) throws -> Void) {
        self.screen = screen
        self.write = write
    }

    /// - Parameter contents: for a note where offsets are not those of the wire.
    mutating func show(_ lint: BodyLint, exchange: Int, message: MessageChoice, request: RecordedRequest, isCoded: Bool) throws {
        self.bodies += 1
        self.defects += lint.findings.count
        let what = VisibleText.line("exchange \(exchange), \(message.rawValue) of \(request.method) \(request.url)")
        let count = lint.findings.isEmpty ? "no defects" : Quantity.count(lint.findings.count, "defect")
        try self.line("\(what): \(count)", lint.findings.isEmpty ? .green : .bold)
        if isCoded, !lint.findings.isEmpty { try self.line("  offsets are of the body without its codings", .dim) }
        for finding in lint.findings {
            try self.write("\n")
            let place = finding.problem.offset.map { "offset \($0)" } ?? "header fields"
            let sentence = VisibleText.line("\(place): \(finding.problem.sentence)")
            let lines = self.screen.width.map { TextWidth.wrapped(sentence, to: max($0 - 2, place.utf8.count + 1)) } ?? [sentence]
            for (index, line) in lines.enumerated() {
                let marked = index == 0 ? self.screen.paint(place, .yellow) + line.dropFirst(place.count) : line
                try self.write("  \(marked)\n")
            }
            for row in finding.excerpt?.lines ?? [] { try self.line("    \(row)", row.hasPrefix(" ") ? .yellow : .dim) }
        }
        if !lint.findings.isEmpty { try self.write("\n") }
    }

    func finish() throws {
        guard self.bodies > 0 else { return try self.write("no body is multipart: nothing to look for.\n") }
        let found = self.defects == 0 ? "no defects" : Quantity.count(self.defects, "defect")
        try self.line("\(found) in \(Quantity.count(self.bodies, "multipart body", plural: "multipart bodies")).", .dim)
    }

    private func line(_ text: String, _ color: Paint.Color) throws { try self.write(self.screen.paint(text, color) + "\n") }
}
