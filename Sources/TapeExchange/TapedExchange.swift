public import CassetteModel

/// One exchange as it was taped: an interaction whose bodies are still wire octets.
///
/// A class, so that handing it from thread to thread and queue to queue costs one reference and not one for each of its parts.
public final class TapedExchange: Sendable {
    /// Everything but the bodies, which `interaction` leaves nil.
    public let interaction: Interaction
    public let requestBody: TapedBody?
    public let responseBody: TapedBody?

    public init(interaction: Interaction, requestBody: TapedBody? = nil, responseBody: TapedBody? = nil) {
        self.interaction = interaction
        self.requestBody = requestBody
        self.responseBody = responseBody
    }

    /// An estimate of the memory it holds, in octets.
    public var weight: Int {
        512 + (self.requestBody?.bytes.count ?? 0) + (self.responseBody?.bytes.count ?? 0)
    }
}
