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
