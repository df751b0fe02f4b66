internal import CassetteTools
internal import TapeBytes

// The tokens that the answers of language models name.
extension Inspection {
    func usage() throws {
        let table = try self.usageTable()
        guard !table.rows.isEmpty else { return try self.write("no answer of \"\(VisibleText.line(self.file))\" names tokens.\n") }
        var lines = [["model", "host", "answers", "input", "output", "cached"]]
        for row in table.rows + (table.rows.count > 1 ? [table.total] : []) {
            let numbers = [row.answers, row.usage.input, row.usage.output, row.usage.cached].map(String.init)
            lines.append([VisibleText.line(row.model), VisibleText.line(row.host)] + numbers)
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        for line in lines {
            let words = line.enumerated().map { column, word in
                let padding = String(repeating: " ", count: widths[column] - word.count)
                return column < 2 ? word + padding : padding + word
            }
            try self.write(words.joined(separator: "  ") + "\n")
        }
    }

    func usageJSON() throws {
        var writer = JSONWriter()
        writer.beginArray(.lines)
        for row in try self.usageTable().rows {
            writer.element()
            writer.beginObject(.inline)
            writer.member("model")
            writer.string(row.model)
            writer.member("host")
            writer.string(row.host)
            for (name, number) in [
                ("answers", row.answers), ("input", row.usage.input), ("output", row.usage.output), ("cached", row.usage.cached),
            ] {
                writer.member(named: name)
                writer.integer(number)
            }
            writer.endObject()
        }
        writer.endArray()
        try self.writeJSON(writer.bytes)
    }

    private func usageTable() throws -> TokenUsageTable {
        var table = TokenUsageTable()
        try self.forEachWanted { number, interaction in
            do {
                guard let (model, usage) = try TokenUsage.of(interaction, reader: self.reader) else { return }
                table.add(usage, model: model, url: interaction.request.url)
            } catch {
                self.warn("exchange \(number) is not counted: \(error)")
            }
        }
        return table
    }
}
