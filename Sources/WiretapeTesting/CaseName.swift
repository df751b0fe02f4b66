internal import Foundation
internal import Testing

/// The name of one case of a test with arguments, made from the arguments: "cat-2" for `(.cat, 2)`.
enum CaseName {
    /// Up to this many characters, arguments become the name of a file unchanged.
    private static let limit = 80

    /// Nil if this version of Swift Testing does not show the arguments.
    ///
    /// They have no public accessor: `Mirror` finds them where Swift 6.1 to 6.3 keep them.
    static func text(of testCase: Test.Case) throws(CassetteTestError) -> String? {
        guard let kind = self.child("_kind", of: testCase), let value = self.child("parameterized", of: kind),
            let arguments = self.child("arguments", of: value)
        else { return nil }
        let values = Mirror(reflecting: arguments).children.map { self.child("value", of: $0.value) }
        guard !values.isEmpty, !values.contains(where: { $0 == nil }) else { return nil }
        // Equal arguments are counted from 0.
        let count = self.child("discriminator", of: value) as? Int ?? 0
        if values.contains(where: { $0 is UUID }) {
            throw CassetteTestError(
                .badName,
                "an argument of the test is a UUID, and one that is made in each run would name another cassette each time: pass a text or a number, or use withCassette(\"NAME\") in the test"
            )
        }
        return self.text(values.compactMap { $0 }, count: count)
    }

    /// - Parameter count: the number of earlier cases with the same arguments.
    static func text(_ arguments: [Any], count: Int = 0) -> String {
        let exact = arguments.map { String(describingForTest: $0) }.joined(separator: "-")
        let plain = arguments.map { self.plain(String(describingForTest: $0)) }.joined(separator: "-")
        let safe = String(String.UnicodeScalarView(plain.unicodeScalars.map { CassetteName.allows($0) ? $0 : "-" }).prefix(self.limit))
        // Distinguishes texts that would otherwise have the same name: "a/b" and "a-b", or long ones with the same beginning.
        let isWhole = safe == plain && !safe.isEmpty
        let name = isWhole ? safe : "\(safe)\(safe.isEmpty ? "" : "-")\(self.digest(exact))"
        return count > 0 ? "\(name)-\(count + 1)" : name
    }

    /// Without the quotes of a text and the dot of an enumeration's case.
    private static func plain(_ text: String) -> String {
        if text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") { return String(text.dropFirst().dropLast()) }
        return text.hasPrefix(".") ? String(text.dropFirst()) : text
    }

    /// FNV-1a of 32 bits, in hex.
    private static func digest(_ text: String) -> String {
        let hash = text.utf8.reduce(0x811c_9dc5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func child(_ name: String, of value: Any) -> Any? {
        Mirror(reflecting: value).children.first { $0.label == name }?.value
    }
}
