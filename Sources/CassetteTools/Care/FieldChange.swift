/// One thing in which two exchanges differ.
public struct FieldChange: Sendable, Hashable {
    /// Where, in the grammar of match rules behind the message: `request query:ts`, `response header:etag`, `response json:/items/0`.
    public var place: String
    /// As it was; nil where it was not there.
    public var old: String?
    public var new: String?

    /// - Parameter isSecret: the values are not to be shown, and are not kept.
    public init(_ place: String, _ old: String?, _ new: String?, isSecret: Bool = false) {
        self.place = place
        self.old = old.map { Self.shown($0, isSecret) }
        self.new = new.map { Self.shown($0, isSecret) }
    }

    /// What stands for a value that is not shown.
    public static let hidden = "(hidden)"
    /// Characters of a value: enough for a line of a terminal.
    private static let limit = 120

    private static func shown(_ value: String, _ isSecret: Bool) -> String {
        if isSecret || SecretShapes.looksSecret(value) { return self.hidden }
        let scalars = value.unicodeScalars
        return scalars.count <= self.limit ? value : String(String.UnicodeScalarView(scalars.prefix(self.limit - 1))) + "…"
    }
}
