internal import Foundation

/// Turns the Location of an answer into the URL to go to (RFC 9110, 10.2.2; RFC 3986, 5).
enum RedirectTarget {
    /// - Returns: an absolute http or https URL with a host, or what is wrong, to be read behind "the 302 of …".
    static func resolve(_ location: String, against base: URL) -> Result<URL, RedirectError> {
        let spelled = self.escaped(location.trimmingCharacters(in: .whitespaces))
        // An empty reference is the same document (RFC 3986, 5.2.2); Foundation takes it for none.
        guard let resolved = URL(string: spelled.isEmpty ? "?" + (base.query(percentEncoded: true) ?? "") : spelled, relativeTo: base)
        else {
            return .failure(RedirectError(.badLocation, "has a Location that is no URL, \"\(self.shown(location))\": mend the server"))
        }
        let target = resolved.absoluteURL
        let scheme = target.scheme?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https" else {
            return .failure(
                RedirectError(
                    .unsupportedScheme, "leads to \"\(self.shown(location))\", and only http and https are followed: open it otherwise"))
        }
        guard let host = target.host(), !host.isEmpty, target.port.map({ (1...65_535).contains($0) }) ?? true else {
            return .failure(
                RedirectError(
                    .badLocation, "has a Location without a host or with no real port, \"\(self.shown(location))\": mend the server"))
        }
        return .success(self.inheritingFragment(of: base, in: target))
    }

    /// Without its query, which may be a secret, and not longer than a line.
    static func shown(_ location: String) -> String {
        guard
            let end = location.firstIndex(where: { $0 == "?" || $0 == "#" })
                ?? location.index(location.startIndex, offsetBy: 120, limitedBy: location.endIndex)
        else { return location }
        return String(location[..<end].prefix(120)) + "…"
    }

    /// A fragment goes along where the Location has none of its own (RFC 9110, 10.2.2).
    private static func inheritingFragment(of base: URL, in target: URL) -> URL {
        guard let fragment = base.fragment(percentEncoded: true), target.fragment(percentEncoded: true) == nil,
            var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
        else { return target }
        parts.percentEncodedFragment = fragment
        return parts.url ?? target
    }

    /// What may not stand in a URL, escaped once; Foundation would escape the escapes beside it too.
    private static func escaped(_ location: String) -> String {
        let octets = Array(location.utf8)
        // Brackets may stand in the authority alone: an IPv6 address.
        let authority = self.authority(of: octets)
        var result: [UInt8] = []
        result.reserveCapacity(octets.count)
        for (index, octet) in octets.enumerated() {
            let isFine =
                switch octet {
                case UInt8(ascii: "%"): octets.dropFirst(index + 1).prefix(2).filter(self.isHexDigit).count == 2
                case UInt8(ascii: "["), UInt8(ascii: "]"): authority.contains(index)
                case 0...32, 127...255: false
                default: !"\"<>\\^`{|}".utf8.contains(octet)
                }
            if isFine {
                result.append(octet)
            } else {
                result.append(UInt8(ascii: "%"))
                for digit in [octet >> 4, octet & 15] { result.append(digit + (digit < 10 ? 48 : 55)) }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Where the authority stands: behind the first `//` of `//host` and `scheme://host`, up to the path.
    private static func authority(of octets: [UInt8]) -> Range<Int> {
        let delimiters: Set<UInt8> = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        guard let slash = octets.firstIndex(where: { delimiters.contains($0) }), octets[slash...].starts(with: Array("//".utf8)),
            slash == 0 || octets[slash - 1] == UInt8(ascii: ":")
        else { return 0..<0 }
        return slash + 2..<(octets[(slash + 2)...].firstIndex { delimiters.contains($0) } ?? octets.count)
    }

    private static func isHexDigit(_ octet: UInt8) -> Bool {
        (48...57).contains(octet) || (65...70).contains(octet) || (97...102).contains(octet)
    }
}
