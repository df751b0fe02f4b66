/// The proxy's address as a program is given it.
enum ProxyAddress {
    /// Where clients on this machine reach a proxy that listens on every address.
    static func reachable(_ address: String) -> String {
        if address.hasPrefix("0.0.0.0:") { return "127.0.0.1:" + address.dropFirst(8) }
        if address.hasPrefix("[::]:") { return "[::1]:" + address.dropFirst(5) }
        return address
    }

    /// User information for a URL: everything but unreserved characters and the first colon (RFC 3986, 3.2.1).
    static func percentEncoded(_ pair: String) -> String {
        var text = ""
        var sawColon = false
        for byte in pair.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ":") where !sawColon:
                sawColon = true
                text += ":"
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }
}
