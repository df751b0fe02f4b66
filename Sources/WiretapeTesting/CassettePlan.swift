internal import Wiretape

/// Which cassette a test runs with, and how.
struct CassettePlan: Sendable {
    var name: CassetteName
    var path: String
    var mode: RecordMode
    /// The test or its suite says the mode: the environment changes nothing.
    var isModeFixed: Bool
    var unused: UnusedRule
    var settings: CassetteSettings

    init(
        _ name: CassetteName, _ options: CassetteOptions, source: String, environment: [String: String]
    ) throws(CassetteTestError) {
        self.name = name
        self.path = name.path(in: try CassetteFolder.path(forSource: source, environment: environment))
        self.mode = try options.mode.recordMode(environment: environment)
        self.isModeFixed = options.mode != .automatic
        self.unused = options.unused ?? .fail
        self.settings = options.settings ?? CassetteSettings()
        if let order = options.order { self.settings.order = order }
    }
}
