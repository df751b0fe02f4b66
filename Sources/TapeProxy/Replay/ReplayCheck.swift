public import CassetteModel
internal import TapeExchange

/// Whether a recorded answer could be replayed, without replaying it.
public enum ReplayCheck {
    /// Why a replay would not send the answer; nil where it would. Looks at the heads: bodies are for `CassetteVerifier`.
    public static func problem(of interaction: Interaction) -> String? {
        do throws(MessageError) {
            _ = try RecordedAnswer(interaction, payload: .none, size: interaction.response?.body?.size ?? 0)
            return nil
        } catch {
            return error.message
        }
    }
}
