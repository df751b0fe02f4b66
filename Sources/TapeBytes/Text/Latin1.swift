/// Text of octets whose charset nobody names.
package enum Latin1 {
    /// UTF-8 where it is valid, else each octet as the character of its number (ISO 8859-1).
    package static func text(_ octets: [UInt8]) -> String {
        UTF8Validator.isValid(octets) ? String(decoding: octets, as: UTF8.self) : self.decode(octets)
    }

    package static func decode(_ octets: [UInt8]) -> String {
        var text = ""
        for octet in octets { text.unicodeScalars.append(UnicodeScalar(octet)) }
        return text
    }
}
