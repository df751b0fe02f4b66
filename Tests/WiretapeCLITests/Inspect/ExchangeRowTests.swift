import CassetteModel
@testable import CassetteTools
import TapeBytes
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct ExchangeRowTests {
    @Test func aCompleteExchangeShowsItsStatus() {
        let row = ExchangeRow(number: 3, .sample(7, body: Body(size: 43, content: .text([]))))
        #expect(row.number == 3)
        #expect(row.id == 7)
        #expect(row.statusWords == "200")
        #expect(row.statusColor == .green)
        #expect(row.outcomeWords == "complete")
        #expect(row.type == "application/json")
        #expect(row.size == 43)
        #expect(row.total == 1.5)
    }

    @Test func aFailureTakesTheStatusPlace() {
        let row = ExchangeRow(number: 1, .sample(status: nil, outcome: .failed(Failure(kind: .refused, message: ""))))
        #expect(row.statusWords == "failed refused")
        #expect(row.shortStatusWords == "refused")
        #expect(row.statusColor == .red)
        #expect(row.outcomeWords == "failed refused")
        #expect(row.size == nil)
        #expect(row.type == nil)
    }

    @Test func aCutIsShownNextToTheStatus() {
        let cut = Outcome.cut(Cut(by: .origin, reason: "closed"))
        #expect(ExchangeRow(number: 1, .sample(outcome: cut)).statusWords == "200 cut")
        #expect(ExchangeRow(number: 1, .sample(outcome: cut)).shortStatusWords == "200 cut")
        #expect(ExchangeRow(number: 1, .sample(status: nil, outcome: cut)).statusWords == "cut")
        #expect(ExchangeRow(number: 1, .sample(outcome: cut)).outcomeWords == "cut origin")
    }

    @Test func aResponseThatIsMissingWithoutAReasonShowsAsNothing() {
        #expect(ExchangeRow(number: 1, .sample(status: nil)).statusWords == "-")
    }

    @Test func anInvalidTypeIsShownUnchanged() {
        #expect(ExchangeRow.type(HeaderFields(["content-type: Text/HTML; charset=utf-8"])) == "text/html")
        #expect(ExchangeRow.type(HeaderFields(["Content-Type: nonsense"])) == "nonsense")
        #expect(ExchangeRow.type(HeaderFields(["Content: text/html"])) == nil)
    }

    @Test func aTunnelCountsWhatCameBack() {
        var interaction = Interaction.sample(status: 101)
        interaction.tunnel = TunnelCounts(sent: 1, received: 20)
        #expect(ExchangeRow(number: 1, interaction).size == 20)
    }

    @Test func sizesOfAnyHeightAddUp() {
        #expect(ExchangeRow.sum(1, 2) == 3)
        #expect(ExchangeRow.sum(.max, 1) == .max)
    }
}

@Suite struct ExchangeListJSONTests {
    private func list(_ interactions: [Interaction]) throws -> String {
        let sink = TextSink()
        var list = ExchangeListJSON(write: sink.write)
        for (index, interaction) in interactions.enumerated() { try list.append(ExchangeRow(number: index + 1, interaction)) }
        try list.finish()
        return sink.text
    }

    @Test func eachExchangeIsAnObjectOnItsLine() throws {
        let text = try self.list([
            .sample(4, body: Body(size: 43, content: .empty)),
            .sample(5, status: nil, outcome: .failed(Failure(kind: .dns, message: "")), timing: Timing()),
        ])
        #expect(
            text == """
                [
                  { "number": 1, "id": 4, "method": "GET", "url": "http://a/pets", "status": 200, "grpcStatus": null, "version": "HTTP/1.1", "type": "application/json", "size": 43, "tls": null, "started": "2026-11-21T12:00:00.000000Z", "total": 1.5, "outcome": "complete", "messages": null, "open": false, "defects": null },
                  { "number": 2, "id": 5, "method": "GET", "url": "http://a/pets", "status": null, "grpcStatus": null, "version": null, "type": null, "size": null, "tls": null, "started": "2026-11-21T12:00:00.000000Z", "total": null, "outcome": "failed dns", "messages": null, "open": false, "defects": null }
                ]

                """)
    }

    @Test func theVersionOfTLSIsListed() throws {
        var interaction = Interaction.sample(1, "GET", "https://a/")
        interaction.connection = ConnectionInfo(
            id: 1, remote: "192.0.2.1:443", isReused: false, tls: TLSDetails(version: "TLSv1.3", cipher: "X"))
        #expect(try self.list([interaction]).contains(#", "tls": "TLSv1.3", "#))
    }

    @Test func noExchangeIsAnEmptyArray() throws {
        #expect(try self.list([]) == "[]\n")
    }

    @Test func hiddenCharactersAreEscapedInTheSameValue() throws {
        let interaction = Interaction.sample(1, "GET", "http://a/\u{202E}\u{9B}")
        let shown = try self.list([interaction])
        #expect(shown.contains(#""http://a/\u202e\u009b""#))
        let first = try #require(JSONDocument(Array(shown.utf8)).root.elements.first { _ in true })
        #expect(first["url"]?.string == "http://a/\u{202E}\u{9B}")
    }
}
