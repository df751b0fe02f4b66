internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import Platform
internal import TapeBytes

struct TailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Follow a cassette that another process records.",
        discussion: """
            Prints a line for each exchange as it ends: method, status, size of the answer, time, URL. Broken uploads have the first \
            defect below them. Takes no lock, and runs until Ctrl-C.

            Examples:
              wiretape tail Cassettes/pets.json
              wiretape tail Cassettes/pets.json --last 0 --filter '~c 500 | ~e'
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Option(name: .shortAndLong, help: ArgumentHelp("How many earlier exchanges to begin with.", valueName: "number"))
    var last = 10

    @Option(help: ArgumentHelp("Only the exchanges that match this expression: see \"wiretape inspect --help\".", valueName: "expr"))
    var filter: String?

    @Flag(help: "Print what is there, and end.")
    var once = false

    /// Microseconds between two looks.
    private static let pause: UInt32 = 150_000

    func validate() throws {
        guard self.last >= 0 else { throw ValidationError("--last takes a number from 0.") }
        guard let filter = self.filter else { return }
        do {
            _ = try FilterParser.parse(filter)
        } catch {
            throw ValidationError(VisibleText.line(error.message) + ".")
        }
    }

    func run() throws {
        SignalThread.unblock()
        try CommandEnd.run {
            CareCommand.mentionRecordings(beside: self.file)
            let filter = try self.filter.map {
                ExchangeFilter(try FilterParser.parse($0), reader: BodyReader(cassettePath: self.file))
            }
            var follower = try ExchangeFollower(path: self.file, last: self.last)
            var line = ExchangeLine(
                paint: Paint(isOn: Terminal.output.usesColor), width: Terminal.output.isTerminal ? Terminal.output.width : nil)
            repeat {
                for one in try follower.news() {
                    switch one {
                    case .replaced: Terminal.error.complain("\"\(self.file)\" is another file now: following that.")
                    case .exchange(let row, let interaction, let lint):
                        guard try filter?.matches(interaction) != false else { continue }
                        Terminal.output.line(line.recorded(row, lint: lint))
                    }
                }
                if !self.once { usleep(Self.pause) }
            } while !self.once
            return ExitStatus.done
        }
    }
}
