package import CassetteModel
package import CassetteRedaction
package import TapeBytes

/// Functions from other parts of the program that a page uses to redact, send and check answers.
///
/// Each may take long, so none may be called on an event loop. Each ends early if its thread's work is cancelled (`WorkCancellation`).
package struct InspectorTools: Sendable {
    /// Makes a fresh SHA-256.
    package var digest: @Sendable () -> any ContentDigest = { PortableSHA256() }
    /// Why a replay could not send an answer; nil if it could.
    package var unanswerable: @Sendable (Interaction) -> String? = { _ in nil }
    /// The secrets that the rules of the cassette at a path would redact in an exchange that is not in it yet.
    package var secrets: @Sendable (_ interaction: Interaction, _ number: Int, _ path: String) throws -> [RedactionService.Found] = {
        _, _, _ in []
    }
    /// What additional rules would redact in a cassette, and where; nil if that cannot be determined.
    package var tryRedaction: (@Sendable (_ path: String, _ rules: RedactionRules) throws -> RedactionService.Trial)?
    /// Sends a request; nil if this run sends nothing.
    package var send: (@Sendable (SendService.Order, (SendService.Answer) throws -> Void) throws -> Void)?

    package init() {}
}
