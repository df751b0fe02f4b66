internal import ArgumentParser

struct CACommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract: "Show, export or install the certificate authority that opens HTTPS.",
        discussion: """
            The authority is made on first use, on this machine, and signs the certificates that programs behind the proxy see. A program \
            behind "--" trusts it by itself; others need "wiretape env" or "wiretape ca install". Keep its key to yourself: whoever has it \
            can read what those who trust the authority say.

            Examples:
              wiretape ca show
              wiretape ca export --format der --output wiretape-ca.der
              wiretape ca install --dry-run
            """,
        subcommands: [CAPathCommand.self, CAShowCommand.self, CAExportCommand.self, CAInstallCommand.self])
}
