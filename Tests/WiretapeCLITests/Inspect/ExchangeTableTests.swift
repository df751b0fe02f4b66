import CassetteModel
@testable import CassetteTools
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ExchangeTableTests {
    private func table(_ interactions: [Interaction], _ screen: InspectScreen) throws -> [String] {
        let sink = TextSink()
        var table = ExchangeTable(count: interactions.count, screen: screen, write: sink.write)
        for (index, interaction) in interactions.enumerated() { try table.append(ExchangeRow(number: index + 1, interaction)) }
        try table.finish()
        return Array(sink.lines.dropLast())
    }

    private let some: [Interaction] = [
        .sample(1, "GET", "http://a/pets", body: Body(size: 43, content: .empty)),
        .sample(2, at: 1250, "DELETE", "http://a/이름", status: 404, type: "text/html", timing: Timing()),
        .sample(3, at: 2000, status: nil, outcome: .failed(Failure(kind: .refused, message: "")), timing: Timing(total: 12)),
    ]

    @Test func columnsStandBelowEachOther() throws {
        #expect(
            try self.table(self.some, .piped) == [
                "#  method  url            status          type              size    time  phases     start",
                "1  GET     http://a/pets  200             application/json  43 B  1.5 ms          +0.000 s",
                "2  DELETE  http://a/이름  404             text/html            -       -          +1.250 s",
                "3  GET     http://a/pets  failed refused  -                    -   12 ms          +2.000 s",
                "3 exchanges, 43 B of bodies in 2012 ms; 1 failed.",
            ])
    }

    @Test(arguments: [60, 70, 80, 90, 100, 120]) func rowsFitTheTerminal(width: Int) throws {
        var interactions = self.some
        interactions[0].request.url = "http://origin.example/" + String(repeating: "이름/", count: 60) + "end?x=1"
        let lines = try self.table(interactions, .terminal(width))
        for line in lines { #expect(TextWidth.columns(line) <= width) }
        #expect(lines[1].contains("…"))
        #expect(lines[1].contains("x=1 "))
    }

    @Test func aFileGetsTheWholeURL() throws {
        let url = "http://a/" + String(repeating: "x", count: 3000)
        #expect(try self.table([.sample(1, "GET", url), .sample(2)], .piped)[1].contains(url + "  200"))
    }

    @Test func phasesHaveABarAndTheBarALegend() throws {
        let timed = Interaction.sample(timing: Timing(connect: 1, wait: 2, receive: 1, total: 4))
        let lines = try self.table([timed], .terminal(120))
        #expect(lines[0].contains("  phases  "))
        #expect(lines[1].contains("  ░░▓▓▓▓██  "))
        #expect(lines[2] == "phases: ░ connect  ▒ send  ▓ wait  █ receive")
        #expect(lines[3].hasPrefix("1 exchange, "))
        #expect(try self.table([timed], .terminal(120, colored: true))[1].contains("\u{1B}[36m▓▓▓▓\u{1B}[0m"))
        #expect(try self.table([timed], .terminal(60)).count == 3)
    }

    @Test func typesLoseTheirFirstHalfBeforeURLsGetShort() throws {
        let url = "http://a/" + String(repeating: "x", count: 50)
        #expect(try self.table([.sample(1, "GET", url)], .terminal(90))[1].contains("  json  "))
        #expect(try self.table([.sample(1, "GET", url)], .terminal(140))[1].contains("  application/json  "))
    }

    @Test func recordedControlsDoNotPass() throws {
        let lines = try self.table([.sample(1, "GET\u{9B}", "http://a/\u{202E}x", type: "\u{1B}[2J")], .piped)
        #expect(lines[1].hasPrefix(#"1  GET\u{9b}  http://a/\u{202e}x  200     \u{1b}[2J"#))
    }

    @Test func statusesAreColored() throws {
        let lines = try self.table(self.some, .terminal(120, colored: true))
        #expect(lines[1].contains("\u{1B}[32m200 "))
        #expect(lines[2].contains("\u{1B}[33m404 "))
        #expect(lines[3].contains("\u{1B}[31mfailed refused\u{1B}[0m"))
    }

    @Test func rowsPassThroughOnceWidthsAreSettled() throws {
        let sink = TextSink()
        var table = ExchangeTable(count: 2000, screen: .piped, write: sink.write)
        for number in 1...2000 {
            try table.append(ExchangeRow(number: number, .sample(number, "GET", "http://a/\(number)")))
            if number == 1000 { #expect(sink.lines.count > 900) }
        }
        try table.finish()
        #expect(sink.lines.count == 2003)
        // The thousandth URL is the first that is wider than those that determined the widths.
        let widths = sink.lines[1...2000].map { $0.count }
        #expect(widths == Array(repeating: widths[0], count: 999) + Array(repeating: widths[0] + 1, count: 1001))
    }

    @Test func numbersPastAllReasonAreShown() throws {
        let huge = Interaction.sample(
            1, body: Body(size: .max, content: .empty), outcome: .cut(Cut(by: .client, reason: "")), timing: Timing(total: 1e300))
        let odd = Interaction.sample(2, at: -5000, body: Body(size: .max, content: .empty), timing: Timing(total: -1e300))
        let lines = try self.table([huge, odd], .terminal(80))
        #expect(lines.last?.hasSuffix("; 1 cut.") == true)
    }

    @Test func aTerminalOfEightyColumnsShowsAllThatMatters() throws {
        let timing = Timing(connect: 1, wait: 2, receive: 1, total: 4)
        let failure = Outcome.failed(Failure(kind: .unreachable, message: ""))
        let lines = try self.table(
            [
                .sample(1, "DELETE", "http://origin.example/pets/12345", body: Body(size: 43_210, content: .empty), timing: timing),
                .sample(2, "GET", "https://origin.example/", status: nil, outcome: failure, timing: timing),
            ], .terminal(80))
        #expect(
            lines.prefix(3) == [
                "# method url                    status      type            size   time phases  ",
                "1 DELETE origin.exam…pets/12345 200         json         43.2 KB 4.0 ms ░░▓▓▓▓██",
                "2 GET    https://ori…n.example/ unreachable -                  - 4.0 ms ░░▓▓▓▓██",
            ])
    }
}

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
