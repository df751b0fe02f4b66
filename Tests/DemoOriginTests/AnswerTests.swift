import NIOHTTP1
import Testing

@testable import DemoOrigin

struct AnswerTests {
    @Test func typeComesFirstAndFurtherFieldsBehindIt() {
        let answer = Answer(.ok, json: "{}", headers: ["A": "b"])
        #expect(answer.headers.map(\.name) == ["Content-Type", "A"])
        #expect(answer.pieces == [Array("{}".utf8)])
    }
}
