import CassetteModel
import Testing

@testable import WiretapeCLI

@Suite struct PhaseBarTests {
    @Test(arguments: [
        (Timing(connect: 2, send: 2, wait: 2, receive: 2), "░░▒▒▓▓██"),
        (Timing(blocked: 1, dns: 1, connect: 1, tls: 1, wait: 4), "░░░░▓▓▓▓"),
        (Timing(send: 0.001, wait: 10, receive: 0.001), "▓▓▓▓▓▓▓▓"), (Timing(), ""), (Timing(wait: 0), ""), (Timing(total: 5), ""),
        (Timing(wait: .infinity, receive: 1), "████████"), (Timing(send: -5, wait: 3), "▓▓▓▓▓▓▓▓"),
        (Timing(wait: 1e308, receive: 1e308), "▓▓▓▓████"),
    ])
    func showsWhereTheTimeWent(timing: Timing, bar: String) {
        #expect(PhaseBar(timing).text == bar)
        #expect(PhaseBar(timing).isEmpty == bar.isEmpty)
    }

    @Test func alwaysFillsItsWidth() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<500 {
            func time() -> Double { Double.random(in: 0...10, using: &generator) }
            #expect(PhaseBar(Timing(connect: time(), send: time(), wait: time(), receive: time())).text.count == PhaseBar.width)
        }
    }

    @Test func colorsComeWithTheShades() {
        #expect(PhaseBar(Timing(wait: 1, receive: 1)).painted(Paint(isOn: true)) == "\u{1B}[36m▓▓▓▓\u{1B}[0m\u{1B}[32m████\u{1B}[0m")
        #expect(PhaseBar.legend(Paint(isOn: false)) == "░ connect  ▒ send  ▓ wait  █ receive")
    }
}
