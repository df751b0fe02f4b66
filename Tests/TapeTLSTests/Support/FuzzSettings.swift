import Foundation

/// How much is tried with chance: a share of a few seconds, or what `WIRETAPE_FUZZ` multiplies it by.
enum FuzzSettings {
    static let factor = ProcessInfo.processInfo.environment["WIRETAPE_FUZZ"].flatMap(Int.init) ?? 1
    /// Under a sanitizer neither the size of the process nor exit tests tell anything.
    static let isSanitized = ProcessInfo.processInfo.environment["WIRETAPE_SANITIZED"] != nil
}
