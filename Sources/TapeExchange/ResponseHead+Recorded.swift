public import CassetteModel

extension RecordedResponse {
    /// A response as its head says it, its body still to come.
    public init(_ head: ResponseHead) {
        self.init(status: head.status, reason: head.reason, version: head.version, headers: head.fields)
        self.omitsReasonSpace = head.omitsReasonSpace
    }
}

extension InterimResponse {
    /// - Parameter at: milliseconds since the exchange started.
    public init(_ head: ResponseHead, at: Double) {
        self.init(version: head.version, status: head.status, reason: head.reason, headers: head.fields, at: at)
        self.omitsReasonSpace = head.omitsReasonSpace
    }
}
