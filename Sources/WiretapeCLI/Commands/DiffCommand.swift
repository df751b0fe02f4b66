internal import ArgumentParser
internal import CassetteTools

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two cassettes, exchange by exchange.",
        discussion: """
            Exchanges are paired by their request, in order; those left over by method and URL without the query. Bodies are compared \
            by their content: JSON by pointer, forms by field, multipart bodies by part, others by the first octet that differs. \
            Left out, unless --all asks for them: times, ids, addresses, and header fields that differ with every answer, such as Date, \
            Server-Timing and X-Request-Id. Values of secrets are not shown.

            Exit codes: 0 no difference, 1 differences, 2 a cassette could not be read.

            Examples:
              wiretape diff Cassettes/pets.json Cassettes/pets.new.json
              wiretape diff old.json new.json --all
              wiretape diff old.json new.json --json | jq '.[] | select(.kind == "changed")'
            """)

    @Argument(help: "The cassette before.")
    var old: String

    @Argument(help: "The cassette after.")
    var new: String

    @Flag(help: "Also what differs from one recording to the next.")
    var all = false

    @Flag(help: "A JSON array with an object for each exchange that differs.")
    var json = false

    func run() throws {
        SignalThread.unblock()
        guard try !self.diff() else { throw ExitCode(ExitStatus.different) }
    }

    /// Without a word on signals, which belong to the process.
    ///
    /// - Returns: whether anything differs.
    func diff() throws -> Bool {
        try CareCommand.run {
            let (old, new) = (try CareCommand.cassette(self.old), try CareCommand.cassette(self.new))
            let output = try OutputFile(path: nil)
            var page = DiffPage(isJSON: self.json) { try output.write($0) }
            let comparison = CassetteDiff(old: old, new: new, showsAll: self.all, digest: CareCommand.digest)
            let same = try comparison.run { try page.append($0) }
            try page.finish(same: same)
            try output.finish()
            return page.differs
        }
    }
}
