@testable import TapeProxy

extension RunSettings {
    /// The settings in an order for a session.
    static func session(_ change: (inout RunSettings) -> Void) -> RunSettings {
        var settings = RunSettings()
        change(&settings)
        return settings
    }
}

extension Setting {
    static func session(_ value: Value) -> Setting { Setting(value: value, source: .session) }
}
