@testable import TapeProxy

extension RunSettings {
    /// As a session is ordered with.
    static func session(_ change: (inout RunSettings) -> Void) -> RunSettings {
        var settings = RunSettings()
        change(&settings)
        return settings
    }
}

extension Setting {
    static func session(_ value: Value) -> Setting { Setting(value: value, source: .session) }
}
