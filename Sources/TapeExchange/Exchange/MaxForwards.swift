internal import CassetteModel

/// The `Max-Forwards` field of TRACE and OPTIONS (RFC 9110, 7.6.2): how many more times the request may be forwarded.
public enum MaxForwards {
    /// The field's value; nil if the field does not apply: another method, no field, several fields, or an invalid number.
    public static func left(of head: RequestHead) -> Int? {
        guard head.method == "OPTIONS" || head.method == "TRACE", let index = head.fields.firstIndex(of: "max-forwards"),
            head.fields.firstIndex(of: "max-forwards", from: index + 1) == nil
        else { return nil }
        let digits = head.fields.valueBytes(at: index)
        // More digits than this exceed any number of proxies.
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int(String(decoding: digits.prefix(9), as: UTF8.self))
    }

    /// A request head to forward, with the count reduced by one; nil if it is forwarded unchanged.
    public static func counted(_ head: RequestHead) -> RequestHead? {
        guard let left = self.left(of: head), left > 0 else { return nil }
        var head = head
        head.fields = head.fields.replacing("max-forwards", with: String(left - 1))
        return head
    }
}
