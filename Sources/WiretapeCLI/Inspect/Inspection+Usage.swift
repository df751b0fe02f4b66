internal import CassetteTools
internal import TapeBytes

// The tokens that the answers of language models name.
extension Inspection {
    /// - Parameter prices: adds what the tokens cost; empty if no prices are known.
    func usage(prices: TokenPrices) throws {
        let table = try self.usageTable()
        guard !table.rows.isEmpty else { return try self.write("no answer of \"\(VisibleText.line(self.file))\" names tokens.\n") }
        var lines = [["model", "host", "answers", "input", "output", "cached"] + (prices.isEmpty ? [] : ["cost"])]
        func add(_ row: TokenUsageTable.Row, _ cost: Int?) {
            let numbers = [row.answers, row.usage.input, row.usage.output, row.usage.cached].map(String.init)
            let costs = prices.isEmpty ? [] : [cost.map(TokenPrices.text) ?? "?"]
            lines.append([VisibleText.line(row.model), VisibleText.line(row.host)] + numbers + costs)
        }
        let costs = table.rows.map { prices.cost(of: $0.usage, model: $0.model) }
        for (row, cost) in zip(table.rows, costs) { add(row, cost) }
        // A sum without some of the models would look like the whole.
        if table.rows.count > 1 { add(table.total, costs.contains(nil) ? nil : costs.compactMap { $0 }.reduce(0, +)) }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        for line in lines {
            let words = line.enumerated().map { column, word in
                let padding = String(repeating: " ", count: widths[column] - word.count)
                return column < 2 ? word + padding : padding + word
            }
            try self.write(words.joined(separator: "  ") + "\n")
        }
    }

    func usageJSON(prices: TokenPrices) throws {
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
            if let cost = prices.cost(of: row.usage, model: row.model) {
                writer.member("cost")
                writer.string(TokenPrices.text(cost))
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
