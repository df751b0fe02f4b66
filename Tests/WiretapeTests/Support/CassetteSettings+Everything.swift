@testable import Wiretape

extension Cassette.Settings {
    /// Cookies and credentials are replayed unchanged.
    static var everything: Cassette.Settings {
        var settings = Cassette.Settings()
        settings.redaction = false
        return settings
    }
}
