public import ArgumentParser
public import TapeTLS

/// What concerns HTTPS in `record`, `replay` and `run` alike: the authority that clients must trust, and how the program comes to.
struct TLSOptions: ParsableArguments {
    @OptionGroup var authority: AuthorityOptions

    @Option(help: ArgumentHelp("The key of --ca-cert, a PEM file without password.", valueName: "file"))
    var caKey: String?

    @Option(help: ArgumentHelp("Lowest TLS version for clients.", valueName: "version"))
    var tlsMin = TLSVersion.tls12

    @Flag(
        help:
            "Linux: the program sees the system's bundle of roots with the authority in it, in a mount namespace of its own. For libraries that read no variables, as URLSession."
    )
    var privateTrust = false

    func validate() throws {
        guard (self.authority.caCert == nil) == (self.caKey == nil) else {
            throw ValidationError("--ca-cert and --ca-key go together: give both, or none for Wiretape's own authority.")
        }
        #if !os(Linux)
        guard !self.privateTrust else {
            throw ValidationError("--private-trust works on Linux alone: run \"wiretape ca install\" instead.")
        }
        #endif
    }
}

extension TLSVersion: ExpressibleByArgument {}
