/// The tool's version, as `--version` and the cassette's `recorder` have it.
enum Version {
    static let current = "0.1.0"
}
