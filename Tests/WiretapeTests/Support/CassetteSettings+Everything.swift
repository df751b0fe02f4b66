@testable import Wiretape

extension Cassette.Settings {
    /// Cookies and credentials come back as they came.
    static var everything: Cassette.Settings {
        var settings = Cassette.Settings()
        settings.redaction = false
        return settings
    }
}
