package import CassetteModel
package import CassetteStore
internal import TapeBytes

/// The tokens that answers of language models say they used.
///
/// Reads the members of OpenAI (`usage`), Anthropic (`usage`, also in `message_start` and `message_delta`), Gemini (`usageMetadata`), Bedrock
/// (`usage`) and Ollama (`eval_count`). In a stream, later numbers replace earlier ones.
package struct TokenUsage: Sendable, Hashable {
    package var input: Int
    package var output: Int
    /// The part of the input that the server had in a cache.
    package var cached: Int
    /// The cached tokens that `input` does not contain, as Anthropic and Bedrock count.
    package var cachedApart: Int
    /// The tokens that were put into the cache, which `input` does not contain.
    package var stored: Int

    package init(input: Int = 0, output: Int = 0, cached: Int = 0, cachedApart: Int = 0, stored: Int = 0) {
        (self.input, self.output, self.cached, self.cachedApart, self.stored) = (input, output, cached, cachedApart, stored)
    }

    package static func + (left: Self, right: Self) -> Self {
        Self(
            input: Self.sum(left.input, right.input), output: Self.sum(left.output, right.output),
            cached: Self.sum(left.cached, right.cached), cachedApart: Self.sum(left.cachedApart, right.cachedApart),
            stored: Self.sum(left.stored, right.stored))
    }

    /// Recorded numbers may be anything: stops at the largest number.
    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? (left > 0 ? .max : .min) : sum
    }

    /// The tokens of one answer, with the model that it or its request names; nil if the answer names no tokens.
    package static func of(_ interaction: Interaction, reader: BodyReader) throws -> (model: String, usage: TokenUsage)? {
        guard let response = interaction.response, let body = response.body, body.size > 0 else { return nil }
        var found = Found()
        let contents = try BodyContents(body, headers: response.headers, reader: reader)
        if let events = try BodyEvents(body, headers: response.headers, contents: contents) {
            try events.forEach { event in
                found.take(event.event.data)
                return true
            }
        } else {
            guard contents.size <= BodyContents.keptSize, let text = try Self.text(contents) else { return nil }
            // A short answer of a stream of JSON lines may have come in one piece.
            if (try? JSONDocument(text)) != nil {
                found.take(text)
            } else {
                for line in text.split(separator: 10) { found.take(Array(line)) }
            }
        }
        guard let usage = found.usage else { return nil }
        return (found.model ?? Self.model(asked: interaction, reader: reader) ?? "unknown", usage)
    }

    /// Nil unless it begins like JSON.
    private static func text(_ contents: BodyContents) throws -> [UInt8]? {
        var text: [UInt8] = []
        try contents.forEachPiece { text += $0 }
        return text.first { $0 > 32 }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } == true ? text : nil
    }

    /// The model in the request's body, or in its path (`/models/NAME:generateContent`, `/model/NAME/converse`).
    private static func model(asked interaction: Interaction, reader: BodyReader) -> String? {
        if let body = interaction.request.body, body.size <= BodyContents.keptSize,
            let contents = try? BodyContents(body, headers: interaction.request.headers, reader: reader),
            let text = try? Self.text(contents), let model = (try? JSONDocument(text))?.root["model"]?.string
        {
            return model
        }
        let path = interaction.request.url.split(separator: "?").first?.split(separator: "/") ?? []
        guard let index = path.firstIndex(where: { $0 == "models" || $0 == "model" }), index + 1 < path.count else { return nil }
        return path[index + 1].split(separator: ":").first.map(String.init)
    }

    private struct Found {
        var usage: TokenUsage?
        var model: String?

        mutating func take(_ text: [UInt8]) {
            guard text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "["), let root = (try? JSONDocument(text))?.root else {
                return
            }
            for value in root.kind == .array ? Array(root.elements) : [root] {
                for holder in [value, value["message"], value["response"]] {
                    if let holder, holder.kind == .object { self.take(holder) }
                }
            }
        }

        private mutating func take(_ value: JSONValue) {
            if let name = (value["model"] ?? value["modelVersion"])?.string { self.model = self.model ?? name }
            let usage = value["usage"] ?? value["usageMetadata"] ?? value
            func number(_ names: String...) -> Int? { names.lazy.compactMap { usage[$0]?.int }.first }
            let input = number("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count")
            let output = number("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count")
            guard input != nil || output != nil else { return }
            var sum = self.usage ?? TokenUsage()
            if let input { sum.input = input }
            if let output { sum.output = output }
            let details = usage["prompt_tokens_details"] ?? usage["input_tokens_details"]
            if let apart = number("cache_read_input_tokens", "cacheReadInputTokens") {
                (sum.cached, sum.cachedApart) = (apart, apart)
            } else if let cached = number("cachedContentTokenCount") ?? details?["cached_tokens"]?.int {
                (sum.cached, sum.cachedApart) = (cached, 0)
            }
            if let stored = number("cache_creation_input_tokens", "cacheWriteInputTokens") { sum.stored = stored }
            self.usage = sum
        }
    }
}

/// The sums of a cassette, by model and host.
package struct TokenUsageTable {
    package struct Row {
        package var model: String
        package var host: String
        package var answers = 0
        package var usage = TokenUsage()
    }

    /// In order of first appearance.
    package private(set) var rows: [Row] = []

    package init() {}

    package mutating func add(_ usage: TokenUsage, model: String, url: String) {
        let host = url.firstRange(of: "://").map { String(url[$0.upperBound...].prefix { $0 != "/" && $0 != "?" }) } ?? url
        let index = self.rows.firstIndex { $0.model == model && $0.host == host } ?? self.rows.count
        if index == self.rows.count { self.rows.append(Row(model: model, host: host)) }
        self.rows[index].answers += 1
        self.rows[index].usage = self.rows[index].usage + usage
    }

    package var total: Row {
        self.rows.reduce(into: Row(model: "all", host: "")) { sum, row in
            sum.answers += row.answers
            sum.usage = sum.usage + row.usage
        }
    }
}
