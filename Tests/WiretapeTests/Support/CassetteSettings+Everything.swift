@testable import Wiretape

extension CassetteSettings {
    /// Cookies and credentials come back as they came.
    static var everything: CassetteSettings {
        var settings = CassetteSettings()
        settings.redaction = false
        return settings
    }
}
