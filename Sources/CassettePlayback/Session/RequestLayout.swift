/// Where the parts of a head key lie: offsets into the bytes of a method, a space and a normalised URL, and header fields behind it.
///
/// Any bytes have a layout: what is missing is an empty range.
struct RequestLayout: Sendable, Hashable {
    var method: Range<Int>
    var scheme: Range<Int>
    /// Without its `@`.
    var userInformation: Range<Int>
    var host: Range<Int>
    /// Empty for the scheme's default.
    var port: Range<Int>
    var path: Range<Int>
    /// Without its `?`; nil without one.
    var query: Range<Int>?
    /// Lines `name: value` with a line feed between them.
    var fields: Range<Int>

    init(_ bytes: UnsafeRawBufferPointer) {
        let end = bytes.firstIndex(of: 10) ?? bytes.count
        self.fields = min(end + 1, bytes.count)..<bytes.count
        let methodEnd = bytes[..<end].firstIndex(of: UInt8(ascii: " ")) ?? end
        self.method = 0..<methodEnd
        let urlStart = min(methodEnd + 1, end)
        var pathEnd = urlStart
        while pathEnd < end, bytes[pathEnd] != UInt8(ascii: "?") { pathEnd += 1 }
        self.query = pathEnd < end ? pathEnd + 1..<end : nil

        var schemeEnd = urlStart
        while schemeEnd < pathEnd, bytes[schemeEnd] != UInt8(ascii: ":"), bytes[schemeEnd] != UInt8(ascii: "/") { schemeEnd += 1 }
        guard pathEnd - schemeEnd >= 3, bytes[schemeEnd] == UInt8(ascii: ":"), bytes[schemeEnd + 1] == UInt8(ascii: "/"),
            bytes[schemeEnd + 2] == UInt8(ascii: "/")
        else {
            let none = urlStart..<urlStart
            (self.scheme, self.userInformation, self.host, self.port, self.path) = (none, none, none, none, urlStart..<pathEnd)
            return
        }
        self.scheme = urlStart..<schemeEnd
        let authorityStart = schemeEnd + 3
        var authorityEnd = authorityStart
        var hostStart = authorityStart
        while authorityEnd < pathEnd, bytes[authorityEnd] != UInt8(ascii: "/") {
            if bytes[authorityEnd] == UInt8(ascii: "@") { hostStart = authorityEnd + 1 }
            authorityEnd += 1
        }
        var portStart = authorityEnd
        while portStart > hostStart, bytes[portStart - 1] >= UInt8(ascii: "0"), bytes[portStart - 1] <= UInt8(ascii: "9") {
            portStart -= 1
        }
        let hasPort = portStart > hostStart && bytes[portStart - 1] == UInt8(ascii: ":")
        self.userInformation = authorityStart..<max(authorityStart, hostStart - 1)
        self.host = hostStart..<(hasPort ? portStart - 1 : authorityEnd)
        self.port = hasPort ? portStart..<authorityEnd : authorityEnd..<authorityEnd
        self.path = authorityEnd..<pathEnd
    }
}
