import CassetteFormat
import CassetteModel
import CassetteStore
import CassetteTools
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct TokenUsageTests {
    private func usage(
        _ answer: String, type: String = "application/json", url: String = "https://api.example.test/v1/chat", asked: String = ""
    ) throws -> (model: String, usage: TokenUsage)? {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "POST", url: url),
            response: RecordedResponse(
                status: 200, headers: HeaderFields(["Content-Type: \(type)"]),
                body: Body(size: answer.utf8.count, content: .text(Array(answer.utf8)))))
        if !asked.isEmpty { interaction.request.body = Body(size: asked.utf8.count, content: .text(Array(asked.utf8))) }
        return try TokenUsage.of(interaction, reader: BodyReader(cassettePath: "none.json"))
    }

    private static let answers: [(text: String, type: String, model: String, numbers: [Int])] = [
        (
            #"{"model":"gpt","usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}"#,
            "application/json", "gpt", [10, 5, 4]
        ),
        (#"{"model":"m","usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":1}}"#, "application/json", "m", [3, 2, 1]),
        (
            #"{"modelVersion":"gem","usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":9}}"#, "application/json", "gem",
            [7, 9, 0]
        ),
        (#"{"usage":{"inputTokens":8,"outputTokens":6}}"#, "application/json", "unknown", [8, 6, 0]),
        // The numbers of a stream grow.
        (
            "event: message_start\ndata: {\"message\":{\"model\":\"claude\",\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
                + "event: message_delta\ndata: {\"usage\":{\"output_tokens\":15}}\n\n", "text/event-stream", "claude", [25, 15, 0]
        ),
        (
            "data: {\"response\":{\"model\":\"gpt\",\"usage\":{\"input_tokens\":2,\"output_tokens\":4}}}\n\ndata: [DONE]\n\n",
            "text/event-stream", "gpt", [2, 4, 0]
        ),
        (
            "{\"model\":\"llama\",\"done\":false}\n{\"model\":\"llama\",\"done\":true,\"prompt_eval_count\":11,\"eval_count\":12}\n",
            "application/x-ndjson", "llama", [11, 12, 0]
        ),
    ]

    @Test(arguments: Self.answers.indices)
    func answersOfEachAPIAreRead(_ index: Int) throws {
        let answer = Self.answers[index]
        let (model, usage) = try #require(try self.usage(answer.text, type: answer.type))
        #expect(model == answer.model && [usage.input, usage.output, usage.cached] == answer.numbers)
    }

    /// OpenAI counts them as part of the input, Anthropic apart.
    @Test func cachedTokensAreCountedAsTheServerDoes() throws {
        let within = try #require(try self.usage(Self.answers[0].text)).usage
        #expect(within.cachedApart == 0 && within.stored == 0)
        let apart = try #require(
            try self.usage(#"{"usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":1,"cache_creation_input_tokens":7}}"#)
        ).usage
        #expect(apart == TokenUsage(input: 3, output: 2, cached: 1, cachedApart: 1, stored: 7))
    }

    @Test func otherAnswersNameNone() throws {
        for text in ["", "{}", #"{"usage":"much"}"#, #"{"usage":{"total":1}}"#, "<p>usage</p>", "[1]"] {
            #expect(try self.usage(text) == nil, "\(text)")
        }
    }

    @Test func theModelIsThatOfTheRequestIfTheAnswerHasNone() throws {
        let answer = #"{"usage":{"inputTokens":8,"outputTokens":6}}"#
        #expect(try self.usage(answer, asked: #"{"model":"asked"}"#)?.model == "asked")
        #expect(try self.usage(answer, url: "https://h/v1beta/models/gem-1:generateContent?x=1")?.model == "gem-1")
        #expect(try self.usage(answer, url: "https://h/model/nova/converse")?.model == "nova")
    }

    @Test func sumsAreByModelAndHost() {
        var table = TokenUsageTable()
        for (model, url) in [("a", "https://h:8/x"), ("b", "https://h:8/x"), ("a", "https://h:8/y?q"), ("a", "https://i")] {
            table.add(TokenUsage(input: 1, output: 2, cached: 3), model: model, url: url)
        }
        #expect(table.rows.map { "\($0.model) \($0.host) \($0.answers) \($0.usage.input)" } == ["a h:8 2 2", "b h:8 1 1", "a i 1 1"])
        #expect(table.total.answers == 4 && table.total.usage == TokenUsage(input: 4, output: 8, cached: 12))
    }
}

@Suite struct TokenPricesTests {
    private let prices: TokenPrices

    init() throws {
        self.prices = TokenPrices(
            try ["gpt-5*=1.25,10,0.125", "gpt-*=9,9", "claude=3,15,0.3", "llama=0,0.000001"].map { try TokenPrice($0) })
    }

    @Test(arguments: [
        // (1,000 - 400) × 1.25 + 400 × 0.125 + 200 × 10, and the same with cached tokens that are counted apart.
        ("gpt-5-2026", TokenUsage(input: 1000, output: 200, cached: 400), 2800), ("gpt-4", TokenUsage(input: 1000, output: 1000), 18_000),
        ("claude", TokenUsage(input: 1000, output: 200, cached: 400, cachedApart: 400, stored: 100), 6420),
        ("llama", TokenUsage(input: 5, output: 3_000_000), 3), ("claude-4", TokenUsage(input: 1), nil), ("gpt", TokenUsage(input: 1), nil),
        ("gpt-5", TokenUsage(input: .max), nil),
    ])
    func costsAreExactOrUnknown(model: String, usage: TokenUsage, millionths: Int?) {
        #expect(self.prices.cost(of: usage, model: model) == millionths)
    }

    @Test(arguments: [(0, "0.0000"), (49, "0.0000"), (50, "0.0001"), (2800, "0.0028"), (12_345_678, "12.3457"), (1_000_000, "1.0000")])
    func aCostHasFourDecimals(millionths: Int, text: String) { #expect(TokenPrices.text(millionths) == text) }

    @Test(arguments: [
        "", "gpt", "gpt=", "gpt=1", "=1,2", "gpt=1,2,3,4", "gpt=1,", "gpt=-1,2", "gpt=1.0000001,2", "gpt=1e3,2", "gpt=1000001,2",
        "gpt=1.,2",
    ])
    func whatIsNoPriceIsRefused(text: String) { #expect(throws: TokenPrice.SyntaxError.self) { try TokenPrice(text) } }
}
