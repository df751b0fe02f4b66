internal import Foundation

/// A body as arguments of curl, with what has to be piped into it.
struct CurlBody: Sendable, Hashable {
    /// Linux takes 128 KiB for an argument; what a shell's own commands print has no limit.
    private static let argumentLimit = 100_000

    /// A command whose output curl reads; nil where it reads none.
    let source: String?
    let arguments: [String]

    /// Octets that curl reads from a file.
    init(path: String) {
        self.source = nil
        self.arguments = ["--data-binary \(ShellText.quoted("@" + path))"]
    }

    init(_ octets: [UInt8]) {
        guard let text = String(validating: octets, as: UTF8.self) else {
            self.source = "printf '%s' '\(Data(octets).base64EncodedString())' | base64 -d"
            self.arguments = ["--data-binary @-"]
            return
        }
        guard ShellText.isPlain(text), octets.count <= Self.argumentLimit else {
            self.source = ShellText.printing(text)
            self.arguments = ["--data-binary @-"]
            return
        }
        self.source = nil
        // Takes a text that begins with "@" for a text.
        self.arguments = ["--data-raw \(ShellText.quoted(text))"]
    }
}
