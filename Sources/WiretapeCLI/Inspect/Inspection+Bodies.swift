internal import CassetteModel
internal import TapeBytes

/// What is done with the bodies of one exchange, or of all that the filter lets through.
extension Inspection {
    /// Names the defects of multipart bodies.
    ///
    /// - Parameter number: nil for all exchanges.
    func lint(_ number: Int?) throws {
        var page = LintPage(screen: self.screen, write: self.write)
        try self.forEachMultipart(number) { number, message, interaction, lint, isCoded in
            try page.show(lint, exchange: number, message: message, request: interaction.request, isCoded: isCoded)
        }
        try page.finish()
    }

    func lintJSON(_ number: Int?) throws {
        var writer = JSONWriter()
        writer.beginArray(.lines)
        try self.forEachMultipart(number) { number, message, _, lint, _ in
            for finding in lint.findings { BodyJSON.append(finding.problem, exchange: number, message: message, to: &writer) }
        }
        writer.endArray()
        try self.writeJSON(writer.bytes)
    }

    /// Writes bodies and parts into a folder, and says which.
    func extract(_ number: Int?, to path: String, overwrites: Bool, json: Bool) throws {
        let extraction = BodyExtraction(folder: try ExtractFolder(path, overwrites: overwrites), reader: self.reader)
        var writer = JSONWriter()
        writer.beginArray(.lines)
        var count = 0
        var problems: [CassetteError] = []
        try self.forEach(number) { number, interaction in
            do {
                try extraction.extract(interaction, number: number) { file in
                    count += 1
                    if json { return BodyJSON.append(file, to: &writer) }
                    let words = [file.words, Quantity.bytes(file.size)].compactMap { $0 }.joined(separator: ", ")
                    try self.write(VisibleText.line(file.path) + self.screen.paint("  \(VisibleText.line(words))", .dim) + "\n")
                }
            } catch let error as CassetteError {
                // A body that is missing must not hide the others.
                self.warn(error.message)
                problems.append(error)
            }
        }
        writer.endArray()
        if json {
            try self.writeJSON(writer.bytes)
        } else {
            try self.write("\(Quantity.count(count, "file")) in \"\(VisibleText.line(path))\".\n")
        }
        if !problems.isEmpty {
            throw InspectError(.noBody, "\(Quantity.count(problems.count, "exchange")) could not be extracted: see above for why.")
        }
    }

    private func forEach(_ number: Int?, _ body: (Int, Interaction) throws -> Void) throws {
        guard let number else { return try self.forEachWanted(body) }
        try body(number, self.interaction(number))
    }

    private func forEachMultipart(_ number: Int?, _ found: (Int, MessageChoice, Interaction, BodyLint, Bool) throws -> Void) throws {
        try self.forEach(number) { number, interaction in
            for message in MessageChoice.allCases {
                let (body, headers) = interaction.body(of: message)
                guard let body, MultipartType(headers) != nil else { continue }
                let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
                guard let lint = try BodyLint(contents, headers: headers) else { continue }
                try found(number, message, interaction, lint, !body.codings.isEmpty || contents.inflated != nil)
            }
        }
    }
}

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
