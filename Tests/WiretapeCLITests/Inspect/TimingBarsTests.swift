import CassetteModel
import Testing

@testable import WiretapeCLI

@Suite struct TimingBarsTests {
    @Test func eachBarBeginsWhereTheOneBeforeEnded() {
        #expect(
            TimingBars.lines(Timing(connect: 8, send: 0, wait: 8, receive: 16, total: 32)) == [
                "connect     8.0 ms  ████████",
                "send        0.0 ms",
                "wait        8.0 ms          ████████",
                "receive      16 ms                  ████████████████",
                "total        32 ms",
            ])
    }

    @Test func aShortPhaseIsASliver() {
        #expect(TimingBars.lines(Timing(send: 0.001, total: 100)) == ["send        0.0 ms  ▏", "total       100 ms"])
    }

    @Test func barsHaveTheColorsOfTheList() {
        let lines = TimingBars.lines(Timing(tls: 1, send: 1, wait: 1, receive: 1), Paint(isOn: true))
        #expect(zip(lines, ["35", "33", "36", "32"]).allSatisfy { $0.contains("\u{1B}[\($1)m") && $0.hasSuffix("\u{1B}[0m") })
        #expect(lines.count == 4)
    }

    @Test func noTimingIsNoLine() {
        #expect(TimingBars.lines(Timing()) == [])
    }

    @Test(arguments: [
        Timing(blocked: 1e308, dns: 1e308, wait: 1, total: 7), Timing(send: -5, wait: 1e-300, total: -1),
        Timing(connect: 3, wait: 3, total: 1),
        Timing(wait: .infinity),
    ])
    func oddTimesStayWithinTheirColumns(timing: Timing) {
        for line in TimingBars.lines(timing) { #expect(TextWidth.columns(line) <= 28 + TimingBars.width) }
    }
}
