internal import ArgumentParser
internal import TapeProxy

/// Which configuration file a command reads.
struct ConfigOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file, in place of the nearest wiretape.yaml, wiretape.yml or wiretape.json from here up to the repository's root.",
            valueName: "file"))
    var config: String?

    @Flag(help: "Read no configuration file.")
    var noConfig = false

    func validate() throws {
        guard self.config == nil || !self.noConfig else {
            throw ValidationError("--config and --no-config do not go together: give one of them.")
        }
    }

    /// Nil where there is none.
    func file() throws(SettingError) -> ConfigFile? {
        guard !self.noConfig else { return nil }
        if let config { return try ConfigFile(path: config) }
        guard let path = try ConfigSearch.system.path() else { return nil }
        return try ConfigFile(path: path)
    }
}
