/// What the rules make of one exchange, in the order of the effects.
package struct ExchangePlan: Sendable {
    /// The indices of the rules that apply, in their order of effect, and their names.
    package var rules: [Int] = []
    package var names: [String] = []
    /// Nothing else of the plan is set then.
    package var block: Block?
    package var target: MappedTarget?
    package var requestEdit: MessageEdit?
    package var pausesRequest: Pause?
    package var answer: LocalAnswer?
    /// Whether the answer of `block` or `answer` is recorded.
    package var records = false
    package var responseEdit: MessageEdit?
    package var pausesResponse: Pause?
    package var pausesEvents: Pause?
    package var pausesMessages: Pause?
    package var pace: Pace?
    package var fault: Fault?
    /// The values by which quotas count the request: one with another value is another user's.
    package var quotaValues: [[UInt8]] = []

    /// The rule that leaves out, moves, repeats or changes single messages of a WebSocket; nil if there is none. Compressed messages depend on
    /// those before them (RFC 7692, 7.1.1).
    ///
    /// - Parameter canPause: whether somebody may decide about messages.
    package func changesMessages(canPause: Bool) -> Int? {
        switch self.fault?.kind {
        case .drop, .repeat, .reorder: self.fault?.rule
        default: canPause ? self.pausesMessages?.rule : nil
        }
    }
}
