public import CassetteModel

/// The `Max-Forwards` field of TRACE and OPTIONS (RFC 9110, 7.6.2): how many more times the request may be forwarded.
public struct MaxForwards: Sendable, Hashable {
    /// The field's value.
    public let left: Int

    /// Nil if the field does not apply: another method, no field, several, or one that is no number.
    public init?(_ head: RequestHead) {
        guard head.method == "OPTIONS" || head.method == "TRACE", let index = head.fields.firstIndex(of: "max-forwards"),
            head.fields.firstIndex(of: "max-forwards", from: index + 1) == nil
        else { return nil }
        let digits = head.fields.valueBytes(at: index)
        // More digits are more forwards than there are proxies.
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit), let left = Int(String(decoding: digits.prefix(9), as: UTF8.self)) else {
            return nil
        }
        self.left = left
    }

    /// A request's head as it is forwarded: with one forward less.
    public static func counted(_ head: RequestHead) -> RequestHead {
        guard let limit = MaxForwards(head), limit.left > 0 else { return head }
        var head = head
        head.fields = head.fields.replacing("max-forwards", with: String(limit.left - 1))
        return head
    }
}
