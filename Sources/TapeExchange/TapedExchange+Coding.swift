internal import CassetteModel

extension TapedExchange {
    /// Whether a body has a content coding on it, so that its readable form costs more than the exchange did.
    public var isCoded: Bool {
        self.requestBody != nil && self.interaction.request.headers.contains("content-encoding")
            || self.responseBody != nil && self.interaction.response?.headers.contains("content-encoding") == true
    }
}
