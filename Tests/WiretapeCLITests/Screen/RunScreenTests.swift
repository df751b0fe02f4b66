import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct RunScreenTests {
    private let pair: TerminalPair
    private let file: WrittenFile

    init() throws {
        self.pair = try TerminalPair()
        self.file = try WrittenFile()
    }

    private var terminal: Terminal { Terminal(self.pair.descriptor) }
    private var pipe: Terminal { Terminal(self.file.descriptor) }

    @Test func aFileGetsPlainLinesAndNoCounts() throws {
        let screen = RunScreen(quiet: false, hasChild: false, output: self.pipe, errors: self.pipe)
        screen.showCounts { ProxyCounts() }
        screen.say("listening")
        screen.complain("port in use")
        screen.stop()
        #expect(try self.file.text() == "wiretape: listening\nwiretape: port in use\n")
    }

    @Test func quietKeepsComplaints() throws {
        let screen = RunScreen(quiet: true, hasChild: false, output: self.pipe, errors: self.pipe)
        screen.say("listening")
        screen.complain("port in use")
        #expect(try self.file.text() == "wiretape: port in use\n")
    }

    @Test func onATerminalALineGoesOverTheCounts() throws {
        let screen = RunScreen(quiet: false, hasChild: false, output: self.pipe, errors: self.terminal)
        var counts = ProxyCounts()
        counts.exchanges = 7
        screen.showCounts { [counts] in counts }
        var seen = ""
        try Deadline.wait(for: "the counts") {
            seen += self.pair.written()
            return seen.contains("7 exchanges, 0 B") ? () : nil
        }
        screen.say("hello")
        screen.stop()
        seen += self.pair.written()
        #expect(seen.contains("\r\u{1B}[K7 exchanges, 0 B"))
        #expect(seen.contains("\r\u{1B}[Kwiretape: hello\n"))
    }

    @Test(arguments: [true, false])
    func countsAreShownBesideAProgramOnlyWhereItsOutputGoesElsewhere(_ sharesTerminal: Bool) throws {
        let output = sharesTerminal ? self.terminal : self.pipe
        let screen = RunScreen(quiet: false, hasChild: true, output: output, errors: self.terminal)
        screen.say("hello")
        #expect(self.pair.written() == (sharesTerminal ? "" : "\r\u{1B}[K") + "wiretape: hello\n")
    }

    @Test func countsNameOnlyWhatThereIs() {
        var counts = ProxyCounts()
        counts.exchanges = 1
        #expect(RunScreen.line(counts) == "1 exchange, 0 B")
        counts.replayed = 2
        counts.bytes = 1250
        counts.misses = 1
        counts.tunnels = 2
        #expect(RunScreen.line(counts) == "3 exchanges, 1.3 KB, 1 miss, 2 tunnels")
    }
}
