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
