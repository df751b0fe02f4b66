import Testing

@testable import CassettePlayback
@testable import CassetteStore

@Suite struct CassetteSessionReportTests {
    @Test func tellsOfEachExchangeHowOftenItAnswered() {
        let keys = RecordedKeys([("GET", "http://a.test/a"), ("CONNECT", "https://a.test/"), ("GET", "http://a.test/b")])
        let session = CassetteSession(mode: .none, keys: keys, hasCassette: true, repetition: .last, order: .strict)
        _ = session.head("GET", "http://a.test/a")
        _ = session.head("GET", "http://a.test/a")
        let report = session.report(name: "a\u{1B}.json", cassette: nil)
        #expect(report.exchanges.map(\.answers) == [2, nil, 0])
        #expect(report.exchanges.map(\.request) == ["GET http://a.test/a", "CONNECT", "GET http://a.test/b"])
        #expect(report.exchanges.map(\.id) == [1, 2, 3])
        #expect(report.verdict == session.verdict() && report.order == .strict && report.repetition == .last)
        #expect(!report.cassette.contains("\u{1B}"))
    }
}
