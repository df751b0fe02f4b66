package import CassetteModel
internal import CassetteStore
package import TapeBytes

/// Finds files of bodies that are missing, or are not what their cassette says. Reads each file once.
///
/// For a comparison that finds two exchanges equal because they name the same SHA-256.
package struct BodyFileCheck {
    private let reader: BodyReader
    private let digest: () -> any ContentDigest
    private var checked: Set<Sidecar> = []

    package init(_ path: String, _ digest: @escaping () -> any ContentDigest) {
        self.reader = BodyReader(cassettePath: path)
        self.digest = digest
    }

    /// Throws `CassetteError` for the first file that is missing or differs.
    package mutating func check(_ interaction: Interaction) throws {
        for body in [interaction.request.body, interaction.response?.body].compactMap({ $0 }) {
            if case .raw(let slice) = body.content { _ = try self.reader.read(slice) }
            for sidecar in body.content.sidecars + [body.original].compactMap({ $0 }) { try self.check(sidecar) }
        }
        for sidecar in try interaction.webSocket.map({ try self.sidecars(of: $0, self.digest()) }) ?? [] { try self.check(sidecar) }
    }

    private func sidecars(of messages: WebSocketMessages, _ digest: some ContentDigest) throws -> [Sidecar] {
        try self.reader.sidecars(of: messages, digest: digest)
    }

    private mutating func check(_ sidecar: Sidecar) throws {
        guard self.checked.insert(sidecar).inserted else { return }
        func check(_ digest: some ContentDigest) throws { _ = try self.reader.source(sidecar, digest: digest) }
        try check(self.digest())
    }
}
