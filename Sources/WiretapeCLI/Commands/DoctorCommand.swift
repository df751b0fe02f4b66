internal import ArgumentParser

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at this machine: what can be recorded, who is trusted, and which calls of URLSession end a process.",
        discussion: """
            Changes nothing. Exits with 1 where something that --require names is not so.

            Examples:
              wiretape doctor
              wiretape doctor --require https --require authority
              wiretape doctor --json | jq '.capabilities[] | select(.fatal)'
            """)

    @Option(
        help: ArgumentHelp(
            "What has to be so: swift, libcurl, namespace, authority, system-trust, https (of URLSession). Can be repeated.",
            valueName: "what"))
    var require: [CheckupRequirement] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.told { () throws(TrustError) in
            let checkup = Checkup(try CheckupReadings.take(self.authority))
            let page = CheckupPage(checkup: checkup)
            if self.json { Terminal.output.line(page.json) } else { for line in page.lines { Terminal.output.line(line) } }
            let missing = checkup.missing(self.require)
            guard let last = missing.last else { return }
            for line in missing.dropLast() { Terminal.error.complain(line) }
            throw TrustError(last)
        }
    }
}
