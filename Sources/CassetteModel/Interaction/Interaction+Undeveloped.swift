extension Interaction {
    /// Whether a body waits for its readable form.
    public var isUndeveloped: Bool {
        self.request.body?.isUndeveloped(self.request.headers) == true
            || self.response.map { $0.body?.isUndeveloped($0.headers) == true } == true
    }
}
