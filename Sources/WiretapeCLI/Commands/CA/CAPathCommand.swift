internal import ArgumentParser

struct CAPathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the path of the authority's certificate, a PEM file.",
        discussion: """
            Example:
              curl --cacert "$(wiretape ca path)" --proxy 127.0.0.1:7070 https://example.test/
            """)

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.told { () throws(TrustError) in Terminal.output.line(try self.authority.certificate().file) }
    }
}
