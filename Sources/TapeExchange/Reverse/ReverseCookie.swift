/// A `Set-Cookie` value as a client in reverse mode has to read it to send the cookie back, and to that origin alone.
///
/// To such a client all origins are one host in clear. `Domain` would have the cookie refused, and `Secure` kept back; both are left out.
/// `Path` is put behind the way to the origin, since it is all that tells one origin from another (RFC 6265, 5.1.4).
struct ReverseCookie {
    /// `/https://host`, as the client spells it.
    let prefix: String
    /// Of the request, in origin-form.
    let originForm: String

    func mapped(_ value: ArraySlice<UInt8>) -> [UInt8] {
        let pieces = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = pieces.first else { return Array(value) }
        var out = Array(pair)
        var path: [UInt8]?
        for piece in pieces.dropFirst() {
            let (name, text) = Self.attribute(piece)
            if FieldList.equals(name, "domain") || FieldList.equals(name, "secure") { continue }
            guard FieldList.equals(name, "path") else {
                out += Array(";".utf8) + piece
                continue
            }
            // The last one counts (RFC 6265, 5.3).
            path = text.first == UInt8(ascii: "/") ? Array(text) : nil
        }
        return out + Array("; Path=\(self.prefix)".utf8) + (path ?? self.defaultPath)
    }

    private static func attribute(_ piece: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
        return (self.trimmed(piece[..<equals]), self.trimmed(piece[equals...].dropFirst()))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == Octets.space || first == Octets.tab { bytes.removeFirst() }
        while let last = bytes.last, last == Octets.space || last == Octets.tab { bytes.removeLast() }
        return bytes
    }

    /// RFC 6265, 5.1.4.
    private var defaultPath: [UInt8] {
        let path = self.originForm.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return [UInt8(ascii: "/")] }
        return Array(path[..<slash])
    }
}
