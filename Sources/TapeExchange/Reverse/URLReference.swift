/// A reference made a whole URL (RFC 3986, 5.2), without dot segments.
///
/// Works on octets and changes none but those: what is no URL to a strict reader stays as wrong as it is.
struct URLReference {
    let scheme: String
    let authority: String
    /// In origin-form.
    let target: String

    /// - Returns: nil where the reference names another scheme than http and https.
    func resolved(_ reference: ArraySlice<UInt8>) -> [UInt8]? {
        let hash = reference.firstIndex(of: UInt8(ascii: "#")) ?? reference.endIndex
        let fragment = reference[hash...]
        let body = reference[..<hash]
        if let colon = Self.schemeEnd(body) {
            let name = body[..<colon].map(Octets.lower)
            let rest = body[(colon + 1)...]
            guard name.elementsEqual("http".utf8) || name.elementsEqual("https".utf8), rest.starts(with: [47, 47]) else { return nil }
            return name + Array(":".utf8) + Self.withoutDots(authorityAndPath: rest) + fragment
        }
        if body.starts(with: [47, 47]) { return Array("\(self.scheme):".utf8) + Self.withoutDots(authorityAndPath: body) + fragment }
        let (path, query) = Self.split(body)
        let (basePath, baseQuery) = Self.split(Array(self.target.utf8)[...])
        let own = Array("\(self.scheme)://\(self.authority)".utf8)
        if path.isEmpty { return own + Self.withoutDots(basePath) + (query.isEmpty ? baseQuery : query) + fragment }
        if path.first == 47 { return own + Self.withoutDots(path) + query + fragment }
        let folder = basePath[..<(basePath.lastIndex(of: 47).map { $0 + 1 } ?? basePath.startIndex)]
        return own + Self.withoutDots((folder.isEmpty ? [47] : folder) + path) + query + fragment
    }

    /// The index of the colon behind a scheme; nil for a reference without one (RFC 3986, 3.1).
    private static func schemeEnd(_ reference: ArraySlice<UInt8>) -> Int? {
        guard let first = reference.first, (97...122).contains(Octets.lower(first)) else { return nil }
        let end = reference.firstIndex { byte in
            let isLetter = (97...122).contains(Octets.lower(byte))
            return !isLetter && !Octets.isDigit(byte) && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "-") && byte != UInt8(ascii: ".")
        }
        guard let end, reference[end] == UInt8(ascii: ":") else { return nil }
        return end
    }

    /// The path, and the query with its question mark.
    private static func split(_ bytes: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>) {
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        return (bytes[..<mark], bytes[mark...])
    }

    /// - Parameter octets: two slashes, an authority, and perhaps a path and a query.
    private static func withoutDots(authorityAndPath octets: ArraySlice<UInt8>) -> [UInt8] {
        let (whole, query) = self.split(octets)
        let authorityEnd = whole.dropFirst(2).firstIndex(of: 47) ?? whole.endIndex
        return Array(whole[..<authorityEnd]) + self.withoutDots(whole[authorityEnd...]) + query
    }

    /// RFC 3986, 5.2.4; always begins with a slash.
    private static func withoutDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst(path.first == 47 ? 1 : 0).split(separator: 47, omittingEmptySubsequences: false)
        for (number, segment) in segments.enumerated() {
            let isLast = number == segments.count - 1
            switch self.dots(segment) {
            case 1:
                if isLast { kept.append([]) }
            case 2:
                _ = kept.popLast()
                if isLast { kept.append([]) }
            default:
                kept.append(segment)
            }
        }
        return kept.reduce(into: []) { $0 += [47] + $1 } + (kept.isEmpty ? [47] : [])
    }

    /// 1 for `.`, 2 for `..`, also percent-encoded, as the URL Standard has it; 0 for anything else.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
        var count = 0
        var rest = segment
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.prefix(3).map(Octets.lower).elementsEqual("%2e".utf8) {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
            if count > 2 { return 0 }
        }
        return count
    }
}
