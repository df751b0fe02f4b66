internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Credentials in base64 that a client built from secrets it received earlier: a user and a token (RFC 7617, 2), or JSON that contains a
/// token, as container registries expect.
///
/// They stay in base64, with the placeholder of the token inside. A replayed client builds its own from the placeholder it received, and
/// can only be distinguished from other users in this way.
struct CodedCredentials {
    /// The kinds of secrets that may be such credentials.
    static let kinds: Set<String> = [Self.kind, "token"]
    private static let kind = "authorization"
    /// Longer values are not examined: header fields are shorter.
    private static let limit = 64 << 10

    let text: TextRedaction

    /// The credentials with placeholders for the secrets in them. Nil if they are to be replaced as a whole, either because they contain no
    /// known secret, or because they are a known secret themselves.
    func redacted(_ credentials: [UInt8], depth: Int) -> [UInt8]? {
        guard depth < EscapeView.depthLimit, credentials.count >= Base64Text.leastLength, credentials.count <= Self.limit,
            !self.text.vault.knows(credentials), let base64 = credentials.withUnsafeBytes({ Base64Text($0[...]) })
        else { return nil }
        let content = base64.content.withUnsafeBytes { content -> [UInt8]? in
            guard ReadableText.isReadable(content), self.holdsKnown(content) else { return nil }
            return (try? JSONDocument(Array(content))) == nil
                ? self.pair(content) : self.text.edits(in: content, depth: depth + 1).applied(to: content)
        }
        return content.map { base64.text(of: $0) }
    }

    private func holdsKnown(_ content: UnsafeRawBufferPointer) -> Bool {
        !Placeholder.all(in: content).isEmpty || !self.known(in: content).isEmpty
    }

    private func known(in content: UnsafeRawBufferPointer) -> [(range: Range<Int>, placeholder: Placeholder)] {
        guard let known = self.text.vault.known() else { return [] }
        var found: [(range: Range<Int>, placeholder: Placeholder)] = []
        known.index.search(content) { if $0.form == .plain { found.append(($0.range, known.placeholders[$0.secret])) } }
        return found
    }

    /// A user and a password, either of which may be a secret received earlier.
    private func pair(_ content: UnsafeRawBufferPointer) -> [UInt8] {
        let colon = ByteScan.index(of: UInt8(ascii: ":"), in: content, from: 0)
        // A placeholder contains a colon, and a known secret may as well.
        let end = (Placeholder.all(in: content).edits.map(\.range) + self.known(in: content).map(\.range)).first {
            $0.lowerBound == 0 && $0.upperBound > colon
        }
        let middle = end?.upperBound ?? colon
        let user = self.part(UnsafeRawBufferPointer(rebasing: content[..<middle])) { user in
            self.text.vault.placeholder(for: user, kind: Self.kind, reach: .place)
        }
        guard middle < content.count else { return user }
        let password = self.part(UnsafeRawBufferPointer(rebasing: content[(middle + 1)...])) { password in
            self.text.vault.placeholder(for: password, kind: "password", isSure: true, under: self.text.rules)
        }
        return user + [UInt8(ascii: ":")] + password
    }

    /// A known part gets its placeholder; any other gets a new one.
    private func part(_ part: UnsafeRawBufferPointer, _ new: ([UInt8]) -> Placeholder) -> [UInt8] {
        if part.isEmpty || Placeholder.isAll(part) { return Array(part) }
        let known = self.known(in: part).first { $0.range == 0..<part.count }
        return (known?.placeholder ?? new(Array(part))).bytes
    }
}
