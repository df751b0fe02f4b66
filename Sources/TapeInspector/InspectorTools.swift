package import CassetteModel
package import CassetteRedaction
package import TapeBytes

/// What other parts of the program do for a page: those that redact, send, and answer.
///
/// Each may take long: not for an event loop. Each ends early if its thread's work is cancelled (`WorkCancellation`).
package struct InspectorTools: Sendable {
    /// Makes a fresh SHA-256.
    package var digest: @Sendable () -> any ContentDigest = { PortableSHA256() }
    /// Why a replay could not send an answer; nil if it could.
    package var unanswerable: @Sendable (Interaction) -> String? = { _ in nil }
    /// What the rules of the cassette at a path would take out of an exchange that is not in it yet.
    package var secrets: @Sendable (_ interaction: Interaction, _ number: Int, _ path: String) throws -> [RedactionService.Found] = {
        _, _, _ in []
    }
    /// What more rules would take out of a cassette, and where; nil if that cannot be told.
    package var tryRedaction: (@Sendable (_ path: String, _ rules: RedactionRules) throws -> RedactionService.Trial)?
    /// Sends a request; nil if this run sends nothing.
    package var send: (@Sendable (SendService.Order, (SendService.Answer) throws -> Void) throws -> Void)?

    package init() {}
}
