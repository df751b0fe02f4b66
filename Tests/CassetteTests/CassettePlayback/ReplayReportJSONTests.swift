@testable import CassettePlayback
import Testing

@Suite struct ReplayReportJSONTests {
    @Test func itHasTheDocumentedShape() {
        let text = String(decoding: ReplayReportJSON.bytes(SampleReport.whole), as: UTF8.self)
        #expect(text == Self.golden)
    }

    @Test func aRequestThatCouldNotBeDecidedNamesNoExchange() {
        var report = SampleReport.clean
        report.verdict.unserved = 1
        report.verdict.unservedAnswers = [UnservedAnswer(index: nil, problem: "line 4 is damaged")]
        let text = String(decoding: ReplayReportJSON.bytes(report), as: UTF8.self)
        #expect(text.contains("\"clean\": false") && text.contains("\"flaws\": [\"unserved\"]"), "\(text)")
        #expect(text.contains("\"notServed\": [\n    {\n      \"problem\": \"line 4 is damaged\"\n    }\n  ]"), "\(text)")
    }

    @Test func messagesThatWereNotSentNameTheirExchange() {
        var report = SampleReport.clean
        report.verdict.unsent = 1
        report.verdict.unsentMessages = [UnsentMessages(index: 0, request: "POST http://a.test/", sent: 2, recorded: 3)]
        let text = String(decoding: ReplayReportJSON.bytes(report), as: UTF8.self)
        #expect(text.contains("\"clean\": false") && text.contains("\"flaws\": [\"unused\"]"), "\(text)")
        #expect(text.contains("\"sent\": 2,\n      \"recorded\": 3"), "\(text)")
        #expect(String(decoding: report.junit(), as: UTF8.self).contains("failures=\"1\""))
    }

    private static let golden = #"""
        {
          "wiretapeReport": 1,
          "cassette": "pets.json",
          "mode": "none",
          "repeat": "last",
          "order": "any",
          "clean": false,
          "flaws": ["miss", "unused", "order", "unserved", "damage"],
          "exchanges": 5,
          "hits": 3,
          "repeatedHits": 1,
          "forwarded": 0,
          "unreached": 0,
          "answeredByRules": 0,
          "misses": 2,
          "unused": 1,
          "orderViolations": 1,
          "unserved": 1,
          "unsent": 0,
          "computed": 0,
          "damage": "the end is missing",
          "missed": [
            {
              "request": "GET http://a.test/5?ts=2",
              "reason": "not-recorded",
              "nearest": [
                {
                  "exchange": 5,
                  "id": 5,
                  "request": "GET http://a.test/5?ts=1",
                  "usedUp": false,
                  "differences": ["query item is \"ts=2\", recorded is \"ts=1\""]
                }
              ],
              "ignore": ["query:ts"],
              "next": "to match it with exchange 5, run with: --ignore query:ts; to record it, run: wiretape run --mode new-episodes CASSETTE -- COMMAND"
            },
            {
              "request": "GET http://a.test/1",
              "reason": "used-up",
              "nearest": [],
              "ignore": [],
              "next": "to repeat the last answer, run with: --repeat last; to record one more, run: wiretape run --mode new-episodes CASSETTE -- COMMAND"
            }
          ],
          "outOfOrder": [
            {
              "exchange": 1,
              "id": 1,
              "request": "GET http://a.test/1",
              "refused": false,
              "other": { "exchange": 2, "id": 2, "request": "GET http://a.test/2" },
              "text": "exchange 1, \"GET http://a.test/1\", answered after exchange 2, \"GET http://a.test/2\""
            }
          ],
          "notServed": [
            {
              "exchange": 2,
              "id": 2,
              "request": "GET http://a.test/2",
              "problem": "the body's file \\\"x\\\" is missing; record the exchange again"
            }
          ],
          "notSent": [],
          "computedAnswers": [],
          "unusedExchanges": [
            { "exchange": 3, "id": 3, "request": "POST http://a.test/3" }
          ]
        }

        """#
}
