/// The charset of a form's names and of values without one of their own, which a field called `_charset_` names (RFC 7578, 4.6).
///
/// What a browser sends from a page that is not UTF-8. Not known to be one that can be decoded.
public struct FormCharset: Sendable, Hashable {
    /// In lower case.
    public var label: String

    /// The names of charsets have at most 40 characters (RFC 2978, 2.3).
    public static let longest = 40

    /// Nil for a part that is not that field, or whose value is no charset's name.
    init?(_ part: HeaderFields, value: () -> [UInt8]?) {
        guard let disposition = ContentDisposition(part), disposition.name == "_charset_", disposition.filename == nil,
            let octets = value(), (1...Self.longest).contains(octets.count), octets.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        self.label = String(decoding: octets, as: UTF8.self).lowercased()
    }
}

extension MultipartBody {
    /// That of the first such field among the parts of this level. `value` is asked for the octets of one part.
    public func formCharset(_ value: (Data) -> [UInt8]?) -> FormCharset? {
        for part in self.parts {
            guard case .data(let data) = part.content, let found = FormCharset(part.headers.fields, value: { value(data) }) else {
                continue
            }
            return found
        }
        return nil
    }
}

extension MultipartBody<PartContent> {
    package var formCharset: FormCharset? { self.formCharset { if case .text(let octets) = $0 { octets } else { nil } } }
}
