import CassetteModel
import Testing

@testable import CassetteTools
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

    @Test func aCutIsSaidBesideTheStatus() {
        let cut = Outcome.cut(Cut(by: .origin, reason: "closed"))
        #expect(ExchangeRow(number: 1, .sample(outcome: cut)).statusWords == "200 cut")
        #expect(ExchangeRow(number: 1, .sample(outcome: cut)).shortStatusWords == "200 cut")
        #expect(ExchangeRow(number: 1, .sample(status: nil, outcome: cut)).statusWords == "cut")
        #expect(ExchangeRow(number: 1, .sample(outcome: cut)).outcomeWords == "cut origin")
    }

    @Test func aResponseThatIsMissingWithoutAReasonShowsAsNothing() {
        #expect(ExchangeRow(number: 1, .sample(status: nil)).statusWords == "-")
    }

    @Test func aTypeThatIsNoneShowsAsItStands() {
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
