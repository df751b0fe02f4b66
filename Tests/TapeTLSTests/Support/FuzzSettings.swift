import Foundation

/// The number of random trials: a few seconds' worth, multiplied by `WIRETAPE_FUZZ`.
enum FuzzSettings {
    static let factor = ProcessInfo.processInfo.environment["WIRETAPE_FUZZ"].flatMap(Int.init) ?? 1
    /// With a sanitizer, neither the size of the process nor exit tests are meaningful.
    static let isSanitized = ProcessInfo.processInfo.environment["WIRETAPE_SANITIZED"] != nil
}
