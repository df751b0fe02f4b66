/// What a field is to a forwarder (RFC 9110, 7.6.1).
enum FieldKind {
    case connection, te, upgrade, host, contentLength, transferEncoding, trailer, contentEncoding
    /// For this connection alone: never passed on.
    case hopByHop
    case endToEnd

    static func of(_ name: ArraySlice<UInt8>) -> FieldKind {
        switch name.count {
        case 2: FieldList.equals(name, "te") ? .te : .endToEnd
        case 4: FieldList.equals(name, "host") ? .host : .endToEnd
        case 7:
            FieldList.equals(name, "upgrade") ? .upgrade : FieldList.equals(name, "trailer") ? .trailer : .endToEnd
        case 10:
            FieldList.equals(name, "connection") ? .connection : FieldList.equals(name, "keep-alive") ? .hopByHop : .endToEnd
        case 14: FieldList.equals(name, "content-length") ? .contentLength : .endToEnd
        case 16:
            FieldList.equals(name, "proxy-connection")
                ? .hopByHop : FieldList.equals(name, "content-encoding") ? .contentEncoding : .endToEnd
        case 17: FieldList.equals(name, "transfer-encoding") ? .transferEncoding : .endToEnd
        case 18: FieldList.equals(name, "proxy-authenticate") ? .hopByHop : .endToEnd
        case 19: FieldList.equals(name, "proxy-authorization") ? .hopByHop : .endToEnd
        case 25: FieldList.equals(name, "proxy-authentication-info") ? .hopByHop : .endToEnd
        default: .endToEnd
        }
    }
}
