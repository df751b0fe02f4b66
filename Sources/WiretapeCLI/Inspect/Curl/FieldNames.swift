/// Which of a request's fields a command line repeats.
enum FieldNames {
    /// RFC 9110, 5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { octet in
                switch octet {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(octet)
                }
            }
    }

    /// - Parameters:
    ///   - name: in lower case.
    ///   - isForm: whether the client makes a multipart type with a boundary of its own.
    static func isLeftOut(_ name: String, _ value: String, isForm: Bool) -> Bool {
        switch name {
        case "content-length", "proxy-connection", "proxy-authorization", "keep-alive": true
        case "connection": value.lowercased() == "keep-alive"
        case "content-type": isForm
        default: false
        }
    }

    /// What stands between the scheme and the path, without user information.
    static func authority(of url: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return "" }
        let authority = url[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
    }
}
