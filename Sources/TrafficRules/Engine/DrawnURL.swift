package import CassettePlayback
internal import CassetteRedaction

extension MatchRules {
    /// These rules as draws use them: values at the places of `--redact` are new in each run, as other secrets are.
    ///
    /// - Parameter places: those that matching does not know are left out.
    package func drawing(redacted places: [String]) -> MatchRules {
        places.reduce(self) { rules, place in (try? rules.adding(MatchRuleTexts(ignore: [place]))) ?? rules }
    }
}

/// The URL of a request as the draws of rules see it: without what differs in each run because it is secret.
package enum DrawnURL {
    /// The URL without user information, and with no values in query items whose names mean a secret.
    ///
    /// Unlike the redaction of a recording, this depends on the URL alone, and not on the requests before it.
    package static func of(_ url: String) -> String { self.parts(of: url).drawn }

    /// What is left out of the URL: its secrets. Empty if there are none.
    static func secrets(of url: String) -> [UInt8] { self.parts(of: url).secrets }

    private static func parts(of url: String) -> (drawn: String, secrets: [UInt8]) {
        var secrets: [UInt8] = []
        let bytes = Array(url.utf8)
        guard bytes.contains(UInt8(ascii: "@")) || bytes.contains(UInt8(ascii: "=")) else { return (url, []) }
        var end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        let authority = Self.authority(of: bytes[..<end])
        if let at = bytes[authority].lastIndex(of: UInt8(ascii: "@")) {
            output += bytes[..<authority.lowerBound] + bytes[(at + 1)..<end]
            secrets += bytes[authority.lowerBound...at]
        } else {
            output += bytes[..<end]
        }
        guard end < bytes.endIndex else { return (String(decoding: output, as: UTF8.self), secrets) }
        output.append(bytes[end])
        end += 1
        for (index, item) in bytes[end...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            if let equals = item.firstIndex(of: UInt8(ascii: "=")), SecretNames.hides(item[..<equals]) {
                output += item[...equals]
                secrets += item + [UInt8(ascii: "&")]
            } else {
                output += item
            }
        }
        return (String(decoding: output, as: UTF8.self), secrets)
    }

    private static func authority(of url: ArraySlice<UInt8>) -> Range<Int> {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), url[colon...].starts(with: Array("://".utf8)) else { return 0..<0 }
        let start = colon + 3
        return start..<(url[start...].firstIndex(of: UInt8(ascii: "/")) ?? url.endIndex)
    }
}
