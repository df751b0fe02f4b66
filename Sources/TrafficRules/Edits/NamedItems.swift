internal import TapeBytes

/// The items of a query or a form (`a=1&b=2`), each as it is spelled.
///
/// Items that are not edited keep their bytes.
struct NamedItems {
    private struct Item {
        var bytes: [UInt8]
        /// Decoded.
        var name: [UInt8]
    }

    private var items: [Item]

    init(_ bytes: [UInt8]) {
        self.items =
            bytes.isEmpty
            ? []
            : bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { item in
                Item(bytes: Array(item), name: Self.decoded(item.prefix { $0 != UInt8(ascii: "=") }))
            }
    }

    var bytes: [UInt8] { Array(self.items.map(\.bytes).joined(separator: [UInt8(ascii: "&")])) }

    /// The decoded value of the first item with a name; empty for an item without `=`.
    func first(_ name: String) -> [UInt8]? { self.indices(name).first.map(self.value) }

    /// Items without `=` also have the empty name.
    func indices(_ name: String) -> [Int] {
        let name = Array(name.utf8)
        return self.items.indices.filter { index in
            self.items[index].name == name || name.isEmpty && !self.items[index].bytes.contains(UInt8(ascii: "="))
        }
    }

    func value(_ index: Int) -> [UInt8] {
        let bytes = self.items[index].bytes
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return [] }
        return Self.decoded(bytes[(equals + 1)...])
    }

    /// Keeps the spelling of the item's name.
    mutating func replace(_ index: Int, with value: [UInt8]) {
        let name = self.items[index].bytes.prefix { $0 != UInt8(ascii: "=") }
        self.items[index].bytes = Array(name) + [UInt8(ascii: "=")] + Self.encoded(value)
    }

    mutating func append(_ name: String, _ value: [UInt8]) {
        let bytes = Self.encoded(Array(name.utf8)) + [UInt8(ascii: "=")] + Self.encoded(value)
        self.items.append(Item(bytes: bytes, name: Array(name.utf8)))
    }

    /// - Parameter indices: ascending.
    mutating func remove(_ indices: [Int]) {
        for index in indices.reversed() { self.items.remove(at: index) }
    }

    /// Without percent-encoding and `+` (WHATWG URL, application/x-www-form-urlencoded).
    static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = Hex.value(bytes[index + 1]),
                let low = Hex.value(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index] == UInt8(ascii: "+") ? 32 : bytes[index])
                index += 1
            }
        }
        return decoded
    }

    /// Percent-encodes all but letters, digits and `-._~`: readable by every decoder of queries and forms.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        }
        return encoded
    }
}

/// An absolute URL, split at its delimiters and not decoded.
struct URLParts: Sendable, Hashable {
    var scheme: String
    /// With its port, without user information.
    var authority: String
    /// Empty, or with its first slash.
    var path: String
    /// Without the question mark; nil if there is none.
    var query: String?

    /// Nil if the text has no scheme with `://`.
    init?(_ url: String) {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[colon...].hasPrefix("://") else { return nil }
        self.scheme = String(url[..<colon])
        let rest = url[colon...].dropFirst(3).prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        self.authority = String(rest[..<end].split(separator: "@", omittingEmptySubsequences: false).last ?? "")
        let target = rest[end...]
        if let mark = target.firstIndex(of: "?") {
            self.path = String(target[..<mark])
            self.query = String(target[target.index(after: mark)...])
        } else {
            self.path = String(target)
            self.query = nil
        }
    }

    /// The port that the URL names, or its scheme's.
    var port: Int? {
        if !self.authority.hasSuffix("]"), let colon = self.authority.lastIndex(of: ":"),
            let port = Int(self.authority[self.authority.index(after: colon)...])
        {
            return port
        }
        return ["http": 80, "ws": 80, "https": 443, "wss": 443][self.scheme.lowercased()]
    }

    var text: String { "\(self.scheme)://\(self.authority)\(self.path)\(self.query.map { "?" + $0 } ?? "")" }
}
